"""Graphs and families of spaces: against brute force, naive loops and numpy's eigh."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from coview.ensemble import neighbors
from coview.ensemble.kmeans import kmeans
from coview.ensemble.spaces import (
    eigenvectors,
    families,
    graph_of,
    is_links,
    links_graph,
    nearest_rows,
    neighbor_graph,
    spectral,
    sum_of_graphs,
    symmetric_normalization,
)
from tests.ensemble.planted import blobs, same_span, symmetric_graph
from tests.reference import ensemble as naive


def cosines(points, near):
    return np.array([points[i] @ points[found].T for i, found in enumerate(near)])


@pytest.mark.parametrize("n_docs", [2, 3, 5, 40])
@pytest.mark.parametrize("n_neighbors", [1, 4, 15])
def test_nearest_rows_are_those_of_brute_force(rng, n_docs, n_neighbors):
    points, _ = blobs(rng, n_docs)
    near = nearest_rows(points, n_neighbors)
    assert near.shape == (n_docs, min(n_neighbors, n_docs - 1))
    np.testing.assert_allclose(cosines(points, near), naive.nearest_rows(points, n_neighbors))


def test_no_row_is_its_own_neighbor_and_none_is_named_twice(rng):
    points = np.repeat(blobs(rng, 4)[0], 5, axis=0)  # ties: every row is there five times
    near = nearest_rows(points, 6)
    assert not (near == np.arange(20)[:, np.newaxis]).any()
    assert all(len(set(row)) == 6 for row in near.tolist())
    np.testing.assert_allclose(cosines(points, near), naive.nearest_rows(points, 6))


def test_rows_in_several_blocks_find_the_same_neighbors(rng, monkeypatch):
    points, _ = blobs(rng, 50)
    at_once = nearest_rows(points, 5)
    monkeypatch.setattr(neighbors, "SCORES_AT_ONCE", 7 * 50)
    np.testing.assert_array_equal(nearest_rows(points, 5), at_once)


@pytest.mark.parametrize("n_docs", [0, 1])
def test_without_other_rows_there_are_no_neighbors(n_docs):
    assert nearest_rows(np.ones((n_docs, 3)), 5).shape == (n_docs, 0)
    assert neighbor_graph(np.ones((n_docs, 3)), 5).shape == (n_docs, n_docs)


def test_a_graph_has_an_edge_where_either_is_near(rng):
    points, _ = blobs(rng, 20)
    near, docs = nearest_rows(points, 3), np.sort(rng.permutation(30)[:20])
    found = graph_of(near, docs, 30)
    np.testing.assert_array_equal(found.toarray(), naive.graph_of(near, docs, 30))


def test_documents_that_lack_the_view_have_no_edge(rng):
    points, _ = blobs(rng, 20)
    points[[4, 9]] = 0
    graph = neighbor_graph(points, 3).toarray()
    assert not graph[[4, 9]].any()
    has = np.setdiff1d(np.arange(20), [4, 9])
    near = nearest_rows(points[has], 3)
    np.testing.assert_array_equal(graph, naive.graph_of(near, has, 20))


def test_symmetric_normalization_is_that_of_the_naive_loop(rng):
    graph = symmetric_graph(rng)
    expected = naive.symmetric_normalization(graph.toarray())
    np.testing.assert_allclose(symmetric_normalization(graph).toarray(), expected, rtol=1e-12)
    assert not expected[-1].any()


def test_graphs_are_added_with_squared_weights(rng):
    graphs, weights = [symmetric_graph(rng) for _ in range(3)], [1.0, 0.5, 0.01]
    expected = naive.sum_of_graphs([g.toarray() for g in graphs], weights)
    found = sum_of_graphs(graphs, np.array(weights)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    nothing = sum_of_graphs([sp.csr_array((4, 4), dtype=np.float32)], np.ones(1))
    assert nothing.nnz == 0


@pytest.mark.parametrize("number", [3, 12])  # by Lanczos, and by eigh
def test_eigenvectors_are_those_of_eigh(rng, number):
    graph = symmetric_graph(rng, 24, density=0.3)
    values, vectors = eigenvectors(graph, number, rng)
    expected, leading = naive.leading_eigenvectors(graph.toarray(), number)
    np.testing.assert_allclose(values, expected, atol=1e-3)
    assert same_span(vectors[:, :3], leading[:, :3]) < 0.05


def test_more_eigenvectors_than_documents_are_all_there_are(rng):
    values, vectors = eigenvectors(symmetric_graph(rng, 5, 0.9), 12, rng)
    assert values.shape == (5,)
    assert vectors.shape == (5, 5)


def cliques(*sizes):
    """Complete graphs that are not linked: every one has an eigenvector of eigenvalue one."""
    return sp.csr_array(sp.block_diag([np.ones((n, n)) - np.eye(n) for n in sizes], format="csr"))


@pytest.mark.parametrize(
    "sizes", [(20, 20, 20), (30, 12, 10, 8), (7,) * 9, (60,), (40, *(1,) * 20), (3, *(1,) * 57)]
)
def test_eigenvectors_of_a_graph_in_parts_are_all_found(sizes, rng):
    graph, parts = cliques(*sizes), sum(n > 1 for n in sizes)
    first = eigenvectors(graph, 5, np.random.default_rng(0))
    expected, leading = naive.leading_eigenvectors(graph.toarray(), 5)
    np.testing.assert_allclose(first[0], expected, atol=1e-3)
    np.testing.assert_allclose(first[1].T @ first[1], np.eye(5), atol=1e-6)
    if parts <= 5:
        assert same_span(first[1][:, :parts], leading[:, :parts]) < 1e-3
    eigenvectors(symmetric_graph(rng, 60), 5, rng)  # whatever was done in between
    second = eigenvectors(graph, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("n_docs", [4, 60])
def test_a_graph_without_edges_tells_nothing(rng, n_docs):
    values, vectors = eigenvectors(sp.csr_array((n_docs, n_docs)), 5, rng)
    assert values.shape == (min(n_docs, 5),)
    assert vectors.shape == (n_docs, min(n_docs, 5))
    assert not vectors.any()


def test_rows_of_eigenvectors_have_length_one(rng):
    points = spectral(symmetric_graph(rng, 30), 3, rng)
    np.testing.assert_allclose(np.linalg.norm(points[:-1], axis=1), 1)


def test_planted_clusters_are_seen_in_every_family(rng):
    points, labels = blobs(rng)
    points[-1] = 0
    found = dict(families(points, neighbor_graph(points, 5), 3, rng))
    assert list(found) == [
        *("fused", "smoothed 2", "smoothed 4", "spectral, fused", "spectral, views"),
        *("spectral, both", "diffusion 4", "diffusion 8"),
    ]
    for name, space in found.items():
        assert len(space) == 90
        assert np.isfinite(space).all(), name
        lengths = np.linalg.norm(space[:-1], axis=1)
        np.testing.assert_allclose(lengths, 1, rtol=1e-6, err_msg=name)
        assert adjusted_rand_score(labels[:-1], kmeans(space[:-1], 3, rng, n_init=5)) == 1, name


@pytest.fixture
def small(rng):
    """Points, the graph of their views, and the graph over which families go."""
    points, _ = blobs(rng, 30)
    of_views = sum_of_graphs([neighbor_graph(points, 4)], np.ones(1))
    docs = np.arange(30)
    near = nearest_rows(points, 20)
    fused = sum(naive.graph_of(near[:, :k], docs, 30) for k in (10, 20))
    return points, of_views, naive.sum_of_graphs([fused], [1.0]) + of_views.toarray()


@pytest.mark.parametrize("times", [2, 4])
def test_smoothing_is_that_of_the_naive_loop(small, times, rng):
    points, of_views, both = small
    found = dict(families(points, of_views, 3, rng))[f"smoothed {times}"]
    np.testing.assert_allclose(found, naive.smoothed(points, both, 0.15, times), atol=1e-5)


@pytest.mark.parametrize("time", [4, 8])
def test_diffusion_weighs_eigenvectors_by_powers_of_their_eigenvalues(small, time, rng):
    points, of_views, both = small
    found = dict(families(points, of_views, 3, rng))[f"diffusion {time}"]
    values, vectors = naive.leading_eigenvectors(both, 6)
    expected = np.array([naive.unit(row) for row in vectors * values**time])
    # eigenvectors have no sign: compare the angles between documents
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=2e-2)


def test_links_are_square_sparse_and_symmetric(rng):
    links = symmetric_graph(rng, 40, density=0.03)
    assert is_links(links)
    assert not is_links(links[:, :-1])
    assert not is_links(sp.csr_array(np.ones((40, 40))))
    one_way = links.toarray()
    one_way[0, 1], one_way[1, 0] = 1, 0
    assert not is_links(sp.csr_array(one_way))


def test_a_graph_of_links_has_no_loops_and_leaves_the_view_alone(rng):
    links = (symmetric_graph(rng, 40, 0.03) + sp.eye_array(40)).tocsr()
    before = links.toarray()
    found = links_graph(links).toarray()
    assert not np.diag(found).any()
    np.testing.assert_allclose(found, before - np.eye(40), rtol=1e-6)
    np.testing.assert_array_equal(links.toarray(), before)
