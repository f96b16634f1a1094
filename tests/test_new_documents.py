"""New documents are aligned with a fitted model once, and folded in by one call."""

import copy

import numpy as np
import pytest

from coview import DataWarning, DivergenceCoPLSA, LinkPLSA, Views, new_documents
from coview.datasets import make_views
from coview.views import vocabulary
from tests.reference import link_plsa

TERMS = {"en": [f"e{i}" for i in range(30)], "fr": [f"f{i}" for i in range(20)]}


@pytest.fixture(scope="module")
def views():
    made = make_views(60, 3, {"en": 30, "fr": 20}, doc_length=40, random_state=0)
    return Views(made, features=TERMS)


@pytest.fixture(scope="module")
def model(views):
    return DivergenceCoPLSA(3, init="kmeans", random_state=0, max_iter=10, tol=1e-3).fit(views)


def test_fold_in_gives_what_transform_and_predict_give(model, views):
    found = model.fold_in(views[:9])
    np.testing.assert_array_equal(found.doc_topic, model.transform(views[:9]))
    np.testing.assert_array_equal(found.labels, model.predict(views[:9]))
    assert sorted(found.view_doc_topic) == ["en", "fr"]
    assert not found.empty.any()


def test_fold_in_tells_which_documents_are_empty(model, views):
    counts = np.zeros((3, 30))
    counts[1, views["en"].sum(axis=0).argmax()] = 2
    found = model.fold_in({"en": counts})
    assert found.empty.tolist() == [True, False, True]
    np.testing.assert_allclose(found.doc_topic[0], 1 / 3, rtol=1e-6)


def test_fold_in_gives_arrays_whatever_the_output_is_set_to(views):
    model = LinkPLSA(3, init="kmeans", random_state=0, max_iter=3, tol=0).fit(views)
    model.set_output(transform="pandas")
    assert isinstance(model.fold_in(views[:2]).doc_topic, np.ndarray)


def test_views_that_fit_the_model_are_not_changed(model, views):
    assert model.as_views(views) is views
    assert model.as_views(views.select("fr", "en")).names == ("en", "fr")


def test_columns_are_matched_by_name_and_only_once(model, views, monkeypatch):
    more = Views(
        {"en": np.hstack([views["en"].toarray(), np.ones((60, 1))])},
        features={"en": [*TERMS["en"], "unknown"]},
    )
    with pytest.warns(DataWarning, match="1 of 31 features"):
        aligned = model.as_views(more)
    np.testing.assert_array_equal(aligned["en"].toarray(), views["en"].toarray())
    monkeypatch.setattr(vocabulary, "_move_columns", None)  # not called for aligned views
    np.testing.assert_array_equal(model.transform(aligned), model.transform(views.select("en")))


def test_mixtures_need_no_centers_of_clusters():
    views = make_views(40, 3, [20, 15], random_state=0)
    model = LinkPLSA(3, random_state=0, max_iter=5, tol=0).fit(views).set_params(assign="kmeans")
    assert model.transform(views).shape == (40, 3)


@pytest.mark.parametrize("n_iter", [1, 7])
def test_folding_in_takes_as_many_steps_as_asked(views, n_iter):
    settings = {"fold_in_max_iter": n_iter, "fold_in_tol": 0.0, "dtype": "float64"}
    model = LinkPLSA(3, random_state=0, tol=1e-3, **settings).fit(views)
    Xs = [matrix.toarray() for matrix in views.matrices.values()]
    topics, weights = list(model.components_.values()), list(model.view_weights_.values())
    uniform = np.full((views.n_docs, 3), 1 / 3)
    expected, _ = link_plsa.fold_in(Xs, uniform, topics, n_iter, weights, views.present)
    np.testing.assert_allclose(model.transform(views), expected[-1], atol=1e-12)


def test_the_end_of_folding_in_can_be_changed_after_the_fit(model, views):
    usual = model.transform(views)
    try:
        loose = model.set_params(fold_in_tol=0.1).transform(views)
        with pytest.raises(ValueError, match="fold_in_tol must be"):
            model.set_params(fold_in_tol=-1).transform(views)
    finally:
        model.set_params(fold_in_tol=1e-4)
    assert np.abs(loose - usual).max() > 1e-3
    np.testing.assert_array_equal(model.transform(views), usual)


# -- topics of their own terms ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    return make_views(40, 3, {"en": 400, "fr": 300}, doc_length=20, random_state=0)


@pytest.fixture(scope="module")
def wide_model(wide):
    return LinkPLSA(3, init="random", random_state=0, max_iter=5, tol=0, ensemble=0).fit(wide)


def test_few_documents_get_the_bits_they_get_among_many(wide_model, wide, monkeypatch):
    together = wide_model.transform(wide)
    for rows in ([7], [3, 5, 9], range(40)):
        np.testing.assert_array_equal(wide_model.transform(wide[rows]), together[rows])
    monkeypatch.setattr(new_documents, "FEW_TERMS", -1.0)  # all terms
    monkeypatch.setattr(new_documents, "SMALL_WORK", -1)  # in a pool of threads
    np.testing.assert_array_equal(wide_model.transform(wide[[7]]), together[[7]])


def test_topics_that_were_changed_count_at_once(wide_model, wide):
    changed = copy.deepcopy(wide_model)
    before = changed.transform(wide[:2])
    for topics in changed.components_.values():
        topics[:] = topics[[1, 2, 0]]  # in place
    np.testing.assert_allclose(changed.transform(wide[:2]), before[:, [1, 2, 0]], atol=1e-6)
    changed.components_ = {n: t[[2, 0, 1]] for n, t in changed.components_.items()}
    np.testing.assert_allclose(changed.transform(wide[:2]), before, atol=1e-6)


def test_folding_in_leaves_nothing_in_the_model(wide_model, wide):
    before = set(vars(wide_model))
    wide_model.transform(wide[:2])
    assert set(vars(wide_model)) == before


def test_centers_of_mixtures_whose_first_rows_are_equal(monkeypatch):
    theta = np.repeat(np.eye(4, dtype=np.float32)[:3], 50, axis=0)  # three of four corners
    all_seen = new_documents.topic_centers(theta, 0)
    monkeypatch.setattr(new_documents, "FEW_MIXTURES", 2)
    np.testing.assert_array_equal(new_documents.topic_centers(theta, 0), all_seen)
    np.testing.assert_allclose(all_seen, np.eye(4), atol=1e-6)
