"""Embeddings as a view: codes against a naive loop, recipes, tables, commands, bad input."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from coview import PLSA, DataWarning, LinkPLSA, Views, load, search
from coview.reading.codes import recipes_with_titles
from coview.reading.embeddings import N_COUNTS, embedding_views, read_vectors
from tests.cli.command import failing, working

WORDS = {"sport": "goal coach team", "food": "salt onion garlic"}
QUICK = {"init": "random", "max_iter": 20, "tol": 0.0, "random_state": 0}


def vectors_of(n=40, d=6, seed=0):
    """Return two clouds of points, the first half around e_0, the other around -e_0."""
    rng = np.random.default_rng(seed)
    points = 0.3 * rng.standard_normal((n, d))
    points[: n // 2, 0] += 1
    points[n // 2 :, 0] -= 1
    return points.astype(np.float32)


@pytest.fixture(scope="module")
def views():
    texts = [WORDS["sport"]] * 20 + [WORDS["food"]] * 20
    ids = [f"d{i}" for i in range(40)]
    words = Views.from_texts({"words": texts}, max_df=1.0, ids=ids, languages=None)
    return Views.from_embeddings(vectors_of(), views=words, n_codes=6)


@pytest.fixture(scope="module")
def model(views):
    return LinkPLSA(2, **{**QUICK, "init": np.repeat([0, 1], 20)}).fit(views)


def naive_counts(recipe, vectors):
    """Return the counts of one document by explicit loops, in double precision."""
    counts = [0.0] * len(recipe.centers)
    for vector in vectors:
        x = [float(v) for v in vector]
        if recipe.normalize:
            length = sum(v * v for v in x) ** 0.5
            x = [v / length for v in x]
        distances = [
            sum((v - float(c)) ** 2 for v, c in zip(x, center, strict=True))
            for center in recipe.centers
        ]
        nearest = sorted(range(len(distances)), key=distances.__getitem__)[: recipe.n_nearest]
        weights = [np.exp(-(distances[c] - distances[nearest[0]]) / recipe.width) for c in nearest]
        for code, weight in zip(nearest, weights, strict=True):
            counts[code] += round(recipe.n_counts * weight / sum(weights))
    return counts


# -- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("n_nearest", [1, 3])
def test_counts_are_those_of_a_naive_loop(normalize, n_nearest):
    items = [*vectors_of(), vectors_of(3, seed=1), None]
    options = {"n_codes": 6, "n_nearest": n_nearest, "normalize": normalize, "n_counts": 100}
    parts = embedding_views(items, "v", **options)
    recipe, matrix = parts["recipes"]["v"], parts["data"]["v"].toarray()
    for item, row in zip(items[:-1], matrix, strict=False):
        expected = naive_counts(recipe, np.atleast_2d(item))
        assert np.abs(row - expected).max() <= 1  # a weight may be rounded to either side
        assert abs(row.sum() - 100 * len(np.atleast_2d(item))) <= n_nearest * 3
    assert not matrix[-1].any()
    assert parts["present"]["v"].tolist() == [True] * 41 + [False]


def test_the_width_is_the_mean_gap_between_the_nearest_codes():
    points = vectors_of(30)
    recipe = embedding_views(points, n_codes=5, n_nearest=3, normalize=False)["recipes"][
        "embedding"
    ]
    distances = np.sort(((points[:, None] - recipe.centers[None]) ** 2).sum(axis=2), axis=1)
    assert recipe.width == pytest.approx(np.mean(distances[:, 2] - distances[:, 0]), rel=1e-4)


def test_near_vectors_have_the_same_codes_and_far_ones_others():
    rows = Views.from_embeddings(vectors_of(), n_codes=2, n_nearest=1)["embedding"].toarray()
    assert (rows[:20] == rows[0]).all()
    assert (rows[20:] == rows[20]).all()
    assert rows[0] @ rows[20] == 0


def test_the_length_of_a_vector_does_not_matter_unless_wanted():
    points = vectors_of()
    longer = points * np.linspace(1, 9, 40)[:, None].astype(np.float32)
    recipe = embedding_views(points, n_codes=6)["recipes"]["embedding"]
    assert np.array_equal(recipe.counts(points)[0].toarray(), recipe.counts(longer)[0].toarray())
    as_is = embedding_views(points, n_codes=6, normalize=False)["recipes"]["embedding"]
    assert not np.array_equal(as_is.counts(points)[0].toarray(), as_is.counts(longer)[0].toarray())


def test_a_document_counts_the_same_alone_and_with_any_number_of_threads():
    points = vectors_of(60, 50)
    with threadpool_limits(1):
        one = embedding_views(points, n_codes=20)
    with threadpool_limits(2):
        two = embedding_views(points, n_codes=20)
    recipe, again = one["recipes"]["embedding"], two["recipes"]["embedding"]
    assert recipe.centers.tobytes() == again.centers.tobytes()
    assert recipe.width == again.width
    together = one["data"]["embedding"]
    assert (together != two["data"]["embedding"]).nnz == 0
    alone = sp.vstack([recipe.counts([point])[0] for point in points])
    assert (together != alone).nnz == 0


def test_the_number_of_codes_follows_the_number_of_vectors():
    rng = np.random.default_rng(0)
    widths = {
        n: Views.from_embeddings(rng.standard_normal((n, 3)))["embedding"].shape[1]
        for n in (1, 3, 100, 1100, 3000)
    }
    assert widths == {1: 1, 3: 1, 100: 25, 1100: 256, 3000: 300}


@pytest.mark.parametrize(
    "given",
    [
        lambda v: v,
        lambda v: v.tolist(),
        lambda v: v.astype(np.float64),
        lambda v: [json.dumps(row.tolist()) for row in v],
        lambda v: [" ".join(map(repr, row.tolist())) for row in v],
        lambda v: [", ".join(map(repr, row.tolist())) for row in v],
        lambda v: v[:, None, :],
    ],
    ids=["array", "lists", "double", "json", "blanks", "commas", "one vector each"],
)
def test_vectors_may_be_given_in_several_forms(given, tmp_path):
    points = vectors_of()
    expected = Views.from_embeddings(points, n_codes=5)
    assert Views.from_embeddings(given(points), n_codes=5).equals(expected)
    np.save(tmp_path / "v.npy", points)
    assert Views.from_embeddings(tmp_path / "v.npy", n_codes=5).equals(expected)


def test_a_row_of_nan_is_a_document_without_a_vector():
    points = vectors_of()
    points[3] = np.nan
    views = Views.from_embeddings(points, n_codes=4)
    assert np.flatnonzero(~views.present[:, 0]).tolist() == [3]


def test_the_weights_of_a_sparse_encoder_stay_as_they_are():
    weights = sp.csr_array([[0.0, 1.5, 0, 0], [0.5, 0, 0, 0]])
    views = Views.from_embeddings({"splade": weights})
    assert np.array_equal(views["splade"].toarray(), weights.toarray())
    with pytest.raises(ValueError, match="'splade'"):
        Views.from_embeddings({"splade": -weights})


def test_other_views_ids_and_labels_are_kept(views):
    assert views.names == ("words", "embedding")
    assert views.ids[:2].tolist() == ["d0", "d1"]
    assert views.recipes["words"].kind == "text"
    labeled = Views.from_embeddings(vectors_of(), views=views.select("words"), labels=[0, 1] * 20)
    assert labeled.labels.tolist() == [0, 1] * 20
    with pytest.raises(ValueError, match="'embedding'"):
        Views.from_embeddings(vectors_of(), views=views)


# -- models and files ------------------------------------------------------------------------------


def test_new_vectors_go_through_the_recipe(model, views, tmp_path):
    expected = model.transform(views.select("embedding"))
    points = vectors_of()
    for form in (points, points.tolist(), list(points), [*points]):
        assert np.array_equal(model.transform({"embedding": form}), expected)
    mixed = {"words": views["words"], "embedding": points}
    assert np.array_equal(model.transform(mixed), model.transform(views))
    raw = {"words": [WORDS["sport"]] * 40, "embedding": list(points)}
    assert model.transform(raw).shape == (40, 2)
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert np.array_equal(again.transform({"embedding": points}), expected)
    assert again.recipes_["embedding"].titles == model.recipes_["embedding"].titles
    views.save(tmp_path / "views")
    recipe = Views.load(tmp_path / "views").recipes["embedding"]
    assert np.array_equal(recipe.counts(points)[0].toarray(), views["embedding"].toarray())


def test_a_model_of_vectors_alone_takes_them_without_a_name():
    views = Views.from_embeddings(vectors_of(), n_codes=6)
    alone = PLSA(2, **QUICK).fit(views)
    assert np.array_equal(alone.transform(vectors_of()), alone.transform(views))


def test_vectors_are_queries_and_are_annotated(model):
    point = vectors_of()[25]
    for query in (point, point.tolist()):
        found = search(model, {"embedding": query}, in_view="words", top=3)
        assert all(int(name[1:]) >= 20 for name in found.ids)
        words = model.predict_terms({"embedding": query}, in_view="words", top=3)
        assert set(words.terms) == set(WORDS["food"].split())
    many = model.predict_terms({"embedding": vectors_of()}, in_view="words", top=3)
    assert set(many[0].terms) == set(WORDS["sport"].split())
    codes = model.predict_terms({"words": "goal coach"}, in_view="embedding", top=1)
    assert codes.terms[0].startswith("code ")


def test_codes_are_called_by_the_words_that_go_with_them(model, views):
    titles = model.recipes_["embedding"].titles
    for code, title in enumerate(titles):
        number, _, words = title.partition(": ")
        assert number == f"code {code}"
        topic = "sport" if views["embedding"].toarray()[:, code].argmax() < 20 else "food"
        assert set(words.split(", ")) < set(WORDS[topic].split())
    shown = model.top_terms(2)["embedding"]
    assert all(term in titles for terms in shown for term in terms)
    assert model.feature_names_["embedding"][0] == "code_0000"  # names in data stay


def test_titles_are_found_by_how_often_words_and_codes_meet():
    """Against explicit loops over documents."""
    rng = np.random.default_rng(1)
    words = rng.poisson(0.7, (30, 8))
    words[:, 0] += 1  # a word of all documents says nothing about a code
    text = Views({"w": words}, features={"w": list("abcdefgh")})
    views = Views.from_embeddings(vectors_of(30), views=text, n_codes=4)
    titles = recipes_with_titles(views)["embedding"].titles
    codes = views["embedding"].toarray()
    shares = codes / codes.sum(axis=1, keepdims=True)
    p_w = (words > 0).sum(axis=0) / (words > 0).sum()
    for code, title in enumerate(titles):
        meets = [sum(shares[d, code] * (words[d, w] > 0) for d in range(30)) for w in range(8)]
        p = np.array(meets) / sum(meets)
        score = 0.5 * np.log(p) + 0.5 * np.log(p / p_w)
        best = np.argsort(-score, kind="stable")[:2]
        assert title == f"code {code}: {', '.join('abcdefgh'[w] for w in best)}"


def test_without_named_terms_codes_have_their_numbers():
    views = Views.from_embeddings(vectors_of(), n_codes=3)
    assert recipes_with_titles(views)["embedding"].titles == ("code 0", "code 1", "code 2")


# -- tables and commands ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    points = vectors_of()
    texts = [WORDS["sport"]] * 20 + [WORDS["food"]] * 20
    lines = [
        json.dumps({"id": f"d{i}", "words": text, "vec": None if i == 4 else points[i].tolist()})
        for i, text in enumerate(texts)
    ]
    (folder / "t.jsonl").write_text("\n".join(lines))
    rows = [f'd{i},{text},"{points[i].tolist()}"' for i, text in enumerate(texts)]
    (folder / "t.csv").write_text("\n".join(["id,words,vec", *rows]))
    np.save(folder / "vectors.npy", points)
    return folder


def test_a_column_of_a_table_is_read(table):
    options = {"text": "words", "id": "id", "max_df": 1.0, "languages": None}
    views = Views.from_table(
        table / "t.jsonl", **options, embedding="vec", embedding_options={"n_codes": 4}
    )
    assert views.names == ("words", "vec")
    assert np.flatnonzero(~views.present[:, 1]).tolist() == [4]
    from_csv = Views.from_table(table / "t.csv", **options, embedding={"e": "vec"})
    assert np.array_equal(
        from_csv["e"].toarray(), Views.from_embeddings(vectors_of())["embedding"].toarray()
    )


def test_list_columns_of_frames_and_parquet_are_read(table, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"words": ["goal", "salt"] * 20, "vec": list(vectors_of())})
    expected = Views.from_embeddings(vectors_of())["embedding"].toarray()
    views = Views.from_dataframe(frame, text="words", embedding="vec", languages=None)
    assert np.array_equal(views["vec"].toarray(), expected)
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "t.parquet")
    views = Views.from_table(tmp_path / "t.parquet", text="words", embedding="vec", languages=None)
    assert np.array_equal(views["vec"].toarray(), expected)


@pytest.mark.parametrize("given", ["vec", "vec=vectors.npy"], ids=["column", "file"])
def test_the_commands_take_vectors(table, tmp_path, given):
    model, out = tmp_path / "m.coview", tmp_path / "out.csv"
    given = given.replace("vectors.npy", str(table / "vectors.npy"))
    args = (table / "t.csv", "--text", "words", "--id", "id")
    more = ("--topics", 2, "--max-df", 1.0, "--model", "link", "--seed", 0, "-q")
    working("fit", *args, "--embedding", given, *more, "-o", model)
    working("predict", model, *args, "--embedding", given, "-o", out)
    topics = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert len(set(topics[:20])) == len(set(topics[20:])) == 1
    assert topics[0] != topics[20]
    shown = working("topics", model, "--json")
    assert "code 0: " in shown or "code 1: " in shown


def test_a_file_of_vectors_goes_with_matrices(table, tmp_path):
    np.save(tmp_path / "w.npy", np.repeat([[3, 0], [0, 2]], 20, axis=0))
    args = ("--view", f"w={tmp_path / 'w.npy'}", "--topics", 2, "--model", "link", "-q")
    vectors = ("--embedding", f"e={table / 'vectors.npy'}")
    working("fit", *args, *vectors, "-o", tmp_path / "m.coview")
    assert load(tmp_path / "m.coview").view_names_ == ("w", "e")
    said = failing(2, "fit", *args, "--embedding", "vec", "-o", tmp_path / "m.coview")
    assert "FILE.npy" in said


def test_the_commands_say_what_is_wrong_with_vectors(table, tmp_path):
    fit = ("fit", table / "t.csv", "--text", "words", "--topics", 2, "-o", tmp_path / "m.coview")
    assert "'vek'" in failing(1, *fit, "--embedding", "vek")
    said = failing(1, *fit, "--embedding", "e=words")
    assert "line 2" in said
    assert "'words'" in said
    np.save(tmp_path / "few.npy", vectors_of(7))
    assert "7" in failing(1, *fit, "--embedding", f"e={tmp_path / 'few.npy'}")


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1.0, 2.0], [1.0, 2.0, 3.0]], "row 1 has 3 numbers"),
        ([[1.0, np.nan], [1.0, 2.0]], "row 0.*NaN"),
        ([[1.0, 2.0], [np.inf, 2.0]], "row 1.*infinite"),
        ([[1e39, 2.0], [1.0, 2.0]], "row 0.*too large"),
        ([[1.0, 2.0], [0.0, 0.0]], "zero"),
        ([["a", "b"], ["c", "d"]], "row 0.*numbers"),
        ([[[1.0, 2.0], [1.0]], [1.0, 2.0]], "row 0.*same length"),
        (["0.5 x", "1 2"], "row 0.*JSON"),
        (["[0.5", "1 2"], "row 0.*JSON"),
        ([None, None], "no document has a vector"),
        ([], "no document has a vector"),
        (np.zeros((2, 0)), "numbers"),
        (np.zeros(4), "shape"),
        (np.zeros((2, 2, 2, 2)), "shape"),
        ({"v": 3}, "vector for each document"),
        ([True, False], "len|numbers"),
    ],
    ids=str,
)
def test_bad_vectors_are_refused(bad, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Views.from_embeddings(bad)


def test_an_empty_list_is_a_document_without_a_vector():
    assert read_vectors([]) is None
    assert read_vectors("  ") is None


@pytest.mark.parametrize(
    "option", [{"n_codes": 0}, {"n_codes": 2.5}, {"n_nearest": 0}, {"n_counts": 0}]
)
def test_bad_options_are_refused(option):
    with pytest.raises((ValueError, TypeError), match=next(iter(option))):
        Views.from_embeddings(vectors_of(), **option)


def test_fewer_vectors_than_codes_are_warned_of():
    with pytest.warns(DataWarning, match="40 different vectors"):
        views = Views.from_embeddings(vectors_of(), n_codes=100)
    assert views["embedding"].shape[1] == 40


def test_one_vector_is_one_code():
    views = Views.from_embeddings([[0.5, -1.0]])
    assert views["embedding"].toarray().tolist() == [[N_COUNTS]]
    same = Views.from_embeddings([[0.5, -1.0]] * 9)
    assert same["embedding"].toarray().tolist() == [[N_COUNTS]] * 9


def test_vectors_of_another_encoder_are_refused(model):
    with pytest.raises(ValueError, match=r"'embedding', row 0.*3 numbers.*had 6"):
        model.transform({"embedding": [[1.0, 2.0, 3.0]]})
    with pytest.raises(ValueError, match="zero"):
        model.transform({"embedding": np.zeros((1, 6))})


@pytest.mark.parametrize(
    "damage",
    [
        {"centers": np.ones((5, 6))},
        {"centers": np.full((6, 6), np.nan)},
        {"centers": np.ones(6)},
        {"n_nearest": 7},
        {"n_counts": 0},
        {"n_nearest": "4"},
        {"width": 0.0},
        {"normalize": "yes"},
        {"titles": ["a"]},
        {"titles": [1] * 6},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_damaged_recipes_are_refused(views, damage):
    recipe = views.recipes["embedding"]
    settings, arrays = recipe.as_data()
    arrays = {name: damage.pop(name, array) for name, array in arrays.items()}
    with pytest.raises((ValueError, TypeError)):
        type(recipe).from_data({**settings, **damage}, arrays, recipe.features)
