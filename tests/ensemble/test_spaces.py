"""Graphs and families of spaces: against brute force, naive loops and numpy's eigh."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from coview.ensemble import neighbors
from coview.ensemble.features import Seen, unit_rows
from coview.ensemble.kmeans import kmeans
from coview.ensemble.spaces import (
    agreed,
    eigenvectors,
    families,
    graph_of,
    is_links,
    links_graph,
    mean_degree_one,
    nearest_rows,
    neighbor_graph,
    spectral,
    sum_of_graphs,
    symmetric_normalization,
    usual_neighbors,
    view_graph,
)
from tests.ensemble.planted import blobs, same_span, symmetric_graph
from tests.reference import ensemble as naive

WAYS = ("by features", "by embedding")


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
    found = mean_degree_one(sum_of_graphs(graphs, np.array(weights)))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6)
    assert mean_degree_one(sp.csr_array((4, 4), dtype=np.float32)).nnz == 0


def pairs_of_clusters(rng):
    """Four clusters in pairs, which view 1 tells apart; the others tell something else of both."""
    cluster, other = np.arange(160) % 4, rng.integers(2, size=160)
    views = []
    for v in range(3):
        center = 4 * np.eye(4, 6)[cluster if v == 1 else cluster // 2]
        center[:, 5] += other * (v != 1)
        views.append(unit_rows(center + 0.5 * rng.normal(size=(160, 6))))
    return Seen(views, views, np.ones((160, 3), bool)), cluster


@pytest.mark.parametrize("how", WAYS)
def test_what_one_view_tells_apart_is_not_outvoted_by_views_that_cannot(rng, how):
    seen, cluster = pairs_of_clusters(rng)
    found = dict(families(seen, [None] * 3, np.ones(3), 4, rng))
    labels = kmeans(found[f"spectral, views, {how}"], 4, rng, n_init=10)
    assert adjusted_rand_score(cluster, labels) > 0.9


def test_edges_count_by_how_alike_all_views_find_their_ends(rng):
    seen, _ = pairs_of_clusters(rng)
    seen.has[0, 1], seen.features[1][0] = False, 0
    plain, weights = view_graph(seen.features[0], seen.has[:, 0], 4), np.array([1.0, 0.5, 0.2])
    found = agreed(plain, seen.features, seen.has, weights)
    expected = naive.agreed(plain.toarray(), seen.features, seen.has, weights)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-3, atol=1e-5)
    assert found.sum() == pytest.approx(plain.sum())


def test_a_graph_stays_where_no_neighbors_are_more_alike_than_usual():
    apart, pair = [np.eye(2)], sp.csr_array(np.array([[0, 1], [1, 0]], np.float32))
    found = agreed(pair, apart, np.ones((2, 1), bool), np.ones(1))
    np.testing.assert_array_equal(found.toarray(), pair.toarray())


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


OF_SEVERAL = ("spectral, fused", "spectral, views")  # a single view is the fused space itself
FAMILIES = ("smoothed 2", "smoothed 4", *OF_SEVERAL, "spectral, both", "diffusion 4", "diffusion 8")


def all_families(seen, n_clusters, rng, **options):
    views = len(seen.features)
    return dict(families(seen, [None] * views, np.ones(views), n_clusters, rng, **options))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("views", [1, 2])
def test_planted_clusters_are_seen_in_every_family(rng, sparse, views):
    points, labels = blobs(rng)
    points[-1] = 0
    rows = sp.csr_array(points) if sparse else points
    has = np.repeat(points.any(axis=1)[:, np.newaxis], views, axis=1)
    found = all_families(Seen([rows] * views, [points] * views, has), 3, rng)
    names = [name for name in FAMILIES if views > 1 or name not in OF_SEVERAL]
    assert list(found) == ["fused", *(f"{name}, {how}" for how in WAYS for name in names)]
    for name, space in found.items():
        assert len(space) == 90
        assert np.isfinite(space).all(), name
        lengths = np.linalg.norm(space[:-1], axis=1)
        np.testing.assert_allclose(lengths, 1, rtol=1e-6, err_msg=name)
        assert adjusted_rand_score(labels[:-1], kmeans(space[:-1], 3, rng, n_init=5)) == 1, name


def test_many_topics_have_few_families_that_are_those_of_few_topics(rng):
    points, _ = blobs(rng)
    seen = Seen([points], [points], np.ones((90, 1), bool))
    few = all_families(seen, 3, rng, quick=True)
    assert list(few) == ["fused", "smoothed 2, by features", "smoothed 4, by features"]
    every = all_families(seen, 3, rng)
    for name, space in few.items():
        np.testing.assert_array_equal(space, every[name])


@pytest.mark.parametrize("how", WAYS)
def test_links_stand_for_the_neighbors_of_their_view(rng, how):
    points, _ = blobs(rng, 60)
    halves = np.arange(60) // 30  # what only the links tell
    together = sp.csr_array((halves[:, np.newaxis] == halves) - np.eye(60))
    seen = Seen([points, np.eye(60)], [points, np.eye(60)], np.ones((60, 2), bool))
    found = dict(families(seen, [None, together], np.array([1e-3, 1.0]), 2, rng))
    space = found[f"spectral, views, {how}"]
    assert adjusted_rand_score(halves, kmeans(space, 2, rng, n_init=5)) == 1


def test_neighbors_are_at_most_two_thirds_of_a_cluster():
    for n_docs in (2, 5, 30, 100, 1000):
        for n_clusters in (1, 3, 40, 1200):
            found = usual_neighbors(15, n_docs, n_clusters)
            assert 3 <= found <= 15
            assert found <= max(2 * n_docs / (3 * n_clusters), 3)
    assert usual_neighbors(2, 10, 10) == 2


@pytest.mark.parametrize("sparse", [False, True])
def test_the_graph_of_a_view_is_of_those_who_have_it_by_all_features(rng, sparse):
    points, _ = blobs(rng, 30)
    points[[4, 9]] = 0
    rows = sp.csr_array(points) if sparse else points
    seen = Seen([np.eye(30), rows], [np.eye(30)] * 2, np.ones((30, 2), bool))
    seen.has[[4, 9], 1] = False
    has = np.setdiff1d(np.arange(30), [4, 9])
    near = nearest_rows(points[has], 6)  # two thirds of 28 / 3
    found = view_graph(seen.features[1], seen.has[:, 1], 3).toarray()
    np.testing.assert_array_equal(found, naive.graph_of(near, has, 30))


@pytest.fixture
def small(rng):
    """Documents whose features and embedding differ, and the graphs over which families go."""
    points = unit_rows(rng.normal(size=(30, 5)) + 2 * np.eye(3, 5)[np.arange(30) % 3])
    embedding = unit_rows(np.ascontiguousarray(points[:, :3]))
    docs, both = np.arange(30), {}
    for how, rows in zip(WAYS, (points, embedding), strict=True):
        near = nearest_rows(rows, 6)  # two thirds of a cluster
        of_views = naive.sum_of_graphs([naive.graph_of(near, docs, 30)], [1.0])
        fused = sum(naive.graph_of(near[:, :k], docs, 30) for k in (3, 6))
        both[how] = naive.sum_of_graphs([fused], [1.0]) + of_views
    assert (both["by features"] != both["by embedding"]).any()
    return Seen([points], [embedding], np.ones((30, 1), bool)), both


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("times", [2, 4])
def test_smoothing_is_that_of_the_naive_loop(small, times, how, rng):
    seen, both = small
    found = all_families(seen, 3, rng)[f"smoothed {times}, {how}"]
    expected = naive.smoothed(seen.embeddings[0], both[how], 0.15, times)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("time", [4, 8])
def test_diffusion_weighs_eigenvectors_by_powers_of_their_eigenvalues(small, time, how, rng):
    seen, both = small
    found = all_families(seen, 3, rng)[f"diffusion {time}, {how}"]
    values, vectors = naive.leading_eigenvectors(both[how], 6)
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
