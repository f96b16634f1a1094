"""`coview update`: new documents in, the same topics out, and no model lost on the way."""

import json

import numpy as np
import pytest

import coview
from coview import LTM, PLSA, TopicClassifier, Views
from coview.outputs import locked
from tests.cli.command import failing, inside, working

TEXTS = ["ball goal team", "goal team match", "star moon orbit", "moon orbit sky"] * 8
NEW = ["goal keeper team", "keeper ball goal", "comet moon orbit", "comet star sky", ""]


@pytest.fixture(scope="module")
def fitted():
    return PLSA(2, random_state=0).fit(Views.from_texts({"en": TEXTS}, max_df=1.0))


@pytest.fixture
def model(fitted, tmp_path):
    fitted.save(tmp_path / "m.coview")
    return tmp_path / "m.coview"


@pytest.fixture
def new(tmp_path):
    rows = "\n".join(f'{i},"{text}"' for i, text in enumerate(NEW))
    (tmp_path / "new.csv").write_text(f"id,en\n{rows}\n")
    return tmp_path / "new.csv"


def test_a_model_is_updated_in_place(model, new, fitted):
    code, out, said = inside("update", model, new, "--id", "id")
    assert code == 0, said
    assert "moved: en" in out
    assert "Learned from 5 documents (1 without a known term)" in said
    assert "has seen 36" in said
    made = coview.load(model)
    assert made.doc_ids_.tolist() == ["0", "1", "2", "3", "4"]
    wanted = coview.load(model)
    assert (made.labels_[:4] == wanted.predict({"en": NEW[:4]})).all()
    assert made.components_["en"].shape == fitted.components_["en"].shape


def test_what_the_command_learns_is_what_python_learns(model, new, tmp_path, fitted):
    other = tmp_path / "newer.coview"
    before = model.read_bytes()
    working("update", model, new, "-o", other, "--grow", "--half-life", 20, "-q")
    assert model.read_bytes() == before
    wanted = coview.load(model).partial_fit({"en": NEW}, new_terms=True, half_life=20)
    made = coview.load(other)
    np.testing.assert_array_equal(made.components_["en"], wanted.components_["en"])
    assert made.feature_names_["en"].tolist() == [*fitted.feature_names_["en"], "comet", "keeper"]
    assert made.predict({"en": ["keeper"]}) == made.predict({"en": ["goal"]})


def test_two_updates_at_once_do_not_lose_one(model, new):
    before = model.read_bytes()
    with locked(model):
        assert "another fit or update" in failing(1, "update", model, new, "--id", "id")
    assert model.read_bytes() == before
    working("update", model, new, "--id", "id", "-q")


def test_programs_are_told_what_changed(model, new):
    found = json.loads(working("update", model, new, "--grow", "--json"))
    assert found["documents"] == 5
    assert found["documents_seen"] == 36
    assert found["new_terms"] == {"en": 2}
    assert [topic["documents"] for topic in found["topics"]] == [2, 2]
    assert all(0 < topic["moved"]["en"] < 0.5 for topic in found["topics"])


def test_a_matrix_updates_a_model_of_matrices(tmp_path):
    X = np.random.default_rng(0).integers(0, 5, (20, 6))
    PLSA(2, random_state=0).fit({"a": X[:15]}).save(tmp_path / "m.coview")
    np.save(tmp_path / "new.npy", X[15:])
    code, _, said = inside("update", tmp_path / "m.coview", "--view", f"a={tmp_path}/new.npy")
    assert code == 0, said
    assert coview.load(tmp_path / "m.coview").n_docs_seen_ == 20


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ("id,fr\n1,chat\n", (), "The model reads the columns en; the table has id, fr"),
        ("id,en\n1,zebra\n", (), "see --grow"),
        ("id,en\n", (), "no documents"),
        ("id,en\n1,goal\n", ("--half-life", "0"), "half_life"),
        ("id,en\n1,goal\n", ("-o", "no/such/place.coview"), "no/such"),
    ],
)
def test_a_failed_update_leaves_the_model(model, tmp_path, rows, options, words):
    (tmp_path / "bad.csv").write_text(rows)
    before = model.read_bytes()
    code, _, said = inside("update", model, tmp_path / "bad.csv", *options)
    assert code != 0
    assert words in said
    assert model.read_bytes() == before


def test_a_failed_writing_leaves_the_model(model, new, monkeypatch):
    from coview import store

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    before = model.read_bytes()
    monkeypatch.setattr(store.os, "replace", full)
    failing(1, "update", model, new)
    monkeypatch.undo()
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.glob("*.coview")] == ["m.coview"]


def test_models_that_cannot_learn_say_so(tmp_path, new):
    views = Views.from_texts({"en": TEXTS}, max_df=1.0)
    LTM(2, random_state=0, init="random", max_iter=3, tol=0).fit(views).save(tmp_path / "a.coview")
    labels = np.arange(len(TEXTS)) % 4 // 2
    classifier = TopicClassifier(PLSA(random_state=0, max_iter=3, tol=0)).fit(views, labels)
    classifier.save(tmp_path / "b.coview")
    for name, kind in (("a", "LTM"), ("b", "TopicClassifier")):
        said = failing(1, "update", tmp_path / f"{name}.coview", new)
        assert f"is a {kind}, which cannot learn from batches" in said


def test_the_data_are_not_overwritten(model, new):
    assert "is an input" in failing(2, "update", model, new, "-o", new)


def test_large_tables_come_in_chunks(model, tmp_path, monkeypatch):
    from coview.cli import inputs

    rows = "\n".join(f"{i},{text}" for i, text in enumerate(TEXTS))
    (tmp_path / "many.csv").write_text(f"id,en\n{rows}\n")
    monkeypatch.setattr(inputs, "CHUNK_ROWS", 10)
    found = json.loads(working("update", model, tmp_path / "many.csv", "--json"))
    assert found["documents"] == 32
    assert coview.load(model).stream_["batches"] == 5
