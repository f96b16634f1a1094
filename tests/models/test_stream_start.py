"""The beginning of a stream: its first documents are kept, fitted anew, and dropped."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import MVPLSA, PLSA, DataWarning, DivergenceCoPLSA, LinkPLSA, Views
from coview.datasets import make_views
from coview.stream_start import docs_of_start, same_numbers

QUICK = {"random_state": 0, "init": "random", "ensemble": 0, "view_weights": "balanced"}


@pytest.fixture(scope="module")
def views():
    return make_views(240, 3, [30, 25], missing=0.2, doc_length=40, random_state=0)


def make(cls=LinkPLSA, **params):
    params = {**QUICK, **params}
    return cls(3, **({"n_feature_topics": 5} if cls is MVPLSA else {}), **params)


def streamed(model, views, sizes, **options):
    start = 0
    for size in sizes:
        model.partial_fit(views[start : start + size], **options)
        start += size
    return model


def of(cls, views):
    return views.select("view_0")[np.flatnonzero(views.present[:, 0])] if cls is PLSA else views


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


def by_content(p_w_z):
    """Topics in an order that does not depend on their numbers."""
    return p_w_z[np.lexsort(p_w_z.T)]


@pytest.mark.parametrize("cls", [PLSA, LinkPLSA, MVPLSA, DivergenceCoPLSA])
def test_a_stream_begins_with_a_fit_of_its_first_documents(cls, views):
    data = of(cls, views)
    model = streamed(make(cls), data, [40, 60], first_docs=150)
    assert len(model.first_docs_["labels"]) == 100
    assert model.stream_["largest"] == 100  # fitted anew: they have doubled
    model.partial_fit(data[100:140])
    assert model.stream_["largest"] == 100  # a step
    assert model.n_iter_ <= 3
    model.partial_fit(data[140:150])
    fitted = make(cls).fit(data[:150])
    for name in model.view_names_:
        found, wanted = model.components_[name], fitted.components_[name]
        np.testing.assert_array_equal(by_content(found), by_content(wanted))
        np.testing.assert_array_equal(model.term_counts_[name], fitted.term_counts_[name])
    assert not hasattr(model, "first_docs_")
    assert model.doc_topic_.shape == (10, 3)
    found, wanted = np.sort(model.doc_topic_), np.sort(fitted.doc_topic_[140:])
    np.testing.assert_array_equal(found, wanted)
    known = np.delete(np.arange(10), model.empty_rows_)
    assert (model.labels_ == model.doc_topic_.argmax(axis=1))[known].all()
    assert model.n_docs_seen_ == 150 - len(fitted.empty_rows_)
    assert model.stream_["batches"] == 4


def test_topics_keep_their_numbers_when_they_are_fitted_anew(views):
    model = make(init="kmeans").partial_fit(views[:80])
    before = model.predict(views[:80], unknown="guess")
    model.random_state_used_ = 3  # another start has other numbers
    model.partial_fit(views[80:160])
    assert model.stream_["largest"] == 160
    assert (model.predict(views[:80], unknown="guess") == before).mean() > 0.9


def test_numbers_follow_the_documents_unless_they_are_held():
    before = np.eye(3)[[0, 1, 2, 2]]
    after = before[:, [2, 0, 1]]
    order = same_numbers(before, after, [])
    np.testing.assert_array_equal(after[:, order], before)
    assert same_numbers(before, after, [0])[0] == 0


def test_topics_with_labels_or_seeds_keep_the_numbers_these_give(views):
    data = Views({"a": views["view_0"]}, features={"a": [f"w{i}" for i in range(30)]})
    labels = np.where(np.arange(140) % 4 == 0, 2, -1)
    model = make(PLSA, seeds={"first": {"a": ["w3", "w5"]}})
    model.partial_fit(data[:60], labels=labels[:60]).partial_fit(data[60:140], labels=labels[60:])
    assert model.stream_["largest"] > 80
    assert (model.first_docs_["labels"] == labels).all()
    assert (model.labels_[::4] == 2).all()
    assert model.topic_names_ == ["first", None, None]
    seeded = model.components_["a"][:, [3, 5]].sum(axis=1)
    assert seeded.argmax() == 0


@pytest.mark.parametrize("cls", [LinkPLSA, MVPLSA])
def test_a_model_saved_at_its_beginning_continues_to_the_same_bits(cls, views, tmp_path):
    model = streamed(make(cls, random_state=None), views, [60, 30], first_docs=150)
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    for each in (model, again):
        each.partial_fit(views[90:160])
        each.partial_fit(views[160:])
    for name in model.view_names_:
        np.testing.assert_array_equal(model.components_[name], again.components_[name])
        np.testing.assert_array_equal(model.topic_counts_[name], again.topic_counts_[name])
    np.testing.assert_array_equal(model.doc_topic_, again.doc_topic_)
    assert model.stream_ == again.stream_


def test_damaged_first_documents_are_refused(views, tmp_path):
    for wrong in ({"indices": 1000}, {"indptr": 7}):
        model = make(max_iter=2, tol=0.0).partial_fit(views[:40])
        part = model.first_docs_["views"]["view_0"]
        for name, value in wrong.items():
            part[name] = np.append(part[name][:-1], part[name].dtype.type(value))
        refused(model, tmp_path / "m.coview")
    model = make(max_iter=2, tol=0.0).partial_fit(views[:40])
    good = model.first_docs_
    part = good["views"]["view_0"]
    negative = {**good["views"], "view_0": {**part, "values": -part["values"]}}
    for wrong in (
        {"views": negative},
        {"present": np.zeros_like(good["present"])},
        {"wanted": 10**30},
    ):
        model.first_docs_ = {**good, **wrong}
        refused(model, tmp_path / "m.coview")


def refused(model, path):
    model.save(path)
    with pytest.raises(coview.DamagedFile, match="first_docs_"):
        coview.load(path)


def test_naming_hiding_or_merging_topics_ends_the_beginning(views):
    named, hidden, merged = (make().partial_fit(views[:60]) for _ in range(3))
    named.topic_names_ = ["a", None, None]
    hidden.hidden_topics_ = np.array([1])
    curation = {"coview_curation": 1, "model": merged.fingerprint(), "merge": [[0, 2]]}
    merged = merged.with_topics(curation)
    assert not hasattr(merged, "first_docs_")
    for model in (named, hidden, merged):
        model.partial_fit(views[60:180])
        assert not hasattr(model, "first_docs_")
        assert model.stream_["batches"] == 2
        assert model.n_iter_ <= 3


def test_documents_are_not_kept_where_the_start_is_given(views):
    assert not hasattr(make().partial_fit(views[:60], first_docs=0), "first_docs_")
    assert not hasattr(make().partial_fit(views[:60], first_docs=60), "first_docs_")
    assert not hasattr(make(init=np.arange(60) % 3).partial_fit(views[:60]), "first_docs_")
    assert not hasattr(make().fit(views[:60]).partial_fit(views[60:]), "first_docs_")
    assert not hasattr(make().partial_fit(views[:60], half_life=50), "first_docs_")
    model = make().partial_fit(views[:60])
    assert not hasattr(clone_of(model).partial_fit(views[60:70], first_docs=0), "first_docs_")
    assert not hasattr(model.fit(views[:60]), "first_docs_")
    for wrong in (-1, 2.5, "many"):
        with pytest.raises((TypeError, ValueError), match="first_docs"):
            make().partial_fit(views[:60], first_docs=wrong)
    assert docs_of_start("auto", 3) == 400
    assert docs_of_start("auto", 20) == 1600


def test_first_batches_may_bring_new_terms_and_lack_views(views):
    names = {"view_0": [f"a{i}" for i in range(30)], "view_1": [f"b{i}" for i in range(25)]}
    whole = Views(dict(views.matrices), present=views.present, features=names)
    first = whole[:50]
    narrow = {"view_0": first["view_0"][:, :20], "view_1": first["view_1"]}
    model = make().partial_fit(
        Views(narrow, present=first.present, features={**names, "view_0": names["view_0"][:20]})
    )
    model.partial_fit(whole[50:120].select("view_0"), new_terms=True)
    assert model.stream_["largest"] > 80
    assert model.feature_names_["view_0"].tolist() == names["view_0"]
    assert model.components_["view_0"].shape == (3, 30)
    assert not model.present_[:, 1].any()
    counted = views["view_0"][:120].sum(axis=0)
    counted[20:] = views["view_0"][50:120, 20:].sum(axis=0)
    np.testing.assert_allclose(model.term_counts_["view_0"], counted)
    np.testing.assert_allclose(model.term_counts_["view_1"], views["view_1"][:50].sum(axis=0))


def test_weights_of_views_are_learned_from_enough_documents():
    views = make_views(420, 3, [30, 25], doc_length=40, random_state=0)
    model = make(view_weights="learn", max_iter=3, tol=0.0)
    with pytest.warns(DataWarning, match="200 documents are too few .* until there are more"):
        model.partial_fit(views[:200])
    assert model.view_reliability_ is None
    model.partial_fit(views[200:])
    assert set(model.view_reliability_) == {"view_0", "view_1"}
    assert model.view_weights == "learn"


def test_a_fit_that_fails_leaves_the_model_as_it_was(views, monkeypatch):
    model = make().partial_fit(views[:60])
    before = {name: model.components_[name].copy() for name in model.view_names_}

    def failing(*args):
        raise MemoryError

    monkeypatch.setattr("coview.streaming.same_numbers", failing)
    with pytest.raises(MemoryError):
        model.partial_fit(views[60:140])
    monkeypatch.undo()
    assert len(model.first_docs_["labels"]) == 60
    for name, topics in before.items():
        np.testing.assert_array_equal(model.components_[name], topics)
    model.partial_fit(views[60:140])
    assert len(model.first_docs_["labels"]) == 140


def test_kept_documents_are_copies(views):
    """A stream may fill the same arrays with every batch."""
    first = sp.csr_array(views["view_0"][:40], dtype=np.float32)
    others = views["view_0"][40:100]
    wanted = make(PLSA).partial_fit(first.copy(), first_docs=150).partial_fit(others)
    model = make(PLSA).partial_fit(first, first_docs=150)
    first.data[:] = 1
    model.partial_fit(others)
    np.testing.assert_array_equal(model.components_["X"], wanted.components_["X"])


def test_measurements_that_become_sparse_go_on_as_a_stream(rng):
    dense, sparse = rng.normal(size=(40, 6)), np.zeros((80, 6))
    sparse[np.arange(80), rng.integers(6, size=80)] = rng.normal(size=80)
    counts = rng.poisson(1.0, size=(120, 8))
    model = make().partial_fit({"pca": dense, "words": counts[:40]}, first_docs=200)
    model.partial_fit({"pca": sparse, "words": counts[40:]})
    assert not hasattr(model, "first_docs_")
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-5)


def test_documents_without_a_term_do_not_count(views):
    data = views["view_0"].toarray()
    data[5:40] = 0
    data[42::10] = 0
    model = make(PLSA).partial_fit(data[:40], first_docs=100)
    n_filled = np.count_nonzero(data[:40].any(axis=1))
    assert model.stream_["largest"] == n_filled
    fits = 0
    for start in range(40, 100, 5):
        before = model.stream_["largest"]
        model.partial_fit(data[start : start + 5])
        fits += model.stream_["largest"] != before
    assert 0 < fits <= 4  # each has at least twice the documents of the one before
    assert hasattr(model, "first_docs_")  # fewer than 100 have a term


def test_a_start_that_is_given_later_ends_the_beginning(views):
    model = make().partial_fit(views[:60], first_docs=200)
    model.set_params(init=np.arange(60) % 3).partial_fit(views[60:130])
    assert not hasattr(model, "first_docs_")
    assert model.doc_topic_.shape == (70, 3)


def test_the_warning_says_how_long_weights_stay_balanced(views):
    for first_docs, how_long in ((500, "until there are more"), (100, "for the whole stream")):
        model = make(view_weights="learn")
        with pytest.warns(DataWarning, match=f"'balanced', {how_long}"):
            model.partial_fit(views[:40], first_docs=first_docs)
