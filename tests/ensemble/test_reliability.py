"""Which views to trust: against naive loops, and on views of which it is known."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views, view_reliability
from coview.ensemble import reliability
from coview.ensemble.features import view_features
from coview.ensemble.reliability import (
    assortativity,
    deal,
    deal_columns,
    documents_with_counts,
    leading_weights,
    sampled,
)
from tests.ensemble.planted import (
    N_CLUSTERS,
    N_DOCS,
    dense_view,
    sparse_views,
    symmetric_graph,
)
from tests.reference import ensemble as naive

seeds = pytest.mark.parametrize("seed", range(4))


# -- small functions -------------------------------------------------------------------------------


def test_assortativity_is_that_of_the_naive_loop(rng):
    for _ in range(10):
        graph, labels = symmetric_graph(rng), rng.integers(-1, 3, 20)
        expected = naive.assortativity(labels, graph.toarray())
        assert assortativity(labels, graph) == pytest.approx(expected, abs=1e-6)


def test_assortativity_is_about_zero_by_chance(rng):
    graph = sp.random_array((200, 200), density=0.1, rng=rng, format="csr")
    assert abs(assortativity(rng.integers(0, 3, 200), sp.csr_array(graph + graph.T))) < 0.05


def test_assortativity_of_clusters_apart_alike_and_none():
    pairs = sp.csr_array(np.kron(np.eye(3), [[0, 1], [1, 0]]))
    assert assortativity(np.array([0, 0, 1, 1, 2, 2]), pairs) == pytest.approx(1)
    assert assortativity(np.array([0, 1, 0, 1, 0, 1]), pairs) == pytest.approx(-1)
    assert assortativity(np.zeros(6, int), pairs) == 0  # one cluster: nothing to compare
    assert assortativity(np.full(6, -1), pairs) == 0
    assert assortativity(np.array([0, -1, 1, -1, 2, -1]), pairs) == 0
    assert assortativity(np.arange(6), sp.csr_array((6, 6))) == 0


@pytest.mark.parametrize("n_views", [1, 2, 5])
def test_weights_are_what_repeated_multiplication_ends_in(rng, n_views):
    agreement = rng.uniform(-0.2, 1, (n_views, n_views))
    expected = naive.leading_weights(agreement, 0.01)
    np.testing.assert_allclose(leading_weights(agreement), expected, rtol=1e-6)


def test_weights_of_a_view_that_agrees_with_none_are_least_and_all_are_one_if_no_view_agrees():
    agreement = np.array([[0.8, 0.7, -0.01], [0.6, 0.9, 0.0], [0.0, -0.02, 0.0]])
    assert leading_weights(agreement)[2] == 0.01
    assert leading_weights(np.zeros((3, 3))).tolist() == [1, 1, 1]
    assert leading_weights(np.full((2, 2), -0.1)).tolist() == [1, 1]


@pytest.mark.parametrize("n_columns", [2, 3, 10, 101])
def test_columns_are_dealt_into_halves(rng, n_columns):
    one, other = deal_columns(n_columns, rng)
    assert len(one) - len(other) in (0, 1)
    assert sorted([*one, *other]) == list(range(n_columns))


def test_a_single_column_is_in_both_halves(rng):
    assert [half.tolist() for half in deal_columns(1, rng)] == [[0], [0]]


def test_a_sample_is_in_order_and_no_larger_than_there_is(rng):
    docs = np.array([3, 5, 8, 9])
    assert sampled(docs, 4, rng) is docs
    drawn = sampled(docs, 3, rng)
    assert len(set(drawn)) == 3
    assert drawn.tolist() == sorted(drawn)
    assert set(drawn) <= set(docs)


def test_documents_have_a_view_where_it_is_present_and_counted():
    matrices = [sp.csr_array([[1, 0], [0, 0], [2, 1]]), sp.csr_array([[0], [0], [4]])]
    present = np.array([[True, True], [True, True], [True, False]])
    expected = [[True, False], [False, False], [True, False]]
    assert documents_with_counts(matrices, present).tolist() == expected


# -- views of which it is known --------------------------------------------------------------------


def weights_with(views, others):
    return view_reliability({**views, **others}, N_CLUSTERS).weights


@seeds
def test_noise_and_a_shuffled_view_weigh_next_to_nothing_beside_counts(seed):
    views, rng = sparse_views(seed), np.random.default_rng(seed)
    noise = rng.poisson(0.3, (N_DOCS, 50))
    shuffled = views["text"][rng.permutation(N_DOCS)]
    found = weights_with(views.matrices, {"noise": noise})
    assert found["noise"] < 0.1
    assert min(found["text"], found["image"]) > 0.5
    found = weights_with(views.matrices, {"more": views["image"], "shuffled": shuffled})
    assert found["shuffled"] < 0.1
    assert min(found["text"], found["image"], found["more"]) > 0.5


@seeds
def test_noise_and_a_shuffled_view_weigh_next_to_nothing_beside_measurements(seed):
    labels, rng = np.arange(N_DOCS) % N_CLUSTERS, np.random.default_rng(seed)
    good = {f"good_{i}": dense_view(labels, 10 * seed + i) for i in range(3)}
    found = weights_with(good, {"noise": rng.normal(size=(N_DOCS, 10))})
    assert found.pop("noise") < 0.1
    assert min(found.values()) > 0.5
    found = weights_with(good, {"shuffled": good["good_0"][rng.permutation(N_DOCS)]})
    assert found.pop("shuffled") < 0.1
    assert min(found.values()) > 0.5


@seeds
def test_noise_of_either_kind_weighs_next_to_nothing_beside_both_kinds(seed):
    views, rng = sparse_views(seed), np.random.default_rng(seed)
    others = {
        "measured": dense_view(views.labels, seed),
        "noise": rng.poisson(0.3, (N_DOCS, 50)),
        "measured noise": rng.normal(size=(N_DOCS, 10)),
    }
    found = weights_with(views.matrices, others)
    assert max(found["noise"], found["measured noise"]) < 0.1
    assert min(found["text"], found["image"], found["measured"]) > 0.5


@seeds
def test_views_that_documents_lack_are_judged_by_those_that_have_them(seed):
    views, rng = sparse_views(seed, missing=0.3), np.random.default_rng(seed)
    matrices = {**views.matrices, "noise": sp.csr_array(rng.poisson(0.3, (N_DOCS, 50)))}
    present = np.column_stack([views.present, rng.random(N_DOCS) < 0.7])
    matrices["noise"] = sp.csr_array(matrices["noise"].toarray() * present[:, 2:])
    found = view_reliability(Views(matrices, present=present), N_CLUSTERS)
    assert found.weights["noise"] < 0.1
    assert min(found.weights["text"], found.weights["image"]) > 0.5


def test_the_matrix_of_one_view_tells_how_reliable_it_is_by_itself():
    views = sparse_views(0)
    good = view_reliability(views["text"], N_CLUSTERS)
    assert good.matrix.shape == (1, 1)
    assert good.matrix[0, 0] > 0.3
    noise = view_reliability(np.random.default_rng(0).poisson(0.3, (N_DOCS, 50)), N_CLUSTERS)
    assert abs(noise.matrix[0, 0]) < 0.1
    assert list(good.weights.values()) == [1.0]


# -- the basis of a view ---------------------------------------------------------------------------


def test_halves_of_measurements_are_orthogonal_projections(rng):
    rows = view_features(sp.csr_array(rng.random((40, 9))))
    (one, other), *_ = deal([rows], np.ones((40, 1), bool), 3, rng).splits
    parts = [half.parts[0].of(np.eye(9, dtype=np.float32)) for half in (one, other)]
    assert [part.shape for part in parts] == [(9, 5), (9, 4)]
    both = np.hstack(parts)
    np.testing.assert_allclose(both.T @ both, np.eye(9), atol=1e-6)


@seeds
def test_neither_basis_nor_shift_nor_number_of_columns_change_what_a_view_tells(seed):
    labels, rng = np.arange(300) % N_CLUSTERS, np.random.default_rng(seed)
    views = {f"view_{i}": dense_view(labels, 10 * seed + i, 6) for i in range(3)}
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    wide = np.linalg.qr(rng.normal(size=(40, 6)))[0].T  # the same in forty columns
    once = view_reliability(views, N_CLUSTERS)
    for other in (views["view_0"] + 50, views["view_0"] @ turn, views["view_0"] @ wide - 1):
        found = view_reliability({**views, "view_0": other}, N_CLUSTERS)
        assert found.weights["view_0"] == pytest.approx(once.weights["view_0"], abs=0.2)
        np.testing.assert_allclose(found.matrix, once.matrix, atol=0.2)


@seeds
def test_noise_of_few_columns_weighs_next_to_nothing(seed):
    labels, rng = np.arange(300) % 3, np.random.default_rng(seed)
    good = {f"good_{i}": dense_view(labels, 10 * seed + i, 3) for i in range(2)}
    stretched = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))
    found = weights_with(good, {"noise": stretched, "shuffled": rng.permutation(good["good_0"])})
    assert max(found["noise"], found["shuffled"]) < 0.1
    assert min(found["good_0"], found["good_1"]) > 0.2


# -- few documents, few features, few differences --------------------------------------------------


@pytest.mark.parametrize("n_docs", [2, 3, 4, 5])
@pytest.mark.parametrize("n_components", [1, 3, 10])
def test_few_documents_are_no_error(n_docs, n_components):
    rng = np.random.default_rng(n_docs)
    views = {"counts": rng.poisson(2, (n_docs, 6)) + 1, "measured": rng.random((n_docs, 3))}
    found = view_reliability(views, n_components)
    assert np.isfinite(found.matrix).all()
    assert all(0.01 <= w <= 1 for w in found.weights.values())
    assert max(found.weights.values()) == 1


def test_one_cluster_tells_nothing_and_all_views_weigh_the_same():
    found = view_reliability(sparse_views(0), 1)
    assert not found.matrix.any()
    assert set(found.weights.values()) == {1.0}


def test_a_view_of_one_feature():
    views = sparse_views(0)
    found = view_reliability({**views.matrices, "one": views.labels[:, None] + 1}, N_CLUSTERS)
    assert np.isfinite(found.matrix).all()
    assert found.weights["text"] > 0.5


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
@pytest.mark.parametrize("kind", [int, float])
def test_documents_that_are_all_alike_tell_nothing(kind):
    alike = np.tile(np.array([1, 2, 3, 0], kind) + (0.5 if kind is float else 0), (20, 1))
    found = view_reliability({"a": alike, "b": alike[:, :2]}, 3)
    assert np.isfinite(found.matrix).all()
    assert all(0.01 <= w <= 1 for w in found.weights.values())


def test_a_view_without_counts_weighs_next_to_nothing():
    views = {**sparse_views(0).matrices, "none": sp.csr_array((N_DOCS, 5))}
    found = view_reliability(views, N_CLUSTERS)
    assert found.weights["none"] == 0.01
    assert not found.matrix[2].any()


# -- what it costs, and what it says ---------------------------------------------------------------


def test_many_documents_are_judged_by_a_sample(monkeypatch):
    monkeypatch.setattr(reliability, "SAMPLE", 100)
    views = sparse_views(0)
    noise = np.random.default_rng(0).poisson(0.3, (N_DOCS, 50))
    found = view_reliability({**views.matrices, "noise": noise}, N_CLUSTERS)
    assert found.n_docs == 100
    assert found.weights["noise"] < 0.1 < found.weights["text"]


def test_empty_documents_are_no_part_of_the_sample():
    features = [np.eye(6), np.eye(6)]
    has = np.ones((6, 2), bool)
    has[[1, 4]] = False
    halves = deal(features, has, 2, np.random.default_rng(0))
    assert halves.docs.tolist() == [0, 2, 3, 5]


def test_equal_seeds_give_equal_bits_and_others_do_not():
    views = sparse_views(0)
    one, same, other = (view_reliability(views, 4, random_state=s).matrix for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_scale_of_a_view_does_not_matter():
    views = sparse_views(0)
    once = view_reliability(views, N_CLUSTERS)
    times = view_reliability({"text": views["text"] * 4, "image": views["image"]}, N_CLUSTERS)
    np.testing.assert_allclose(times.matrix, once.matrix, atol=0.05)


def test_the_table_has_a_row_for_each_view():
    found = view_reliability(sparse_views(0), N_CLUSTERS)
    lines = str(found).splitlines()
    assert lines[0].split() == ["view", "weight", "reliability"]
    name, weight, own = lines[1].split()
    assert name == "text"
    assert float(weight) == pytest.approx(found.weights["text"], abs=0.005)
    assert float(own) == pytest.approx(found.matrix[0, 0], abs=0.005)


def test_wrong_numbers_of_clusters_are_refused():
    with pytest.raises(ValueError, match="n_components"):
        view_reliability(sparse_views(0), 0)
