"""From raw data to a searched model, as a new user would do it, for each kind of data.

The commands run in this process; `tests/test_readme.py` runs three of them as real processes.
"""

import csv
import json
import random

import numpy as np
import pytest

from tests.cli.command import failing, inside, working

WORDS = {
    "sport": ("goal match team player league score", "tor spiel mannschaft spieler liga punkte"),
    "food": ("bread oven flour butter soup recipe", "brot ofen mehl butter suppe rezept"),
    "space": ("rocket orbit planet moon launch star", "rakete orbit planet mond start stern"),
}


def sentence(rng, words, n=12):
    return " ".join(rng.choices(words.split(), k=n))


def rows_of(n_docs=60, seed=0):
    """(id, english, german, class); some cells are empty."""
    rng = random.Random(seed)
    for i in range(n_docs):
        name = list(WORDS)[i % 3]
        english, german = (sentence(rng, words) for words in WORDS[name])
        yield f"d{i}", "" if i % 10 == 3 else english, "" if i % 10 == 7 else german, name


def write_table(path, rows, header):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def found_by(*search):
    """Ids of the documents that a search finds."""
    return [hit["document"] for hit in json.loads(working("search", *search, "--json"))]


def test_a_table_of_texts_in_two_languages_with_empty_cells(tmp_path):
    table, model = tmp_path / "news.csv", tmp_path / "news.coview"
    rows = list(rows_of())
    write_table(table, rows, ["id", "en", "de", "topic"])
    working("fit", table, "--text", "en", "--text", "de", "--id", "id", "-k", 3, "-o", model)

    shown = working("topics", model, "--terms", 6)
    line = next(line for line in shown.splitlines() if "rocket" in line)
    assert "rakete" in line  # the two languages of a topic stand side by side
    assert "tor" not in line.split()

    found = found_by(model, "--view", "en", "--in", "de", "moon rocket", "--top", 15)
    space_in_german = [r[0] for r in rows if r[3] == "space" and r[2]]
    assert set(found) <= set(space_in_german)

    shown = working(
        "search", model, "--view", "de", "--in", "en", "Brot", "--show", table, "--id", "id"
    )
    assert "flour" in shown

    # the words of the documents tell those of one topic apart, also from an index
    rocket = [r[0] for r in rows if "rocket" in r[1]]
    words = ("rocket", "--view", "en", "--in", "en", "--top", 3)
    with_words = (*words, "--show", table, "--id", "id", "--index", tmp_path / "news.index")
    assert set(found_by(model, *with_words)) <= set(rocket)
    assert found_by(model, *words, "--index", tmp_path / "news.index") == found_by(
        model, *with_words
    )
    assert found_by(model, *words) == found_by(model, *with_words)
    poor = tmp_path / "poor.coview"
    data = ("--text", "en", "--text", "de", "--id", "id", "--no-search")
    working("fit", table, *data, "-k", 3, "-o", poor)
    assert "by topics alone" in inside("search", poor, *words)[2]
    assert found_by(poor, *words, "--show", table, "--id", "id") == found_by(model, *words)
    write_table(table, rows[1:], ["id", "en", "de", "topic"])  # one row is gone
    code, _, said = inside("search", poor, *words, "--show", table, "--id", "id")
    assert (code, "has changed since the fit" in said) == (0, True)
    assert "by topics alone" in said

    new = tmp_path / "new.csv"
    write_table(new, [["x", "a goal for the team"], ["y", "soup and bread"]], ["id", "en"])
    working("predict", model, new, "--id", "id", "-o", tmp_path / "out.parquet")
    import pyarrow.parquet

    written = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["document"] for row in written] == ["x", "y"]
    assert written[0]["topic"] != written[1]["topic"]
    mixtures = json.loads(working("transform", model, new, "--id", "id", "--json"))
    assert list(mixtures[0])[:2] == ["document", "topic_0"]
    assert np.isclose(sum(v for k, v in mixtures[0].items() if k != "document"), 1, atol=1e-5)


