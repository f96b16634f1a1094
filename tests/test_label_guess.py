"""The guess of classes from a few labels: the space of all views, propagation, new documents."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import label_guess
from coview.datasets import make_views
from coview.ensemble.spaces import symmetric_normalization
from coview.label_guess import (
    guess_classes,
    guess_of_new,
    learn_space,
    pack_space,
    propagate,
)


@pytest.fixture(scope="module")
def views():
    return make_views(150, 3, [60, 40], doc_length=40, view_noise=0.2, missing=0.1, random_state=1)


@pytest.fixture(scope="module")
def space(views):
    return learn_space(views.matrices, views.present, 3, seed=0)


def few(labels, per_class=2):
    """All but the first documents of each class unlabeled."""
    kept = np.full(len(labels), -1)
    for k in np.unique(labels):
        kept[np.flatnonzero(labels == k)[:per_class]] = k
    return kept


def accuracy(guess, labels):
    return (guess.argmax(axis=1) == labels).mean()


def test_the_guess_is_probabilities_and_mostly_right(views, space):
    guess = guess_classes(space, few(views.labels), 3)
    np.testing.assert_allclose(guess.sum(axis=1), 1)
    assert (guess >= 0).all()
    assert accuracy(guess, views.labels) > 0.9


def test_the_graph_is_symmetric_without_loops_and_normalized(space):
    graph = space.graph
    assert abs(graph - graph.T).max() < 1e-12
    assert not graph.diagonal().any()
    assert abs(np.linalg.eigvalsh(graph.toarray())).max() == pytest.approx(1)


def test_points_have_length_one_or_zero(views, space):
    lengths = np.linalg.norm(space.points, axis=1)
    np.testing.assert_allclose(lengths, views.present.any(axis=1), atol=1e-5)


def test_propagation_solves_its_equation():
    rng = np.random.default_rng(0)
    weights = sp.csr_array(np.triu(rng.random((12, 12)), 1))
    graph = symmetric_normalization(sp.csr_array(weights + weights.T))
    labels = np.array([0, 1, 2, *[-1] * 9])
    given = np.zeros((12, 3))
    given[:3] = np.eye(3)
    exact = np.linalg.solve(np.eye(12) - label_guess.ALPHA * graph.toarray(), given)
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(propagate(graph, labels, 3), exact, atol=1e-4)


def test_propagation_over_many_documents_has_the_bits_of_that_over_few(space, monkeypatch):
    labels = np.where(np.arange(len(space.points)) % 7, -1, np.arange(len(space.points)) % 3)
    few = propagate(space.graph, labels, 3)
    monkeypatch.setattr(label_guess, "FEW_DOCUMENTS", 0)
    np.testing.assert_array_equal(propagate(space.graph, labels, 3), few)


def test_where_no_label_comes_propagation_gives_the_shares_of_classes():
    graph = sp.csr_array((4, 4))
    found = propagate(graph, np.array([0, 0, 1, -1]), 2)
    np.testing.assert_allclose(found[3], [2 / 3, 1 / 3])


def test_noise_and_shuffled_rows_are_not_trusted(views):
    rng = np.random.default_rng(0)
    signal = views["view_0"]
    noise = sp.csr_array(rng.poisson(0.5, signal.shape).astype(float))
    shuffled = signal[rng.permutation(signal.shape[0])]
    counts = dict(zip("abcd", (signal, views["view_1"], noise, shuffled), strict=True))
    present = np.ones((signal.shape[0], 4), bool)
    trust = np.array(list(learn_space(counts, present, 3, seed=0).trust.values()))
    assert trust[:2].min() > 0.5
    assert trust[2:].max() < 0.1


def test_symmetric_links_are_their_own_graph():
    pairs = sp.csr_array(np.kron(np.eye(4), [[0, 1], [1, 0]]))
    space = learn_space({"links": pairs}, np.ones((8, 1), bool), 2, seed=0)
    away = np.ones((8, 8), bool)
    for i in range(0, 8, 2):
        away[i : i + 2, i : i + 2] = False
    of_links = label_guess._fused_graph(
        [pairs], [np.zeros((8, 1))], np.zeros((8, 1)), np.ones(1), np.arange(8)
    )
    assert not of_links.toarray()[away].any()
    assert space.graph.shape == (8, 8)


def test_new_documents_have_the_guess_of_their_neighbors(views):
    train, new = views[:110], views[110:]
    space = learn_space(train.matrices, train.present, 3, seed=0)
    mixtures = np.eye(3)[train.labels]
    guess = guess_of_new(pack_space(space), new.matrices, mixtures)
    np.testing.assert_allclose(guess.sum(axis=1), 1)
    assert accuracy(guess, new.labels) > 0.85
    one_view = guess_of_new(pack_space(space), {"view_1": new["view_1"]}, mixtures)
    has = new.present[:, 1]
    assert accuracy(one_view[has], new.labels[has]) > 0.7
    np.testing.assert_allclose(one_view[~has], 1 / 3)


def test_new_documents_do_not_depend_on_each_other(views, space):
    mixtures = np.eye(3)[views.labels]
    together = guess_of_new(pack_space(space), views.matrices, mixtures)
    alone = guess_of_new(pack_space(space), views[7:8].matrices, mixtures)
    np.testing.assert_allclose(together[7], alone[0])


def test_of_many_documents_a_sample_is_searched(views, monkeypatch):
    monkeypatch.setattr(label_guess, "MAX_PAIRS", 1)
    monkeypatch.setattr(label_guess, "MIN_SEARCHED", 60)
    space = learn_space(views.matrices, views.present, 3, seed=0)
    assert len(space.searched) == 60
    assert accuracy(guess_classes(space, few(views.labels), 3), views.labels) > 0.85


def test_documents_without_any_feature_get_the_shares_of_classes(views):
    counts = {
        name: sp.csr_array(m.toarray() * (np.arange(150) > 0)[:, None])
        for name, m in views.matrices.items()
    }
    space = learn_space(counts, views.present, 3, seed=0)
    labels = few(views.labels)
    labels[0] = -1
    guess = guess_classes(space, labels, 3)
    shares = np.bincount(labels[labels >= 0]) / (labels >= 0).sum()
    np.testing.assert_allclose(guess[0], shares)
