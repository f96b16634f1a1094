"""Model files: a model of each kind comes back bit for bit, also in another process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import (
    PLSA,
    DamagedFile,
    DataWarning,
    LinkPLSA,
    SearchIndex,
    TopicClassifier,
    Views,
    load,
)
from coview.datasets import make_views
from coview.io import info
from coview.models import MODEL_NAMES, ONE_VIEW, model_class
from coview.store import read_sealed, write_sealed

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [30, 25, 20], random_state=0, missing=0.1)


def fitted(name, views, **params):
    views = views.concat() if name in ONE_VIEW else views
    model = model_class(name)(3, random_state=0, max_iter=15, tol=0, **params)
    return model.fit(views), views


def same(a, b):
    """Whether two values are the same to the last bit, arrays and NaN included."""
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=_real(a))
        )
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "__dict__"):
        return type(a) is type(b) and same(*(dict(sorted(vars(x).items())) for x in (a, b)))
    return a == b or (a != a and b != b)


def _real(array):
    return array.dtype.kind == "f"


@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), float, "float64"])
def test_a_type_is_kept_however_it_was_given(tmp_path, dtype):
    model = PLSA(2, dtype=dtype, init="random", max_iter=2, tol=0.0, random_state=0)
    model.fit(Views([[1, 2], [3, 1]])).save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert np.dtype(again.dtype) == np.float64
    assert again.transform(Views([[1, 2]])).dtype == np.float64


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_model_comes_back_with_everything_it_knew(name, views, tmp_path):
    model, data = fitted(name, views)
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert type(again) is type(model)
    assert same(again, model)
    assert same(again.transform(data), model.transform(data))
    assert same(again.predict(data), model.predict(data))
    assert again.score(data) == model.score(data)


def test_another_process_gets_the_same_bits(views, tmp_path):
    expected = {}
    for name in MODEL_NAMES:
        model, data = fitted(name, views)
        model.save(tmp_path / f"{name}.coview")
        data.save(tmp_path / name)
        expected[name] = model.transform(data)
    code = (
        "import sys, numpy as np, coview; folder = sys.argv[1]\n"
        "for name in sys.argv[2:]:\n"
        "    model = coview.load(f'{folder}/{name}.coview')\n"
        "    data = coview.Views.load(f'{folder}/{name}')\n"
        "    np.save(f'{folder}/{name}.npy', model.transform(data))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path), *MODEL_NAMES], check=True)
    for name, mixtures in expected.items():
        assert same(np.load(tmp_path / f"{name}.npy"), mixtures), name


def test_a_classifier_comes_back_with_its_classes(views, tmp_path):
    names = np.array(["sport", "money", "cats"])[views.labels]
    classifier = TopicClassifier(LinkPLSA(random_state=0, max_iter=15, tol=0)).fit(views, names)
    classifier.save(tmp_path / "c.coview")
    again = load(tmp_path / "c.coview")
    assert same(again.predict(views), classifier.predict(views))
    assert again.classes_.tolist() == ["cats", "money", "sport"]
    assert again.estimator.get_params() == classifier.estimator.get_params()


@pytest.mark.parametrize("name", ["link", "voted"])
def test_a_file_does_not_depend_on_threads_or_progress_bars(name, views, tmp_path):
    for file, run in (("a", {"n_jobs": 1, "verbose": 0}), ("b", {"n_jobs": 2, "verbose": 1})):
        fitted(name, views, **run)[0].save(tmp_path / file)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_file_of_a_classifier_does_not_depend_on_threads(views, tmp_path):
    for n_jobs in (1, 2):
        model = LinkPLSA(max_iter=5, random_state=0, n_jobs=n_jobs, verbose=n_jobs - 1)
        TopicClassifier(model).fit(views, views.labels).save(tmp_path / str(n_jobs))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_model_goes_on_learning_after_it_was_loaded(views, tmp_path):
    model, data = fitted("link", views)
    model.save(tmp_path / "m.coview")
    assert same(load(tmp_path / "m.coview").fit(data).doc_topic_, model.fit(data).doc_topic_)


def test_names_survive_whatever_is_in_them(tmp_path):
    odd = ["\u00e9", "e\u0301", "a\nb", "\0", "<b>", "=1+1", "\U0001d4b3", "x" * 100_000, " "]
    views = Views(
        {"ä ö/ü": np.eye(9) + 1}, features={"ä ö/ü": odd}, ids=[f"d\n{i}" for i in range(9)]
    )
    model = coview.PLSA(2, random_state=0, max_iter=5, tol=0).fit(views)
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert again.feature_names_["ä ö/ü"].tolist() == odd
    assert again.doc_ids_.tolist() == views.ids.tolist()


def test_what_is_no_data_is_left_out_with_a_warning(views, tmp_path):
    graph = sp.csr_array(np.ones((60, 60)) - np.eye(60))
    model, data = fitted("ltm", views, graph=graph)
    with pytest.warns(DataWarning, match=r"Parameters not saved.* graph \(csr_array\)"):
        model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert again.graph is None
    assert same(again.transform(data), model.transform(data))


@pytest.fixture(scope="module")
def texts():
    words = {
        "en": ["goal match", "moon star", "bread soup"],
        "de": ["tor spiel", "mond stern", "brot suppe"],
    }
    return {view: [f"{a} {b}" for a in rows for b in rows] for view, rows in words.items()}


def test_a_loaded_model_reads_raw_documents(texts, tmp_path):
    model = LinkPLSA(3, random_state=0, max_iter=5, tol=0).fit(Views.from_texts(texts))
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    new = {"en": ["a goal in the match", None], "de": [None, "Mond und Stern"]}
    assert again.read(new).equals(model.read(new))
    assert same(again.transform(new), model.transform(new))
    assert again.transform({"en": ["moon"]}).shape == (1, 3)


def test_a_recipe_that_holds_code_is_left_out_with_a_warning(texts, tmp_path):
    from sklearn.feature_extraction.text import CountVectorizer

    own = CountVectorizer(tokenizer=str.split, token_pattern=None)
    views = Views.from_texts(texts, vectorizer={"en": own})
    model = LinkPLSA(3, random_state=0, max_iter=5, tol=0).fit(views)
    with pytest.warns(DataWarning, match=r"Attributes not saved.*: en \("):
        model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    assert again.recipes_["en"] is None
    assert same(again.transform({"de": ["mond"]}), model.transform({"de": ["mond"]}))


def test_a_model_that_is_not_fitted_has_nothing_to_save(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        LinkPLSA().save(tmp_path / "m.coview")
    assert not list(tmp_path.iterdir())


def is_refused(path):
    try:
        load(path)
    except DamagedFile:
        return True
    return False


def test_2000_random_damages_to_models_are_all_refused(views, tmp_path):
    from tests.test_store import damages

    rng, n_refused = np.random.default_rng(0), 0
    path = tmp_path / "m.coview"
    for name in ("link", "mggm", "voted", "divergence"):
        fitted(name, views)[0].save(path)
        whole = path.read_bytes()
        for (kind, broken), _ in zip(damages(whole, rng), range(500), strict=False):
            path.write_bytes(broken)
            assert is_refused(path), f"{name} with {kind} was accepted"
            n_refused += 1
    assert n_refused == 2000


@pytest.fixture
def altered(views, tmp_path):
    """Writes a model whose file is sealed well, but says what no model says."""
    model, _ = fitted("link", views)
    model.save(tmp_path / "m.coview")

    def alter(change):
        header, tensors = read_sealed(tmp_path / "m.coview", "model")
        tensors = {name: array.copy() for name, array in tensors.items()}
        change(header, tensors)
        write_sealed(tmp_path / "m.coview", "model", header, tensors)
        return tmp_path / "m.coview"

    return alter


def test_a_class_that_is_no_model_is_refused(altered):
    path = altered(lambda header, _: header.update({"class": "Popen"}))
    with pytest.raises(DamagedFile, match="'Popen', which is not a model"):
        load(path)


def test_an_attribute_that_is_no_fitted_one_is_refused(altered):
    path = altered(lambda header, _: header["attributes"].update({"__class__": 1}))
    with pytest.raises(DamagedFile, match="attribute '__class__'"):
        load(path)


def test_a_value_of_an_unknown_kind_is_refused(altered):
    path = altered(lambda header, _: header["attributes"].update({"x_": {"$": "brief"}}))
    with pytest.raises(DamagedFile, match="kind 'brief'"):
        load(path)


@pytest.mark.parametrize("value", [np.nan, -0.5, np.inf, 7.0])
def test_topics_that_are_no_probabilities_are_refused(altered, value):
    def change(header, tensors):
        for array in tensors.values():
            if array.shape == (3, 30):
                array[0, 0] = value

    with pytest.raises(DamagedFile, match="not probabilities"):
        load(altered(change))


def test_mixtures_of_another_size_are_refused(altered):
    def change(header, tensors):
        for name, array in tensors.items():
            if array.shape == (60, 3):
                tensors[name] = array[:-1]

    with pytest.raises(DamagedFile, match=r"labels_ have the shape \(60,\); expected \(59,\)"):
        load(altered(change))


def test_a_parameter_of_a_newer_version_is_ignored(altered):
    path = altered(lambda header, _: header["params"].update({"magic": 3}))
    assert load(path).n_components == 3


def test_an_index_or_checkpoint_is_not_taken_for_a_model(tmp_path):
    write_sealed(tmp_path / "x", "checkpoint", {}, {})
    with pytest.raises(DamagedFile, match="holds a checkpoint; a model was expected"):
        load(tmp_path / "x")


def test_the_header_tells_what_a_file_holds(views, tmp_path):
    model, _ = fitted("link", views)
    model.save(tmp_path / "m.coview")
    found = info(tmp_path / "m.coview")
    assert found["class"] == "LinkPLSA"
    assert found["params"]["n_components"] == 3
    assert found["library_version"] == coview.__version__
    json.dumps(found)


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*/*.coview")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_files_of_every_released_format_can_be_read(path):
    """Written once, by the version named in the folder, and never again."""
    model = load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    views = Views({name: np.array(rows) for name, rows in expected["views"].items()})
    assert type(model).__name__ == expected["class"]
    np.testing.assert_allclose(model.predict_proba(views), expected["transform"], atol=1e-5)
    assert model.predict(views).tolist() == expected["predict"]


def test_there_is_a_golden_file_of_every_model():
    names = {path.stem for path in (GOLDEN / "format_1").glob("*.coview")}
    assert names == {*MODEL_NAMES, "classifier"}


def test_early_files_are_read_under_todays_names():
    """Written before names were settled: `monotone`, `centres`, `colour`, `kind`."""
    early = GOLDEN / "format_1_names"
    assert load(early / "ltm_monotone.coview").step == "safe"
    model = load(early / "mggm_paper.coview")
    assert model.step == "paper"
    assert model.topic_centers_.shape == (3, 3)
    assert model.topic_stability_ is model.doc_confidence_ is None
    assert info(early / "mggm_paper.coview")["params"]["step"] == "paper"
    pictures = Views.load(early / "pictures")
    assert pictures.recipes["image_colour"].kind == "image_color"
    assert pictures.recipes["image"].centers.shape == (4, 128)
    classifier = load(GOLDEN / "format_1" / "classifier.coview")
    assert classifier.estimator_.n_components == len(classifier.classes_)


def test_early_indices_are_read_under_todays_names():
    early = GOLDEN / "format_1_names"
    index = SearchIndex.load(early / "searched.index", load(early / "searched.coview"))
    kept = json.loads((early / "searched.index.json").read_text())
    positions, scores = index.query_many(np.array(kept["queries"]), top=3)
    assert index.metric == "correlation"
    assert positions.tolist() == kept["positions"]
    np.testing.assert_allclose(scores, kept["scores"], rtol=1e-6)