def draw(kind, rng):
    """A picture of 96 x 96 dots: stripes, squares or discs, in colors of their own."""
    image = np.full((96, 96, 3), (30, 30, 30), np.uint8)
    y, x = np.mgrid[:96, :96]
    if kind == "stripes":
        image[((x + rng.integers(20)) // 6) % 2 == 0] = (40, 40, 220)
    elif kind == "squares":
        shift = rng.integers(20)
        image[(((x + shift) // 12) + (y // 12)) % 2 == 0] = (40, 200, 40)
    else:
        for _ in range(10):
            cx, cy, r = rng.integers(10, 86), rng.integers(10, 86), rng.integers(5, 11)
            image[(x - cx) ** 2 + (y - cy) ** 2 < r**2] = (220, 160, 40)
    return image


CAPTIONS = {
    "stripes": "lines bars parallel striped zebra",
    "squares": "chess board checkered tiles grid",
    "discs": "balls round circles dots bubbles",
}


def test_a_folder_of_pictures_with_captions(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="pictures need coview[images]")
    rng, words = np.random.default_rng(0), random.Random(0)
    folder, model = tmp_path / "photos", tmp_path / "photos.coview"
    folder.mkdir()
    for i in range(36):
        kind = list(CAPTIONS)[i % 3]
        cv2.imwrite(str(folder / f"{kind}{i}.png"), draw(kind, rng))
        if i % 9:
            (folder / f"{kind}{i}.txt").write_text(sentence(words, CAPTIONS[kind], 6))
    working("fit", folder, "-k", 3, "-o", model)
    query = tmp_path / "query.png"
    cv2.imwrite(str(query), draw("discs", rng))
    found = found_by(model, "--view", "image", "--in", "caption", query, "--top", 5)
    assert all(name.startswith("discs") for name in found)
    new = tmp_path / "new"
    new.mkdir()
    cv2.imwrite(str(new / "new.png"), draw("discs", rng))
    cv2.imwrite(str(new / "other.png"), draw("stripes", rng))
    one, two = json.loads(working("predict", model, new, "--json"))
    from coview import load

    fitted = load(model)  # read with the visual words of the model, not with words of their own
    discs = [name.startswith("discs") for name in fitted.doc_ids_]
    assert one["topic"] == np.bincount(fitted.labels_[discs]).argmax() != two["topic"]
    found = found_by(model, "--view", "caption", "--in", "image", "chess tiles", "--top", 5)
    assert all(name.startswith("squares") for name in found)
    assert all((folder / name).is_file() for name in found)  # a hit is shown by its path


def test_a_multi_omics_file_with_cells_missing_a_modality(tmp_path):
    mudata = pytest.importorskip("mudata", reason=".h5mu needs coview[scverse]")
    anndata = pytest.importorskip("anndata")
    import warnings

    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    names = np.array([f"cell{i}" for i in range(60)])

    def counts(width):
        profiles = rng.dirichlet(np.full(width, 0.2), 3)
        return np.stack([rng.multinomial(200, profiles[k]) for k in kinds]).astype(np.float32)

    has_protein = np.arange(60) % 7 != 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rna = anndata.AnnData(counts(40))
        rna.obs_names, rna.var_names = names, [f"g{i}" for i in range(40)]
        protein = anndata.AnnData(counts(12)[has_protein])
        protein.obs_names, protein.var_names = names[has_protein], [f"p{i}" for i in range(12)]
        mudata.MuData({"rna": rna, "prot": protein}).write(tmp_path / "cells.h5mu")
    model, out = tmp_path / "cells.coview", tmp_path / "out.h5mu"
    said = inside("fit", tmp_path / "cells.h5mu", "--model", "mvplsa", "-k", 3, "-o", model)[2]
    assert "9 lack it" in said
    working("transform", model, tmp_path / "cells.h5mu", "-o", out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        back = mudata.read(out)
    assert back.obsm["X_coview"].shape == (60, 3)
    assert back["rna"].varm["coview_topics"].shape == (40, 3)
    from coview.metrics import clustering_accuracy

    order = [list(back.obs_names).index(name) for name in names]
    assert clustering_accuracy(kinds, np.asarray(back.obs["coview"])[order].astype(int)) > 0.9


@pytest.mark.slow
def test_logarithms_of_counts_with_the_counts_in_a_layer(tmp_path):
    mudata = pytest.importorskip("mudata", reason=".h5mu needs coview[scverse]")
    anndata = pytest.importorskip("anndata")
    import warnings

    from coview import load

    counts = np.random.default_rng(0).poisson(2, (40, 12)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rna = anndata.AnnData(np.log1p(counts), layers={"counts": counts})
        mudata.MuData({"rna": rna}).write(tmp_path / "cells.h5mu")
    data, model = tmp_path / "cells.h5mu", tmp_path / "cells.coview"
    fit = ("fit", data, "--model", "plsa", "-k", 2, "-o", model)
    said = inside(*fit)[2]
    assert "layer 'counts' is read" in said
    assert "--layer rna=counts, or --layer rna=X for X" in said
    assert load(model).term_counts_["rna"].sum() == counts.sum()
    assert "not counts" not in inside(*fit, "--layer", "rna=counts")[2]
    assert "is not counts" in inside(*fit, "--layer", "rna=X")[2]
    assert "'rna' has no layer 'raw'" in failing(1, *fit, "--layer", "rna=raw")
    working("predict", model, data, "--layer", "rna=counts")
    working("transform", model, data, "--layer", "rna=counts", "-o", tmp_path / "out.h5mu")
    assert "--layer is for .h5mu" in failing(
        2, "fit", tmp_path / "a.csv", "--layer", "rna=X", "-o", model
    )


def test_a_citation_graph_and_its_texts(tmp_path):
    table, edges, model = (tmp_path / n for n in ("papers.csv", "cites.csv", "papers.coview"))
    rows = list(rows_of(45))
    write_table(table, [[r[0], r[1] or r[2], r[3]] for r in rows], ["id", "text", "field"])
    rng = random.Random(0)
    cites = []
    for i in range(45):
        for _ in range(3):
            j = rng.randrange(15) * 3 + i % 3
            if i != j:
                cites.append([f"d{i}", f"d{j}"])
    write_table(edges, cites, ["source", "target"])
    out = working("fit", table, "--text", "text", "--id", "id", "--label", "field", "--model",
                  "mggm", "--graph", f"cites={edges}", "--links", edges, "-k", 3, "-o",
                  model, "--json")  # fmt: skip
    summary = json.loads(out)
    assert summary["model"] == "MGGM"
    assert summary["views"] == ["text", "links"]
    from coview import load
    from coview.metrics import clustering_accuracy

    fitted = load(model)
    assert set(fitted.graph_weights_) == {"text", "links", "cites"}
    fields = np.unique([r[3] for r in rows], return_inverse=True)[1]
    assert clustering_accuracy(fields, fitted.labels_) > 0.9


def test_matrices_in_files(tmp_path):
    import scipy.io
    import scipy.sparse as sp

    from coview.datasets import make_views

    views = make_views(60, 3, [30, 20], random_state=0)
    one, two = views.matrices.values()
    scipy.io.mmwrite(tmp_path / "a.mtx", one)
    sp.save_npz(tmp_path / "b.npz", two)
    (tmp_path / "ids.txt").write_text("".join(f"doc {i}\n" for i in range(60)))
    model = tmp_path / "m.coview"
    given = ["--view", f"a={tmp_path / 'a.mtx'}", "--view", f"b={tmp_path / 'b.npz'}"]
    working("fit", *given, "--ids", tmp_path / "ids.txt", "-k", 3, "-o", model)
    rows = json.loads(working("predict", model, *given, "--json"))
    assert len(rows) == 60
    found = found_by(model, "--like", "doc 7", "--in", "b")
    assert len(found) == 10
    assert "doc 7" not in found


def test_converting_keeps_the_recipes(tmp_path):
    table, folder, model = (tmp_path / n for n in ("news.csv", "views", "news.coview"))
    write_table(table, rows_of(), ["id", "en", "de", "topic"])
    text = ["--text", "en", "--text", "de", "--id", "id", "--label", "topic"]
    working("convert", table, *text, "-o", folder)
    assert "60" in working("info", folder)
    working("fit", folder, "-k", 3, "-o", model)
    assert found_by(model, "--view", "en", "--in", "de", "moon")


def test_a_publishers_archive(tmp_path):
    from experiments.__main__ import main

    from tests.experiments.importers.packing import webkb

    assert "webkb_texas" in working("data", "list")
    assert "Texas" in working("data", "info", "webkb_texas")
    out = str(tmp_path / "texas")
    assert main(["import", "webkb_texas", str(webkb(tmp_path)), "--out", out]) == 0
    assert "views folder" in working("info", tmp_path / "texas")


def test_measurements_with_negative_values_and_how_they_were_scaled(tmp_path, rng):
    np.save(tmp_path / "pca.npy", rng.normal(size=(30, 4)))
    args = ("fit", "--view", f"pca={tmp_path / 'pca.npy'}", "-k", 2, "-o", tmp_path / "m.coview")
    code, _, said = inside(*args)
    assert code == 0, said
    assert "all documents, real numbers from -" in said
    assert "Scaled pca: features from -" in said
    summary = json.loads(working(*args[:-1], tmp_path / "n.coview", "--json"))
    assert list(summary["scaling"]) == ["pca"]
    assert "scaled: features from -" in " ".join(working("info", tmp_path / "m.coview").split())
    without = failing(1, *args[:-1], tmp_path / "n.coview", "--set", "scaling=null")
    assert "scaling='auto'" in " ".join(without.split())


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (["-k", 3], "by how well clusters of one half of the columns hold neighbors"),
        (["--label", "topic", "--classify"], "the usual one: there was nothing to judge others by"),
    ],
)
def test_a_strength_is_chosen_and_reported(tmp_path, how, words):
    table, model = tmp_path / "news.csv", tmp_path / "news.coview"
    write_table(table, rows_of(30), ["id", "en", "de", "topic"])  # all are labeled
    command = ["fit", table, "--text", "en", "--text", "de", "--id", "id", *how, "-o", model]
    command += ["--model", "mggm", "--max-iter", 5, "--tol", 0, "--strength"]
    code, _, said = inside(*command, "auto")
    assert code == 0, said
    told = json.loads(working(*command, "auto", "--json", "--quiet"))
    assert f"Strength {told['strength']:g}, {words}" in said
    given = json.loads(working(*command, told["strength"], "--json", "--quiet"))
    assert "strength" not in given  # it was not chosen
    assert given["objective"] == told["objective"]
