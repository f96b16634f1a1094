"""The warm start by mini-batches: against a naive loop, without zeros, further than random."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import MVPLSA, LinkPLSA, Views
from coview.datasets import make_views
from coview.em.prepared import prepare
from coview.em.starts import random_start, stepwise_start
from coview.em.stepwise import BATCHES, FORGETTING, MIXTURE_STEPS, SPREAD
from tests.reference import link_plsa

OPTIONS = {"ensemble": 0, "view_weights": "balanced", "tol": 0.0, "random_state": 0}


@pytest.fixture(scope="module")
def views():
    return make_views(300, 4, [60, 40], doc_length=20, random_state=0, missing=0.1)


def naive_epoch(Xs, theta, p_w_zs, present, batches):
    """The equations of the module's docstring, in loops over dense arrays."""
    theta, k = theta.copy(), theta.shape[1]
    mass = sum(X.sum(axis=1) for X in Xs)
    expected = [p * mass.sum() / k for p in p_w_zs]
    for t, batch in enumerate(batches):
        batch = np.sort(batch)
        topics = [s / s.sum(axis=1, keepdims=True) for s in expected]
        rows, here = [X[batch] for X in Xs], present[batch]
        for _ in range(MIXTURE_STEPS + 1):
            counts = link_plsa.expected_counts(rows, theta[batch], topics, here)
            theta[batch] = link_plsa.m_step_theta(counts, theta[batch])
        moved = link_plsa.m_step_emissions(counts, topics)
        eta = (t + 2) ** -FORGETTING
        for v in range(len(Xs)):
            for z in range(k):
                n_z = len(batches) * sum(mass[d] * theta[d, z] for d in batch)
                expected[v][z] = (1 - eta) * expected[v][z] + eta * n_z * moved[v][z]
    return (1 - SPREAD) * theta + SPREAD / k, [s / s.sum(axis=1, keepdims=True) for s in expected]


def test_the_naive_loop(views):
    data = prepare(views, {}, np.float64)
    rng = np.random.default_rng(3)
    random = random_start(data, 4, rng)
    batches = np.array_split(rng.permutation(300), BATCHES)
    dense = [m.toarray() for m in data.matrices]
    theta, topics = naive_epoch(dense, random.theta[:, :4], random.p_w_z, data.present, batches)
    found = stepwise_start(data, 4, np.random.default_rng(3))
    np.testing.assert_allclose(found.theta[:, :4], theta, atol=1e-10)
    for mine, other in zip(found.p_w_z, topics, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)


def test_it_begins_where_em_from_random_topics_comes_much_later(views):
    plain = LinkPLSA(4, init="random", max_iter=10, **OPTIONS).fit(views)
    warm = LinkPLSA(4, init="stepwise", max_iter=3, **OPTIONS).fit(views)
    assert warm.objective_ > plain.objective_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_share_is_zero_where_it_could_grow(views, dtype):
    long = Views({name: m * 500 for name, m in views.matrices.items()}, present=views.present)
    data = prepare(long, {}, dtype)
    start = stepwise_start(data, 4, np.random.default_rng(0))
    assert start.theta.dtype == dtype
    assert (start.theta[:, :4] > 0).all()
    assert not start.theta[:, 4:].any()
    np.testing.assert_allclose(start.theta.sum(axis=1), 1, rtol=1e-5)
    for p_w_z, matrix in zip(start.p_w_z, data.matrices, strict=True):
        seen = np.asarray(matrix.sum(axis=0)).ravel() > 0
        assert (p_w_z[:, seen] > 0).all()
        np.testing.assert_allclose(p_w_z.sum(axis=1), 1)


def test_pinned_and_empty_documents_begin_as_in_every_start(views):
    labels = np.full(300, -1)
    labels[:40] = np.arange(40) % 4
    model = MVPLSA(4, 6, init="stepwise", max_iter=2, **OPTIONS).fit(views, labels=labels)
    np.testing.assert_array_equal(model.doc_topic_[:40], np.eye(4)[labels[:40]])
    few = Views({"a": sp.csr_array(np.array([[2, 1, 0], [0, 0, 0], [0, 3, 1]]))})
    model = LinkPLSA(2, init="stepwise", max_iter=2, **OPTIONS).fit(few)
    np.testing.assert_array_equal(model.doc_topic_[1], [0.5, 0.5])


def test_the_number_of_threads_does_not_matter(views):
    one, two = (
        LinkPLSA(4, init="stepwise", max_iter=2, n_jobs=n, **OPTIONS).fit(views) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.doc_topic_, two.doc_topic_)
