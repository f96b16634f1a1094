"""Odd data, with the default start: every model works, or says in a ValueError what is wrong."""

import numpy as np
import pytest

from coview import Views
from coview.datasets import make_views

pytestmark = pytest.mark.filterwarnings(  # what is odd is said, but is not what is tested here
    "ignore::coview.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


@pytest.fixture(scope="module")
def counts():
    """Planted topics in two views of 24 documents."""
    views = make_views(24, 3, [12, 10], doc_length=20, random_state=1)
    return {name: matrix.toarray().astype(float) for name, matrix in views.matrices.items()}


def first(counts, n_docs):
    return {name: matrix[:n_docs] for name, matrix in counts.items()}


def one_feature(counts):
    return {"view_0": counts["view_0"][:, :1] + 1, "view_1": counts["view_1"]}


def only_one_feature(counts):
    return {name: matrix[:, :1] + 1 for name, matrix in counts.items()}


def alike(counts):
    return {"view_0": np.full((12, 6), 2), "view_1": np.full((12, 5), 3)}


def nobody_has_a_view(counts):
    present = np.tile([True, True, False], (24, 1))
    return Views({**counts, "none": np.zeros((24, 7))}, present=present)


def empty_documents(counts):
    return {n: np.vstack([np.zeros((4, m.shape[1])), m]) for n, m in counts.items()}


def constant_columns(counts):
    dense = np.random.default_rng(0).random((24, 5))
    return {"view_0": np.column_stack([dense, np.ones((24, 3))]), "view_1": counts["view_1"]}


def constant_columns_of_real_values(counts):
    dense = np.random.default_rng(0).normal(size=(24, 5))
    return {"view_0": np.column_stack([dense, -np.ones((24, 3))]), "view_1": counts["view_1"]}


def one_view_alike(counts):
    return {"view_1": counts["view_1"], "constant": np.full((24, 5), 0.3)}


def huge(counts):
    return {"view_0": counts["view_0"] * 1e30, "view_1": counts["view_1"]}


def tiny(counts):
    return {"view_0": counts["view_0"] * 1e-30, "view_1": counts["view_1"]}


WORKING = [
    (one_feature, 3),
    (only_one_feature, 3),
    (dict, 1),
    (lambda counts: first(counts, 8), 7),
    (lambda counts: first(counts, 8), 8),
    (lambda counts: first(counts, 4), 6),  # with a warning: some topics can only be copies
    (alike, 3),
    (one_view_alike, 3),
    (nobody_has_a_view, 3),
    (lambda counts: first(counts, 5), 3),
    (lambda counts: first(counts, 5), 10),
    (lambda counts: first(counts, 2), 2),
    (lambda counts: first(counts, 1), 1),
    (lambda counts: first(counts, 1), 3),
    (empty_documents, 3),
    (constant_columns, 3),
    (constant_columns_of_real_values, 3),
    (huge, 3),
    (tiny, 3),
]
IDS = [
    *("one-feature", "only-one-feature", "one-topic", "topics-n-1", "topics-n", "topics-above-n"),
    *("alike", "one-view-alike", "nobody-has-a-view", "five", "five-and-ten-topics", "two", "one"),
    *("one-and-three-topics", "empty-documents", "constant", "constant-real", "huge", "tiny"),
]
SLOW = {"topics-n-1", "five-and-ten-topics", "one-and-three-topics", "only-one-feature", "tiny"}
CASES = [
    pytest.param(*case, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
    for case, name in zip(WORKING, IDS, strict=True)
]


def model_and_views(entry, data, n_topics):
    views = data if isinstance(data, Views) else Views(data)
    views = views.select(views.names[0]) if entry.one_view else views
    # the parameters that every model has are at their defaults, the start as well
    return entry.cls(n_topics, max_iter=3, random_state=0, **dict(entry.options)), views


def assert_shares(rows, or_zero=False):
    sums = rows.sum(axis=1, dtype=float)
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    assert ((np.abs(sums - 1) < 1e-4) | (or_zero & (sums == 0))).all()


@pytest.mark.parametrize(("make", "n_topics"), CASES)
def test_odd_data_are_fitted_and_folded_in(entry, counts, make, n_topics):
    model, views = model_and_views(entry, make(counts), n_topics)
    model.fit(views)
    for rows in (model.doc_topic_, *model.view_doc_topic_.values(), model.transform(views)):
        assert rows.shape == (len(views), n_topics)
        assert_shares(rows)
    for rows in model.components_.values():
        assert_shares(rows, or_zero=True)  # a view without counts has no topics
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.score(views))
    assert set(model.labels_) <= set(range(n_topics))
    np.testing.assert_array_equal(model.predict(views) == -1, model.fold_in(views).empty)
    assert set(model.predict(views, unknown="guess")) <= set(range(n_topics))


@pytest.mark.parametrize("value", [0.3, -0.3])
def test_dense_documents_that_are_all_alike_are_refused(entry, value):
    data = {"a": np.full((12, 6), value), "b": np.full((12, 5), 0.7)}
    model, views = model_and_views(entry, data, 3)
    with pytest.raises(ValueError, match=r"All documents are alike in every view \(a.*vary"):
        model.fit(views)


def test_values_beyond_the_precision_are_refused(entry, counts):
    model, views = model_and_views(entry, {"a": counts["view_0"] * 1e38}, 3)
    with pytest.raises(ValueError, match=r"View 'a' has values up to .*Divide.*dtype='float64'"):
        model.fit(views)
    model.set_params(dtype="float64").fit(views)
    assert_shares(model.doc_topic_)


def test_documents_without_a_single_count_are_refused(entry, counts):
    model, views = model_and_views(entry, {"a": 0 * counts["view_0"]}, 3)
    with pytest.raises(ValueError, match="All documents are empty"):
        model.fit(views)
