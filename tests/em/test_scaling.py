"""Scaling of dense real views, above all those with negative values."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import PLSA, DataWarning, LinkPLSA, Views, VotedPLSA
from coview.baselines import BASELINES
from coview.compare.cell_inputs import Preprocessing
from coview.em.scaling import count_clipped, describe_scaling, learn_scaling, real_views, scaled
from coview.metrics import nmi_max
from coview.models import MODEL_NAMES, ONE_VIEW, model_class

ALL = np.ones((40, 1), bool)


def clusters(rng, widths=(6, 5), n_docs=60, noise=0.5):
    """Three clusters in views with negative values, of units that differ, and their numbers."""
    labels = np.arange(n_docs) % 3
    views = {}
    for v, width in enumerate(widths):
        centers = 3 * rng.normal(size=(3, width))
        views[f"real{v}"] = centers[labels] + noise * rng.normal(size=(n_docs, width))
    return views, labels


def naive(train, x):
    """The rule cell by cell: (x - low) / sqrt(span * largest span), cut off at the extremes."""
    found = np.zeros(x.shape)
    spans = [max(column) - min(column) for column in train.T]
    for i, row in enumerate(x):
        for j, value in enumerate(row):
            low, span = min(train[:, j]), spans[j]
            inside = min(max(value, low), low + span)
            found[i, j] = (inside - low) / np.sqrt(span * max(spans)) if span > 0 else 0
    return found


def apply(scaling, x, present=None):
    matrix = sp.csr_array(x)
    present = np.ones(len(x), bool) if present is None else present
    return scaled("a", matrix, present, scaling).toarray()


# -- the rule --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaled_values_are_those_of_the_naive_rule(rng, dtype):
    train = (rng.normal(size=(40, 5)) * [10, 1, 0.1, 3, 0] - 2.5).astype(dtype)
    new = (rng.normal(size=(20, 5)) * [30, 1, 0.1, 3, 1] - 2.5).astype(dtype)
    scaling = learn_scaling({"a": sp.csr_array(train)}, ALL, "auto")
    for x in (train, new):
        np.testing.assert_allclose(apply(scaling, x), naive(train, x), rtol=1e-4, atol=1e-6)
    assert apply(scaling, train).max() == 1
    assert (apply(scaling, new) >= 0).all()
    assert real_views(scaling) == ["a"]


@pytest.mark.parametrize("low", [-1.0, 0.5])
def test_scaled_views_have_short_indices_as_all_views(rng, low):
    """Others would take twice the memory in EM, and a compiled kernel of their own."""
    matrix = sp.csr_array(rng.random((40, 5)) + low)
    scaling = learn_scaling({"a": matrix}, ALL, "auto")
    found = scaled("a", matrix, np.ones(40, bool), scaling)
    assert found.indices.dtype == found.indptr.dtype == np.int32


def test_views_without_negative_values_keep_their_ranges(rng):
    train = rng.random((40, 4)) * [1, 10, 100, 1000] + 0.5
    scaling = learn_scaling({"a": sp.csr_array(train)}, ALL, "auto")
    np.testing.assert_allclose(
        apply(scaling, train), (train - train.min(axis=0)) / np.ptp(train, axis=0)
    )
    assert apply(scaling, 2 * train.max(axis=0)[None]).min() > 1  # not cut off above
    assert real_views(scaling) == []
    assert describe_scaling(scaling) == {"a": "each feature to 0..1"}


def test_zeros_are_values_and_absent_documents_stay_empty(rng):
    train = rng.normal(size=(40, 3))
    train[:2] = 0
    present = np.ones((40, 1), bool)
    present[0] = False
    scaling = learn_scaling({"a": sp.csr_array(train)}, present, "auto")
    found = apply(scaling, train, present[:, 0])
    assert (found[0] == 0).all()
    np.testing.assert_allclose(found[1:], naive(train[1:], train[1:]))
    assert (found[1] > 0).all()


def test_the_unit_of_a_view_does_not_matter(rng):
    train = rng.normal(size=(40, 5)) * [1, 2, 3, 4, 5]
    one, other = (learn_scaling({"a": sp.csr_array(s * train)}, ALL, "auto") for s in (1, 1024))
    np.testing.assert_allclose(apply(one, train), apply(other, 1024 * train))


def test_documents_that_are_alike_teach_nothing():
    same = {"a": sp.csr_array(np.full((40, 2), -1.5))}
    with pytest.warns(DataWarning, match="alike in view 'a'"):
        scaling = learn_scaling(same, ALL, "auto")
    assert not apply(scaling, same["a"].toarray()).any()


def test_values_beyond_the_range_are_counted_and_many_are_reported(rng):
    data, _ = clusters(rng)
    model = LinkPLSA(3, random_state=0).fit(data)
    found = model.fold_in({name: x[:10] for name, x in data.items()})
    assert found.clipped == {"real0": 0, "real1": 0}
    beyond = {name: x[:10].astype(np.float32) for name, x in data.items()}
    assert model.fold_in(beyond).clipped == {"real0": 0, "real1": 0}
    beyond["real0"][0, :2] = 1e6
    beyond["real0"][3, 1] = -1e6
    assert count_clipped(Views(beyond), model.scaling_) == {"real0": 3, "real1": 0}
    beyond["real0"][5] = 1e6
    with pytest.warns(DataWarning, match=r"'real0': 15\.0% of the values are beyond"):
        found = model.fold_in(beyond)
    assert found.clipped["real0"] == 9
    assert np.isfinite(found.doc_topic).all()


# -- models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_every_model_takes_real_views_and_keeps_their_scaling(rng, tmp_path, name):
    data, labels = clusters(rng)
    views = Views(data)
    present = views.present.copy()
    data["real0"][:5], present[:5, 0] = 0, False
    views = Views(data, present=present)
    views = views.concat() if name in ONE_VIEW else views
    model = model_class(name)(3, random_state=0, init="kmeans" if name != "voted" else "auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(views)
    assert nmi_max(labels, model.labels_) > 0.5
    assert real_views(model.scaling_) == list(views.names)
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    np.testing.assert_array_equal(again.transform(views), model.transform(views))
    np.testing.assert_array_equal(model.transform(views[:4]), model.transform(views)[:4])


def test_a_matrix_and_its_sparse_copy_are_scaled_alike(rng):
    data, _ = clusters(rng)
    sparse = {name: sp.csc_array(x) for name, x in data.items()}
    one, other = (LinkPLSA(3, random_state=0).fit(d) for d in (data, sparse))
    np.testing.assert_array_equal(one.doc_topic_, other.doc_topic_)


def test_without_scaling_negative_values_are_refused_with_what_to_do(rng):
    data, _ = clusters(rng)
    with pytest.raises(ValueError, match=r"in 'real0', 'real1' \(down to -\S+\).*scaling='auto'"):
        LinkPLSA(3, scaling=None).fit(data)
    counts = rng.poisson(1, (60, 7))
    model = LinkPLSA(3, random_state=0).fit({"counts": counts})
    with pytest.raises(ValueError, match="Negative values in 'counts'"):
        model.transform({"counts": rng.normal(size=(4, 7))})


def test_one_new_document_may_be_whole_numbered_or_sparse(rng):
    data, _ = clusters(rng)
    model = LinkPLSA(3, random_state=0).fit(data)
    for row in ([-1, 0, 2, 0, 0, 1], [-1, -1, -2, 3, 1, 1]):
        assert np.isfinite(model.transform({"real0": [row]})).all()


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_takes_real_views(rng, name):
    data, labels = clusters(rng)
    views, baseline = Views(data, labels=labels), BASELINES[name](3, random_state=0)
    if BASELINES[name].task == "clustering":
        found = baseline.fit(views).labels_
    else:
        found = baseline.fit(views, np.where(np.arange(60) % 4 == 0, labels, -1)).predict(views)
    assert nmi_max(labels, found) > 0.4
    if hasattr(baseline, "predict"):
        some = views if name.endswith("-best") else views.select("real1")
        assert len(baseline.predict(some[:3])) == 3


def test_measurements_beside_sparse_counts_cannot_be_joined(rng):
    data, _ = clusters(rng)
    views = Views({**data, "words": rng.poisson(0.1, (60, 90))})
    with pytest.raises(ValueError, match=r"'real0', 'real1' have negative.*views\.drop"):
        views.concat()
    assert views.drop("words").concat()["all"].min() < 0


def test_a_voter_equals_the_model_of_its_view_alone(rng):
    data, _ = clusters(rng)
    voter = VotedPLSA(3, random_state=0).fit(data).voters_["real0"]
    alone = PLSA(3, random_state=0).fit(data["real0"])
    np.testing.assert_array_equal(voter.doc_topic_, alone.doc_topic_)


@pytest.mark.parametrize("step", ["sqrt", "tfidf", "binary"])
def test_steps_for_counts_are_refused_on_measurements(rng, step):
    views = Views(clusters(rng)[0])
    with pytest.raises(ValueError, match=rf"step '{step}' is for counts.*'real0' has negative"):
        Preprocessing([step]).learn(views)


def test_an_explanation_weighs_the_scaled_numbers(rng):
    data, _ = clusters(rng)
    views = Views(data)
    model = LinkPLSA(3, random_state=0).fit(views)
    query = {"real0": data["real0"][:1]}
    found = coview.search(
        model, query, in_view="real1", views=views, metric="hellinger", explain=True
    )
    reason = found[0].explanation[0]
    counts = model.as_counts(views[:1])["real0"].toarray().ravel()
    assert reason.query_words["real0"]
    for term, weight in reason.query_words["real0"]:
        assert 0 < weight <= counts[int(term)] + 1e-6
