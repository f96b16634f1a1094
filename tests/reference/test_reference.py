"""Sanity tests of the references themselves: identities, monotonicity, brute force."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq, linear_sum_assignment, minimize
from scipy.special import wrightomega
from sklearn.metrics import normalized_mutual_info_score

from tests.reference import (
    divergence_coplsa,
    dual_plsa,
    link_plsa,
    ltm,
    metrics,
    mggm,
    mvplsa,
    pairwise_coplsa,
    plsa,
    squarem,
    voted_plsa,
)

D, W, W2, K, Y, N_ITER = 7, 9, 6, 3, 4, 8
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def rows(rng, n, m):
    return rng.dirichlet(np.ones(m), size=n)


def counts(rng, n, m):
    """Sparse counts with an empty document (row 2) and a feature never seen (column 1)."""
    X = rng.poisson(1.2, size=(n, m)).astype(float)
    X[2] = 0
    X[:, 1] = 0
    return X


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def one(rng):
    return counts(rng, D, W), rows(rng, D, K), rows(rng, K, W)


@pytest.fixture
def two(rng):
    Xs = [counts(rng, D, W), counts(rng, D, W2)]
    present = np.ones((D, 2), dtype=bool)
    present[3, 0] = present[5, 1] = False
    return Xs, rows(rng, D, K), present


def factors(rng, Xs):
    return [rows(rng, K, Y) for _ in Xs], [rows(rng, Y, X.shape[1]) for X in Xs]


def assert_rows_sum_to_one(*arrays):
    for p in arrays:
        assert np.all(p >= 0)
        np.testing.assert_allclose(p.sum(axis=-1), 1, atol=1e-12)


def assert_never_falls(values):
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) >= -1e-10 * np.abs(values[0])), values


def pins(theta, *docs):
    """Skewed rows for the given documents, and the mask (one-hot rows would stay by themselves)."""
    mask = np.zeros(len(theta), dtype=bool)
    theta = theta.copy()
    for d in docs:
        mask[d] = True
        theta[d] = 0.8 * np.eye(theta.shape[1])[d % theta.shape[1]] + 0.2 / theta.shape[1]
    return theta, mask


# --- PLSA ------------------------------------------------------------------------------------


def test_posterior_sums_to_one_on_counted_cells_only(one):
    X, theta, p_w_z = one
    np.testing.assert_allclose(plsa.e_step(X, theta, p_w_z).sum(axis=2), X > 0, atol=1e-12)


def test_zero_over_zero_is_zero(one):
    X, theta, p_w_z = one
    p_w_z[:, 4] = 0
    assert np.all(plsa.e_step(X, theta, p_w_z)[:, 4] == 0)
    assert plsa.log_likelihood(X, theta, p_w_z) == -np.inf


@pytest.mark.parametrize("fit", [plsa.plsa, plsa.plsa_alternating])
@pytest.mark.parametrize("docs", [(), (0, 4)])
def test_plsa_rises_and_stays_stochastic(one, fit, docs):
    X, theta, p_w_z = one
    theta, pinned = pins(theta, *docs)
    states, values = fit(X, theta, p_w_z, N_ITER, pinned)
    assert len(states) == N_ITER
    assert len(values) == N_ITER + 1
    assert_never_falls(values)
    for new_theta, new_p_w_z in states:
        assert_rows_sum_to_one(new_theta, new_p_w_z)
        np.testing.assert_array_equal(new_theta[pinned], theta[pinned])
        np.testing.assert_array_equal(new_theta[2], theta[2])


def test_plsa_by_the_factorised_formulas(one):
    X, theta, p_w_z = one
    states, _ = plsa.plsa(X, theta, p_w_z, 3)
    for new_theta, new_p_w_z in states:
        ratio = X / (theta @ p_w_z + (X == 0))
        theta_counts, emission_counts = theta * (ratio @ p_w_z.T), p_w_z * (theta.T @ ratio)
        theta_counts[2] = theta[2]
        theta = theta_counts / theta_counts.sum(axis=1, keepdims=True)
        p_w_z = emission_counts / emission_counts.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(new_theta, theta, **CLOSE)
        np.testing.assert_allclose(new_p_w_z, p_w_z, **CLOSE)


def test_scaling_all_counts_leaves_the_iterates(one):
    X, theta, p_w_z = one
    for a, b in zip(
        plsa.plsa(X, theta, p_w_z, 5)[0], plsa.plsa(7 * X, theta, p_w_z, 5)[0], strict=True
    ):
        np.testing.assert_allclose(a[0], b[0], **CLOSE)
        np.testing.assert_allclose(a[1], b[1], **CLOSE)


def test_one_topic_is_the_corpus_distribution_after_one_step(one):
    X = one[0]
    states, _ = plsa.plsa(X, np.ones((D, 1)), np.full((1, W), 1 / W), 1)
    np.testing.assert_allclose(states[0][1][0], X.sum(axis=0) / X.sum(), **CLOSE)


def test_a_dead_topic_keeps_its_row(one):
    X, theta, p_w_z = one
    theta[:, 0] = 0
    theta /= theta.sum(axis=1, keepdims=True)
    (_, new), *_ = plsa.plsa(X, theta, p_w_z, 1)[0]
    np.testing.assert_array_equal(new[0], p_w_z[0])


def test_fold_in_rises_to_one_value_from_two_starts(one, rng):
    X, theta, p_w_z = one
    states, values = plsa.fold_in(X, theta, p_w_z, 3000)
    assert_never_falls(values)
    assert_rows_sum_to_one(states[-1])
    other = plsa.fold_in(X, rows(rng, D, K), p_w_z, 3000)[1]
    np.testing.assert_allclose(values[-1], other[-1], rtol=1e-6)


def test_alternating_differs_from_joint_in_theta_only_after_one_step(one):
    joint, alternating = plsa.joint_step(*one), plsa.alternating_step(*one)
    np.testing.assert_array_equal(joint[1], alternating[1])
    assert np.abs(joint[0] - alternating[0]).max() > 1e-3


# --- dual PLSA, Link-PLSA, MVPLSA ------------------------------------------------------------


@pytest.mark.parametrize("docs", [(), (0, 4)])
def test_dual_plsa_rises_and_stays_stochastic(one, rng, docs):
    X, theta, _ = one
    theta, pinned = pins(theta, *docs)
    states, values = dual_plsa.dual_plsa(X, theta, rows(rng, K, Y), rows(rng, Y, W), N_ITER, pinned)
    assert_never_falls(values)
    for state in states:
        assert_rows_sum_to_one(*state)
        np.testing.assert_array_equal(state[0][pinned], theta[pinned])


def test_dual_plsa_with_identity_links_is_plsa(one):
    X, theta, p_w_z = one
    theta, pinned = pins(theta, 1)
    dual, dual_values = dual_plsa.dual_plsa(X, theta, np.eye(K), p_w_z, N_ITER, pinned)
    single, values = plsa.plsa(X, theta, p_w_z, N_ITER, pinned)
    for (theta_a, p_y_z, p_w_y), (theta_b, new_p_w_z) in zip(dual, single, strict=True):
        np.testing.assert_array_equal(p_y_z, np.eye(K))
        np.testing.assert_allclose(theta_a, theta_b, **CLOSE)
        np.testing.assert_allclose(p_w_y, new_p_w_z, **CLOSE)
    np.testing.assert_allclose(dual_values, values, **CLOSE)


def test_dual_plsa_by_explicit_loops(one, rng):
    X, theta, _ = one
    p_y_z, p_w_y = rows(rng, K, Y), rows(rng, Y, W)
    c_theta, c_y_z, c_w_y = np.zeros((D, K)), np.zeros((K, Y)), np.zeros((Y, W))
    for d in range(D):
        for w in range(W):
            total = sum(theta[d, z] * p_y_z[z, y] * p_w_y[y, w] for z in range(K) for y in range(Y))
            for z in range(K):
                for y in range(Y):
                    n = X[d, w] * theta[d, z] * p_y_z[z, y] * p_w_y[y, w] / total
                    c_theta[d, z] += n
                    c_y_z[z, y] += n
                    c_w_y[y, w] += n
    c_theta[2] = theta[2]
    ((state,), _) = dual_plsa.dual_plsa(X, theta, p_y_z, p_w_y, 1)
    for new, c in zip(state, (c_theta, c_y_z, c_w_y), strict=True):
        np.testing.assert_allclose(new, c / c.sum(axis=1, keepdims=True), **CLOSE)


@pytest.mark.parametrize("docs", [(), (0, 4)])
@pytest.mark.parametrize("weights", [None, (0.3, 1.7)])
def test_link_plsa_rises_and_stays_stochastic(two, rng, docs, weights):
    Xs, theta, present = two
    theta, pinned = pins(theta, *docs)
    p_w_zs = [rows(rng, K, X.shape[1]) for X in Xs]
    states, values = link_plsa.link_plsa(Xs, theta, p_w_zs, N_ITER, weights, present, pinned)
    assert_never_falls(values)
    for new_theta, new_p_w_zs in states:
        assert_rows_sum_to_one(new_theta, *new_p_w_zs)
        np.testing.assert_array_equal(new_theta[pinned], theta[pinned])


def test_link_plsa_with_one_view_is_plsa(one):
    X, theta, p_w_z = one
    link, link_values = link_plsa.link_plsa([X], theta, [p_w_z], N_ITER)
    single, values = plsa.plsa(X, theta, p_w_z, N_ITER)
    for (theta_a, (p_a,)), (theta_b, p_b) in zip(link, single, strict=True):
        np.testing.assert_allclose(theta_a, theta_b, **CLOSE)
        np.testing.assert_allclose(p_a, p_b, **CLOSE)
    np.testing.assert_allclose(link_values, values, **CLOSE)


def test_an_absent_view_is_a_view_without_counts_for_shared_mixtures(two, rng):
    Xs, theta, present = two
    p_w_zs = [rows(rng, K, X.shape[1]) for X in Xs]
    masked, _ = link_plsa.link_plsa(Xs, theta, p_w_zs, 4, present=present)
    Xs[0][3] = Xs[1][5] = 0
    emptied, _ = link_plsa.link_plsa(Xs, theta, p_w_zs, 4)
    np.testing.assert_allclose(masked[-1][0], emptied[-1][0], **CLOSE)
    np.testing.assert_allclose(masked[-1][1][0], emptied[-1][1][0], **CLOSE)


@pytest.mark.parametrize("docs", [(), (0, 4)])
@pytest.mark.parametrize("weights", [None, (0.3, 1.7)])
def test_mvplsa_rises_and_stays_stochastic(two, rng, docs, weights):
    Xs, theta, present = two
    theta, pinned = pins(theta, *docs)
    states, values = mvplsa.mvplsa(Xs, theta, *factors(rng, Xs), N_ITER, weights, present, pinned)
    assert_never_falls(values)
    for new_theta, p_y_zs, p_w_ys in states:
        assert_rows_sum_to_one(new_theta, *p_y_zs, *p_w_ys)
        np.testing.assert_array_equal(new_theta[pinned], theta[pinned])


def test_mvplsa_with_one_view_is_dual_plsa(one, rng):
    X, theta, _ = one
    p_y_z, p_w_y = rows(rng, K, Y), rows(rng, Y, W)
    many, many_values = mvplsa.mvplsa([X], theta, [p_y_z], [p_w_y], N_ITER)
    single, values = dual_plsa.dual_plsa(X, theta, p_y_z, p_w_y, N_ITER)
    for (theta_a, (links_a,), (p_a,)), (theta_b, links_b, p_b) in zip(many, single, strict=True):
        np.testing.assert_allclose(theta_a, theta_b, **CLOSE)
        np.testing.assert_allclose(links_a, links_b, **CLOSE)
        np.testing.assert_allclose(p_a, p_b, **CLOSE)
    np.testing.assert_allclose(many_values, values, **CLOSE)


def test_mvplsa_with_identity_links_is_link_plsa(two, rng):
    Xs, theta, present = two
    p_w_zs = [rows(rng, K, X.shape[1]) for X in Xs]
    many, _ = mvplsa.mvplsa(Xs, theta, [np.eye(K)] * 2, p_w_zs, 4, (1, 2), present)
    link, _ = link_plsa.link_plsa(Xs, theta, p_w_zs, 4, (1, 2), present)
    np.testing.assert_allclose(many[-1][0], link[-1][0], **CLOSE)
    np.testing.assert_allclose(many[-1][2][1], link[-1][1][1], **CLOSE)


def test_swapping_the_views_swaps_the_result(two, rng):
    Xs, theta, present = two
    links, topics = factors(rng, Xs)
    a, _ = mvplsa.mvplsa(Xs, theta, links, topics, 4, present=present)
    b, _ = mvplsa.mvplsa(Xs[::-1], theta, links[::-1], topics[::-1], 4, present=present[:, ::-1])
    np.testing.assert_allclose(a[-1][0], b[-1][0], **CLOSE)
    np.testing.assert_allclose(a[-1][2][0], b[-1][2][1], **CLOSE)


def test_shared_fold_in_rises(two, rng):
    Xs, theta, present = two
    links, topics = factors(rng, Xs)
    p_w_zs = [link @ p for link, p in zip(links, topics, strict=True)]
    a, values = mvplsa.fold_in(Xs, theta, links, topics, 6, (1, 2), present)
    b, _ = link_plsa.fold_in(Xs, theta, p_w_zs, 6, (1, 2), present)
    assert_never_falls(values)
    np.testing.assert_allclose(a[-1], b[-1], **CLOSE)


# --- metrics ---------------------------------------------------------------------------------


def test_perfect_clusterings_score_one_whatever_the_names():
    true, pred = [0, 0, 1, 1, 2], ["b", "b", "c", "c", "a"]
    assert metrics.accuracy(true, pred) == 1
    assert metrics.nmi(true, pred) == pytest.approx(1)
    assert metrics.nmi(true, pred, "mean") == pytest.approx(1)
    assert metrics.pairwise_f(true, pred) == 1
    assert metrics.purity(true, pred) == 1


def test_degenerate_clusterings():
    assert metrics.nmi([0, 0], [1, 1]) == 1
    assert metrics.nmi([0, 1], [1, 1]) == 0
    assert metrics.pairwise_f([0, 0], [0, 1]) == 0
    assert metrics.accuracy([0, 0, 0, 0], [0, 1, 2, 2]) == 0.5
    assert metrics.purity([0, 0, 0, 0], [0, 1, 2, 2]) == 1


@pytest.mark.parametrize("n_clusters", [3, 5])
def test_clustering_scores_by_other_means(rng, n_clusters):
    true, pred = rng.integers(4, size=40), rng.integers(n_clusters, size=40)
    table = np.array(metrics.contingency(true, pred))
    best = table[linear_sum_assignment(-table)].sum() / 40
    assert metrics.accuracy(true, pred) == pytest.approx(best)
    for normalizer, average in (("max", "max"), ("mean", "arithmetic")):
        expected = normalized_mutual_info_score(true, pred, average_method=average)
        assert metrics.nmi(true, pred, normalizer) == pytest.approx(expected)
    pairs = (table * (table - 1)).sum() / 2
    rows_, columns = table.sum(axis=1), table.sum(axis=0)
    both = (rows_ * (rows_ - 1)).sum() / 2 + (columns * (columns - 1)).sum() / 2
    assert metrics.pairwise_f(true, pred) == pytest.approx(2 * pairs / both)
    assert metrics.purity(true, pred) == pytest.approx(table.max(axis=0).sum() / 40)


def test_average_precision_by_hand():
    scores, relevant = [0.9, 0.8, 0.7, 0.6, 0.5], [True, False, True, False, True]
    at = [1, 2 / 3, 3 / 5]
    assert metrics.average_precision(scores, relevant) == pytest.approx(sum(at) / 3)
    assert metrics.average_precision(scores, relevant, top=2) == pytest.approx(sum(at[:2]) / 2)
    assert metrics.average_precision(scores, relevant, "within", 4) == pytest.approx(
        sum(at[:2]) / 2
    )
    assert metrics.average_precision(scores, relevant, "precision", 4) == 0.5
    assert metrics.average_precision(scores, relevant, "full", 1) == pytest.approx(sum(at) / 3)
    assert metrics.average_precision(scores, [False] * 5) == 0


def test_ties_are_ranked_by_index():
    assert metrics.ranking([1, 2, 1, 2]) == [1, 3, 0, 2]
    assert metrics.median_rank(np.ones((3, 3))) == 2
    assert metrics.median_rank(np.eye(3)) == 1
    assert metrics.median_rank(np.eye(3), partners=[1, 0, 1]) == 2


def test_mean_average_precision_is_the_mean_over_queries():
    similarity = [[3, 2, 1], [1, 2, 3]]
    assert metrics.mean_average_precision(similarity, "ab", "aba") == pytest.approx(
        ((1 + 2 / 3) / 2 + 1 / 2) / 2
    )


# --- LTM and MGGM ----------------------------------------------------------------------------


@pytest.fixture
def graph(rng):
    return ltm.knn_graph(rng.normal(size=(D, 2)), 2)


def test_neighbors_exclude_self_and_break_ties_by_index():
    points = np.zeros((4, 1))
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = expected[0, 2] = expected[2, 0] = 1
    expected[0, 3] = expected[3, 0] = 1
    np.testing.assert_array_equal(ltm.knn_graph(points, 1), expected)
    present = np.array([False, True, True, True])
    isolated = ltm.knn_graph(points, 1, present)
    assert isolated[0].sum() == 0
    assert isolated[1].sum() == 2


def test_roughness_is_the_sum_over_edges(graph, rng):
    theta = rows(rng, D, K)
    by_loops = sum(
        graph[i, s] * np.sum((theta[i] - theta[s]) ** 2) / 2 for i in range(D) for s in range(D)
    )
    assert ltm.roughness(theta, graph) == pytest.approx(by_loops)


def test_symmetric_kl_roughness_is_a_trace_and_infinite_at_zeros(graph, rng):
    theta = rows(rng, D, K)
    trace = np.trace(theta.T @ ltm.laplacian(graph) @ np.log(theta))
    assert ltm.symmetric_kl_roughness(theta, graph) == pytest.approx(trace)
    theta[0] = np.eye(K)[0]
    assert ltm.symmetric_kl_roughness(theta, graph) == np.inf


def quadratic(flat, target, mass, U, lam):
    """What Eq. 15 minimizes."""
    Y = flat.reshape(target.shape)
    fit = sum(mass[i] * np.sum((Y[i] - target[i]) ** 2) / 2 for i in range(len(mass)))
    return fit + lam / 2 * ltm.roughness(Y, U)


@pytest.mark.parametrize("docs", [(), (0, 4)])
@pytest.mark.parametrize("lam", [0.1, 3.0])
def test_graph_solve_is_the_minimizer_of_the_quadratic(graph, rng, docs, lam):
    theta, pinned = pins(rows(rng, D, K), *docs)
    V = rng.gamma(1.0, size=(D, K))
    mass = V.sum(axis=1)
    new = ltm.graph_solve(V, graph, lam, theta, pinned)
    assert_rows_sum_to_one(new)
    np.testing.assert_array_equal(new[pinned], theta[pinned])
    args = (V / mass[:, None], mass, graph, lam)
    at_minimum = quadratic(new.ravel(), *args)
    free = np.flatnonzero(~pinned)
    for i, k in itertools.product(free, range(K)):
        for h in (1e-4, -1e-4):
            moved = new.copy()
            moved[i, k] += h
            rise = quadratic(moved.ravel(), *args) - at_minimum
            curvature = mass[i] + lam * graph[i].sum()
            assert rise == pytest.approx(curvature * h * h / 2, rel=1e-4)  # no linear term


def test_strong_smoothing_gives_the_mass_weighted_mean(rng):
    ring = np.zeros((D, D))
    for i in range(D):
        ring[i, (i + 1) % D] = ring[(i + 1) % D, i] = 1
    V = rng.gamma(1.0, size=(D, K))
    new = ltm.graph_solve(V, ring, 1e8, rows(rng, D, K))
    np.testing.assert_allclose(new, np.tile(V.sum(axis=0) / V.sum(), (D, 1)), atol=1e-6)


def test_documents_without_mass_take_their_neighbors_or_stay(rng):
    U = np.zeros((4, 4))
    U[0, 1] = U[1, 0] = U[2, 3] = U[3, 2] = 1
    V = np.zeros((4, K))
    V[0] = rng.gamma(1.0, size=K)
    theta = rows(rng, 4, K)
    new = ltm.graph_solve(V, U, 2.0, theta)
    np.testing.assert_allclose(new[0], V[0] / V[0].sum())
    np.testing.assert_allclose(new[1], new[0])
    np.testing.assert_array_equal(new[2:], theta[2:])
    held = ltm.graph_solve(V, U, 2.0, theta, np.array([False, False, False, True]))
    np.testing.assert_allclose(held[2], theta[3])


def test_ltm_without_strength_is_plsa(one, graph):
    X, theta, p_w_z = one
    theta, pinned = pins(theta, 1)
    smoothed, smoothed_values = ltm.ltm(X, theta, p_w_z, N_ITER, graph, 0.0, pinned)
    single, values = plsa.plsa(X, theta, p_w_z, N_ITER, pinned)
    for a, b in zip(smoothed, single, strict=True):
        np.testing.assert_allclose(a[0], b[0], **CLOSE)
        np.testing.assert_allclose(a[1], b[1], **CLOSE)
    np.testing.assert_allclose(smoothed_values, values, **CLOSE)


def test_ltm_stays_stochastic_and_scales(one, graph):
    X, theta, p_w_z = one
    theta, pinned = pins(theta, 1)
    states, _ = ltm.ltm(X, theta, p_w_z, N_ITER, graph, 2.0, pinned)
    scaled, _ = ltm.ltm(5 * X, theta, p_w_z, N_ITER, graph, 10.0, pinned)
    for a, b in zip(states, scaled, strict=True):
        assert_rows_sum_to_one(*a)
        np.testing.assert_array_equal(a[0][pinned], theta[pinned])
        np.testing.assert_allclose(a[0], b[0], rtol=1e-10)


def test_lapplsi_rises_and_without_strength_and_smoothing_is_plsa(one, graph):
    X, theta, p_w_z = one
    states, values = ltm.lapplsi(X, theta, p_w_z, N_ITER, graph, 1.5, 0.3)
    assert_never_falls(values)
    assert_rows_sum_to_one(*states[-1])
    plain, _ = ltm.lapplsi(X, theta, p_w_z, 3, graph, 0.0, 0.3, max_smooth=0)
    np.testing.assert_allclose(plain[-1][0], plsa.plsa(X, theta, p_w_z, 3)[0][-1][0], **CLOSE)


@pytest.mark.parametrize("exponent", [0.2, 0.5, 0.95])
def test_graph_weights_minimize_equation_8(rng, exponent):
    traces = rng.uniform(0.5, 2, size=4)
    mu = mggm.graph_weights(traces, exponent)
    alpha = mu**exponent
    assert alpha.sum() == pytest.approx(1)
    for other in np.vstack([rows(rng, 200, 4), 0.999 * alpha + 0.001 * rows(rng, 200, 4)]):
        assert (other ** (1 / exponent)) @ traces >= mu @ traces - 1e-14


def test_graph_weights_of_equal_one_and_zero_traces():
    assert mggm.graph_weights([3.0] * 5, 0.95).sum() == pytest.approx(0.919, abs=5e-4)
    assert mggm.graph_weights([3.0] * 4, 0.2).sum() == pytest.approx(4.0**-4)
    assert mggm.graph_weights([0.3], 0.8) == pytest.approx([1])
    assert mggm.graph_weights([0.3, 0.1], 0.8, normalize=True).sum() == pytest.approx(1)
    np.testing.assert_allclose(mggm.graph_weights([0, 1.0, 0], 0.5), [0.25, 0, 0.25])


@pytest.fixture
def three_factor(two, graph, rng):
    Xs, theta, present = two
    return (Xs, theta, *factors(rng, Xs)), [graph, ltm.knn_graph(Xs[1], 2)], present


def test_mggm_without_strength_is_mvplsa(three_factor):
    start, graphs, present = three_factor
    a, a_values = mggm.mggm(*start, N_ITER, graphs, 0.0, 0.8, weights=(1, 2), present=present)
    b, b_values = mvplsa.mvplsa(*start, N_ITER, (1, 2), present)
    for (theta_a, links_a, topics_a, _), (theta_b, links_b, topics_b) in zip(a, b, strict=True):
        np.testing.assert_allclose(theta_a, theta_b, **CLOSE)
        np.testing.assert_allclose(links_a[1], links_b[1], **CLOSE)
        np.testing.assert_allclose(topics_a[0], topics_b[0], **CLOSE)
    np.testing.assert_allclose(a_values, b_values, **CLOSE)


def test_mggm_stays_stochastic_keeps_pins_and_uses_the_old_graph_first(three_factor):
    (Xs, theta, links, topics), graphs, _ = three_factor
    theta, pinned = pins(theta, 1, 4)
    states, _ = mggm.mggm(Xs, theta, links, topics, 5, graphs, 2.0, 0.8, pinned=pinned)
    for new_theta, p_y_zs, p_w_ys, mu in states:
        assert_rows_sum_to_one(new_theta, *p_y_zs, *p_w_ys)
        np.testing.assert_array_equal(new_theta[pinned], theta[pinned])
        assert np.all(mu >= 0)
    V = mvplsa.theta_counts(mvplsa.expected_counts(Xs, theta, links, topics))
    np.testing.assert_allclose(V.sum(axis=1), Xs[0].sum(axis=1) + Xs[1].sum(axis=1))  # Omega
    first = ltm.graph_solve(V, (graphs[0] + graphs[1]) / 2, 2.0, theta, pinned)
    np.testing.assert_allclose(states[0][0], first, **CLOSE)


def test_mggm_with_one_view_identity_links_and_one_graph_is_ltm(one, graph):
    X, theta, p_w_z = one
    a, _ = mggm.mggm([X], theta, [np.eye(K)], [p_w_z], N_ITER, [graph], 2.0, 0.8)
    b, _ = ltm.ltm(X, theta, p_w_z, N_ITER, graph, 2.0)
    np.testing.assert_allclose(a[-1][0], b[-1][0], rtol=1e-10)
    np.testing.assert_allclose(a[-1][2][0], b[-1][1], rtol=1e-10)


# --- divergence coPLSA -----------------------------------------------------------------------


def root_in_eta(h):
    """The row h(eta) that sums to one; sum h falls in eta."""
    low, high = -1.0, 1.0
    while h(low).sum() < 1:
        low *= 2
    while h(high).sum() > 1:
        high *= 2
    return h(brentq(lambda eta: h(eta).sum() - 1, low, high, xtol=1e-14, rtol=1e-14))


def closed_skl(Q, others, lam):
    """003 Eq. 11 for n other views (Lambert W as Wright omega)."""
    Lam, mean = lam * len(others), others.mean(axis=0)
    geometric = np.exp(np.log(others).mean(axis=0))
    base = np.log((Q + Lam * mean) / (Lam * geometric)) + 1
    return root_in_eta(lambda eta: (Q + Lam * mean) / (Lam * wrightomega(base + eta / Lam)))


def closed_l2(Q, others, lam):
    """003 Eq. 12 for n other views."""
    Lam, mean = lam * len(others), others.mean(axis=0)

    def h(eta):
        b, q = mean - eta / Lam, Q / Lam
        root = np.sqrt(b**2 + 4 * q)
        return np.where(b < 0, 2 * q / (root - np.minimum(b, 0) + (q == 0)), (root + b) / 2)

    return root_in_eta(h)


def closed_l1_entry(q, g, lam, eta):
    """Walk up the pieces between the sorted g; on piece r the slope is q/h - lam (2r - n) - eta."""
    ends = np.concatenate([np.sort(g), [2.0]])
    for r, end in enumerate(ends):
        bottom = ends[r - 1] if r else 0.0
        price = eta + lam * (2 * r - len(g))
        if price > 0 and q / price <= end:
            return max(q / price, bottom)
    return 2.0


def closed_l1(Q, others, lam):
    """003 Eq. 13 for n other views, all Q > 0."""

    def h(eta):
        return np.array([closed_l1_entry(q, g, lam, eta) for q, g in zip(Q, others.T, strict=True)])

    return root_in_eta(h)


CLOSED = {"skl": closed_skl, "l2": closed_l2, "l1": closed_l1}


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_others", [1, 3])
def test_the_generic_h_step_agrees_with_the_closed_forms(rng, kind, lam, n_others):
    Q, others = rng.dirichlet(np.ones(K)), rows(rng, n_others, K)
    if kind != "l1":
        Q[1] = 0
    generic = divergence_coplsa.h_step(Q, others, lam, kind)
    np.testing.assert_allclose(generic, CLOSED[kind](Q, others, lam), atol=1e-10)


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
@pytest.mark.parametrize("lam", [0.05, 2.0])
def test_no_other_optimizer_beats_the_joint_step(rng, kind, lam):
    Q = rng.gamma(1.0, size=(3, K))
    best = divergence_coplsa.joint_step(Q, lam, kind)
    assert_rows_sum_to_one(best)
    value = divergence_coplsa.document_value(Q, best, lam, kind)

    def loss(x):
        e = np.exp(x.reshape(3, K))
        return -divergence_coplsa.document_value(Q, e / e.sum(axis=1, keepdims=True), lam, kind)

    for _ in range(3):
        found = minimize(loss, rng.normal(size=3 * K), method="BFGS").fun
        assert -found <= value + 1e-9
        if kind != "l1":
            assert -found == pytest.approx(value, abs=1e-6)
    near = 0.999 * best + 0.001 * rows(rng, 300 * 3, K).reshape(300, 3, K)
    for other in near:
        assert divergence_coplsa.document_value(Q, other, lam, kind) <= value + 1e-10


def test_the_certificate_is_small_over_a_wide_range(rng):
    for kind, lam, scale, V in itertools.product(
        divergence_coplsa.DIVERGENCES, (1e-2, 1.0, 1e4), (1, 300), (1, 2, 3)
    ):
        Q = scale * 10.0 ** rng.uniform(-9, 0, size=(V, K))
        Q[rng.random(Q.shape) < 0.3] = 0
        _, gap = divergence_coplsa.solve_document(Q, lam, kind)
        assert gap <= 1e-11 * max(1, Q.sum() + lam)


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
def test_strong_coupling_gives_the_link_plsa_step(rng, kind):
    Q = rng.gamma(1.0, size=(2, K))
    together = Q.sum(axis=0) / Q.sum()
    rows_ = divergence_coplsa.joint_step(Q, 1e6, kind)
    np.testing.assert_allclose(rows_, [together, together], atol=1e-5)


def test_pair_weights_and_presence(rng):
    Q, lam = rng.gamma(1.0, size=(3, K)), np.zeros((3, 3))
    lam[0, 2] = lam[2, 0] = 1.5
    all_three = divergence_coplsa.joint_step(Q, lam, "l2")
    np.testing.assert_allclose(all_three[1], Q[1] / Q[1].sum(), atol=1e-8)
    present = np.array([True, False, True])
    without = divergence_coplsa.joint_step(Q, 1.5, "l2", present)
    assert np.isnan(without[1]).all()
    np.testing.assert_allclose(without[present], all_three[present], atol=1e-8)
    filled = divergence_coplsa.fill_absent(without, 1.5, "l2", present)
    np.testing.assert_allclose(filled[1], without[present].mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
def test_an_absent_view_of_two_is_a_free_one_without_counts(rng, kind):
    Q = rng.gamma(1.0, size=(2, K))
    Q[1] = 0
    present = np.array([True, False])
    rows_ = divergence_coplsa.joint_step(Q, 2.0, kind, present)
    filled = divergence_coplsa.fill_absent(rows_, 2.0, kind, present)
    np.testing.assert_allclose(filled[1], filled[0], atol=1e-6)
    np.testing.assert_allclose(divergence_coplsa.joint_step(Q, 2.0, kind), filled, atol=1e-5)


def test_the_single_l1_step_freezes_at_agreement_and_the_joint_one_does_not(rng):
    Q, g = rng.dirichlet(np.ones(K), size=2), rng.dirichlet(np.ones(K))
    for q in Q:
        limit = ((q / g).max() - (q / g).min()) / 2
        above = divergence_coplsa.h_step(q, [g], 1.1 * limit, "l1")
        below = divergence_coplsa.h_step(q, [g], 0.9 * limit, "l1")
        np.testing.assert_allclose(above, g, atol=1e-6)
        assert np.abs(below - g).max() > 1e-4
    assert np.abs(divergence_coplsa.joint_step(Q, 100.0, "l1") - g).max() > 1e-2


def test_skl_refuses_a_fixed_zero():
    with pytest.raises(ValueError, match="infinite"):
        divergence_coplsa.h_step(np.ones(2), [[0.0, 1.0]], 1.0, "skl")


@pytest.fixture
def own(two, rng):
    """Two views, a mixture and topics for each."""
    Xs, _, present = two
    thetas = [rows(rng, D, K) for _ in Xs]
    return Xs, thetas, [rows(rng, K, X.shape[1]) for X in Xs], present


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
@pytest.mark.parametrize("step", ["joint", "view"])
def test_divergence_coplsa_rises_and_keeps_pins(own, kind, step):
    Xs, thetas, p_w_zs, present = own
    pinned = np.arange(D) == 1
    for theta in thetas:
        theta[1] = 1 / K
    states, values = divergence_coplsa.divergence_coplsa(
        Xs, thetas, p_w_zs, 4, 0.7, kind, (1, 0.5), present, pinned, step
    )
    assert_never_falls(values)
    for new_thetas, new_p_w_zs in states:
        assert_rows_sum_to_one(*new_thetas, *new_p_w_zs)
        np.testing.assert_array_equal(new_thetas[0][1], thetas[0][1])
        np.testing.assert_array_equal(new_thetas[0][3], thetas[0][3])  # absent


@pytest.mark.parametrize("kind", divergence_coplsa.DIVERGENCES)
def test_divergence_coplsa_without_strength_is_a_plsa_per_view(own, kind):
    Xs, thetas, p_w_zs, _ = own
    states, _ = divergence_coplsa.divergence_coplsa(Xs, thetas, p_w_zs, 4, 0.0, kind)
    for v in range(2):
        alone, _ = plsa.plsa_alternating(Xs[v], thetas[v], p_w_zs[v], 4)
        np.testing.assert_allclose(states[-1][0][v], alone[-1][0], atol=1e-7)
        np.testing.assert_allclose(states[-1][1][v], alone[-1][1], atol=1e-7)


def test_scaling_weights_and_strength_together_leaves_the_iterates(own):
    Xs, thetas, p_w_zs, present = own
    a, b = (
        divergence_coplsa.divergence_coplsa(
            Xs, thetas, p_w_zs, 3, scale * 0.7, "l2", (scale, scale), present
        )
        for scale in (1, 3)
    )
    np.testing.assert_allclose(a[0][-1][0][1], b[0][-1][0][1], atol=1e-9)
    np.testing.assert_allclose(3 * np.array(a[1]), b[1])


# --- pairwise CoPLSA -------------------------------------------------------------------------

PAIRS = [(0, 1), (0, 4), (1, 5), (2, 3), (3, 6), (4, 6)]


@pytest.mark.parametrize("v", [0, 1, 2])
def test_pairwise_gradient_by_finite_differences(rng, v):
    thetas = [rows(rng, D, K) for _ in range(3)]
    present = np.ones((D, 3), dtype=bool)
    present[0, 2] = False
    analytic = pairwise_coplsa.penalty_gradient(thetas, v, PAIRS, 0.7, present)
    h = 1e-6
    for i, k in itertools.product(range(D), range(K)):
        values = []
        for sign in (1, -1):
            moved = [theta.copy() for theta in thetas]
            moved[v][i, k] += sign * h
            values.append(pairwise_coplsa.penalty(moved, PAIRS, 0.7, present))
        assert analytic[i, k] == pytest.approx((values[0] - values[1]) / (2 * h), abs=1e-8)


def test_all_pairs_give_the_frobenius_norm(rng):
    thetas = [rows(rng, D, K) for _ in range(2)]
    S = [np.exp(-((t[:, None] - t[None]) ** 2).sum(axis=2) / 0.7) for t in thetas]
    pairs = pairwise_coplsa.all_pairs(D)
    R = pairwise_coplsa.penalty(thetas, pairs, 0.7)
    assert pytest.approx(np.sum((S[0] - S[1]) ** 2)) == R
    permuted = [thetas[0][:, ::-1], thetas[1]]
    assert pairwise_coplsa.penalty(permuted, pairs, 0.7) == pytest.approx(R)


@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_safe_pairwise_coplsa_rises_and_keeps_pins(own, lam):
    Xs, thetas, p_w_zs, present = own
    pinned = np.arange(D) == 1
    states, values = pairwise_coplsa.pairwise_coplsa(
        Xs, thetas, p_w_zs, N_ITER, (0.5, 0.5), lam, 0.7, None, present, pinned
    )
    assert_never_falls(values)
    for new_thetas, new_p_w_zs in states:
        assert_rows_sum_to_one(*new_thetas, *new_p_w_zs)
        np.testing.assert_array_equal(new_thetas[1][1], thetas[1][1])
        np.testing.assert_array_equal(new_thetas[0][3], thetas[0][3])  # absent


@pytest.mark.parametrize("step", ["safe", "literal"])
def test_pairwise_coplsa_without_strength_is_a_plsa_per_view(own, step):
    Xs, thetas, p_w_zs, _ = own
    states, _ = pairwise_coplsa.pairwise_coplsa(
        Xs, thetas, p_w_zs, 4, (0.5, 0.5), 0.0, 0.7, PAIRS, step=step
    )
    for v in range(2):
        alone, _ = plsa.plsa(Xs[v], thetas[v], p_w_zs[v], 4)
        np.testing.assert_allclose(states[-1][0][v], alone[-1][0], **CLOSE)
        np.testing.assert_allclose(states[-1][1][v], alone[-1][1], **CLOSE)


def test_the_safe_step_is_the_literal_one_where_that_is_positive_and_accepted(own):
    Xs, thetas, p_w_zs, _ = own
    n = plsa.theta_counts(Xs[0], thetas[0], p_w_zs[0])
    n[2] = thetas[0][2]
    args = (n, thetas, 0, 0.05, PAIRS, 0.7)
    literal = pairwise_coplsa.literal_step(*args)
    assert np.all(literal > 0)
    np.testing.assert_allclose(pairwise_coplsa.safe_step(*args), literal, **CLOSE)


def test_the_safe_candidate_is_an_ascent_direction_and_the_step_never_falls(own, rng):
    _, thetas, _, _ = own
    n = rng.gamma(0.3, size=(D, K))
    pairs = pairwise_coplsa.all_pairs(D)
    for lam in (0.1, 10.0, 1000.0):
        args = (n, thetas, 0, lam, pairs, 0.7)
        slope = n / thetas[0] - lam * pairwise_coplsa.penalty_gradient(thetas, 0, pairs, 0.7)
        candidate = pairwise_coplsa.safe_candidate(*args)
        assert np.all(np.sum(slope * (candidate - thetas[0]), axis=1) >= -1e-10)
        new = pairwise_coplsa.safe_step(*args)
        before = pairwise_coplsa.m_step_value(*args)
        assert pairwise_coplsa.m_step_value(n, [new, thetas[1]], 0, lam, pairs, 0.7) >= before
        assert np.abs(new - thetas[0]).max() > 0


# --- voted PLSA ------------------------------------------------------------------------------


def hard(labels):
    """Mixtures whose argmax are the labels."""
    return 0.1 / K + 0.9 * np.eye(K)[labels]


VOTES = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 2, 2], [1, 2, 2], [2, 1, 0], [2, 1, 1]])


def test_signatures_are_the_largest_groups_ties_lexicographic():
    patterns = voted_plsa.voting_patterns([hard(VOTES[:, v]) for v in range(3)])
    assert patterns == [tuple(row) for row in VOTES.tolist()]
    chosen = voted_plsa.signatures(patterns, 3)
    assert chosen == [((0, 0, 0), 2), ((1, 2, 2), 2), ((0, 0, 1), 1)]
    greedy = voted_plsa.signatures(patterns, 3, "greedy")
    assert greedy == [((0, 0, 0), 2), ((1, 2, 2), 2), ((2, 1, 0), 1)]
    assert voted_plsa.preassign(patterns, chosen).tolist() == [0, 0, 2, 1, 1, -1, -1]
    assert voted_plsa.preassign(patterns, greedy).tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_how_many_votes_are_needed():
    assert [voted_plsa.needed(n) for n in (1, 2, 3, 5)] == [1, 2, 2, 4]
    assert not voted_plsa.matches((0, 1), (0, 0))
    assert voted_plsa.matches((0, -1, 1), (0, 2, 1))
    assert not voted_plsa.matches((0, -1, 1), (0, 2, 2))
    assert not voted_plsa.matches((0, -1, -1), (0, 2, 2))


def test_several_matches_most_votes_then_the_larger_group():
    chosen = [((0, 0, 0), 5), ((0, 1, 1), 9), ((0, 0, 2), 2)]
    assert voted_plsa.preassign([(0, 0, 2)], chosen).tolist() == [2]
    assert voted_plsa.preassign([(0, 0, 1)], chosen).tolist() == [1]


@pytest.fixture
def voters(rng):
    Xs = [counts(rng, D, W), counts(rng, D, W2), counts(rng, D, W2)]
    return Xs, [hard(VOTES[:, v]) for v in range(3)], rows(rng, K, W + 2 * W2)


def test_voted_plsa_rises_and_keeps_the_preassigned(voters):
    Xs, thetas, spare = voters
    assigned, labels, states, values = voted_plsa.voted_plsa(Xs, thetas, K, N_ITER, spare)
    assert_never_falls(values)
    known = assigned != voted_plsa.UNASSIGNED
    np.testing.assert_array_equal(labels[known], assigned[known])
    for theta, p_w_z in states:
        assert_rows_sum_to_one(theta, p_w_z)
        np.testing.assert_array_equal(theta[known], np.eye(K)[assigned[known]])


def test_relabeling_a_view_changes_nothing_without_ties(voters):
    Xs, _, spare = voters
    votes = np.array([[0, 0, 0]] * 3 + [[1, 2, 2]] * 2 + [[2, 1, 0], [2, 0, 1]])
    permuted = votes.copy()
    permuted[:, 1] = np.array([2, 0, 1])[votes[:, 1]]
    a, b = (
        voted_plsa.voted_plsa(Xs, [hard(x[:, v]) for v in range(3)], 2, 5, spare[:2])
        for x in (votes, permuted)
    )
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_allclose(a[2][-1][0], b[2][-1][0], **CLOSE)


def test_with_all_documents_assigned_the_second_stage_is_one_m_step(voters):
    Xs, _, spare = voters
    labels = np.array([0, 0, 0, 1, 1, 2, 2])
    assigned, _, states, _ = voted_plsa.voted_plsa(Xs, [hard(labels)] * 3, K, 3, spare)
    X = np.hstack(Xs)
    for c in range(K):
        words = X[labels == c].sum(axis=0)
        for _, p_w_z in states:
            np.testing.assert_allclose(p_w_z[c], words / words.sum(), **CLOSE)
    np.testing.assert_array_equal(assigned, labels)


def test_squarem_finds_the_fixed_point_of_a_map_with_one_rate_at_once():
    rng = np.random.default_rng(0)
    fixed, x0 = [rows(rng, 4, 3), rows(rng, 2, 5)], [rows(rng, 4, 3), rows(rng, 2, 5)]

    def step(point):
        return [f + 0.9 * (p - f) for f, p in zip(fixed, point, strict=True)]

    x1 = step(x0)
    alpha = squarem.step_length(x0, x1, step(x1))
    assert alpha == pytest.approx(-10)  # -1 / (1 - rate)
    for found, expected in zip(squarem.ahead(x0, x1, step(x1), alpha, 0.0), fixed, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_squarem_refuses_a_point_that_is_worse_and_repeats_the_value_before():
    def step(point):  # a wall right behind the points that plain steps reach
        value = float(point[0][0, 0])
        return value if value < 0.6 else -1.0, [point[0] + np.array([[0.05, -0.05]]) * value]

    objectives, _ = squarem.squarem([np.array([[0.5, 0.5]])], step, 3, 0.0)
    assert objectives[2] == objectives[1]
    assert objectives[3] > objectives[2]
