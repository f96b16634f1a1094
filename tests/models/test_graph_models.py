"""LTM and MGGM: reductions, graphs of one's own, pins, weights."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from coview import LTM, MGGM, MVPLSA, PLSA, DataWarning, Views
from coview.datasets import make_views
from coview.em.penalties import graph_smoothness as smoothness
from tests.reference import ltm

FIXED = {"tol": 0.0, "max_iter": 10, "dtype": "float64", "random_state": 0, "assign": "argmax"}


@pytest.fixture(scope="module")
def views():
    return make_views(90, 3, [40, 30, 20], doc_length=30, view_noise=0.4, random_state=4)


def test_ltm_without_strength_is_plsa(views):
    one = views.select("view_0")
    a = LTM(3, strength=0.0, init=views.labels, **FIXED).fit(one)
    b = PLSA(3, init=views.labels, **FIXED).fit(one)
    np.testing.assert_allclose(a.doc_topic_, b.doc_topic_, atol=1e-9)


def test_mggm_without_strength_is_mvplsa(views):
    a = MGGM(3, 5, strength=0.0, init=views.labels, **FIXED).fit(views)
    b = MVPLSA(3, 5, init=views.labels, **FIXED).fit(views)
    np.testing.assert_allclose(a.doc_topic_, b.doc_topic_, atol=1e-9)


def test_a_graph_of_ones_own_draws_neighbors_together(views):
    one = views.select("view_0")
    same = sp.csr_array((views.labels[:, None] == views.labels).astype(float))
    same.setdiag(0)
    same.eliminate_zeros()
    with_graph = LTM(3, graph=same, strength=10.0, random_state=0).fit(one)
    assert (with_graph.labels_ == views.labels).mean() in (0.0, 1.0) or len(
        {(a, b) for a, b in zip(with_graph.labels_, views.labels, strict=True)}
    ) == 3


def test_more_strength_is_smoother(views):
    def roughness(model, graph):
        edges = sp.coo_array(graph)
        gaps = model.doc_topic_[edges.row] - model.doc_topic_[edges.col]
        return (gaps**2).sum()

    graph = sp.random_array((90, 90), density=0.1, rng=np.random.default_rng(0), format="csr")
    graph = ((graph + graph.T) > 0).astype(float)
    graph.setdiag(0)
    found = [
        roughness(
            LTM(3, graph=graph, strength=s, init=views.labels, **FIXED).fit(views.concat()), graph
        )
        for s in (0.0, 0.5, 20.0)
    ]
    assert found[0] > found[1] > found[2]


def test_the_scale_of_the_counts_plays_no_part(views):
    options = {"init": views.labels, "view_weights": "balanced", **FIXED}
    a = MGGM(3, 5, **options).fit(views)
    b = MGGM(3, 5, **options).fit({n: 5 * m for n, m in views.matrices.items()})
    np.testing.assert_allclose(a.doc_topic_, b.doc_topic_, atol=1e-6)


def test_the_weights_of_the_graphs_are_named_and_can_sum_to_one(views):
    model = MGGM(3, 5, random_state=0, normalize_graph_weights=True).fit(views)
    assert sorted(model.graph_weights_) == sorted(views.names)
    assert sum(model.graph_weights_.values()) == pytest.approx(1)
    literal = MGGM(3, 5, random_state=0).fit(views)
    assert 0 < sum(literal.graph_weights_.values()) <= 1 + 1e-9


def test_an_extra_graph_takes_part(views):
    links = sp.random_array((90, 90), density=0.05, rng=np.random.default_rng(0), format="csr")
    links = ((links + links.T) > 0).astype(float)
    links.setdiag(0)
    links.eliminate_zeros()
    model = MGGM(3, 5, graphs={"links": links}, random_state=0).fit(views)
    assert set(model.graph_weights_) == {*views.names, "links"}


def pairs_of(n_docs, n_pairs):
    """A graph that joins the first documents two by two, and leaves the others alone."""
    i = np.arange(0, 2 * n_pairs, 2)
    ends = np.append(i, i + 1), np.append(i + 1, i)
    return sp.csr_array((np.ones(2 * n_pairs), ends), shape=(n_docs, n_docs))


@pytest.mark.parametrize("n_pairs", [3, 45])
def test_a_graph_that_wins_because_it_joins_next_to_nothing_is_reported(views, n_pairs):
    twins = views[np.repeat(np.arange(45), 2)]  # equal documents have equal mixtures
    model = MGGM(3, 5, graphs={"view_1": pairs_of(90, n_pairs)}, random_state=0)
    words = r"graph 'view_1' has 100% of the weight, .* 90 of 90 documents are alone .* exponent"
    with pytest.warns(DataWarning, match=words) as caught:
        model.fit(twins)
    assert len(caught) == 1
    assert model.graph_weights_["view_1"] == pytest.approx(1)


@pytest.mark.parametrize("alone", [0, 30])  # documents that lack the view are no reason to warn
def test_a_graph_that_wins_because_it_knows_the_clusters_is_not_reported(views, alone):
    joined = np.where(np.arange(90) < alone, -1, views.labels)
    same = (joined[:, None] == joined) & (joined >= 0) & ~np.eye(90, dtype=bool)
    graphs = {"view_1": same.astype(float)}
    model = MGGM(3, 5, graphs=graphs, init=views.labels, random_state=0).fit(views)
    assert model.graph_weights_["view_1"] == pytest.approx(1)


def test_without_strength_no_graph_is_reported(views):
    graphs = {"view_1": pairs_of(90, 3)}
    model = MGGM(3, 5, graphs=graphs, strength=0.0, init=views.labels, **FIXED).fit(views)
    assert model.graph_weights_["view_1"] == pytest.approx(1)


@pytest.mark.parametrize("step", ["paper", "safe"])
def test_the_trace_has_both_values_around_a_refresh(views, step):
    trace = MGGM(3, 5, step=step, init=views.labels, **FIXED).fit(views).trace_
    assert (trace.carried_penalty != trace.penalty).any()
    before = np.r_[trace.start_objective, trace.objective[:-1]]
    after = trace.log_likelihood.sum(axis=1) - trace.carried_penalty
    if step == "safe":
        assert (after - before).min() >= -1e-9 * abs(trace.objective[-1])


@pytest.mark.parametrize("model", [LTM, MGGM])
@pytest.mark.parametrize("step", ["paper", "safe"])
def test_threads_share_the_solve_and_change_no_bit(monkeypatch, model, step):
    views = make_views(600, 20, [60], doc_length=30, random_state=0)  # three groups of topics
    solving, in_threads = [], smoothness._in_threads

    def spy(function, items, n_threads):
        solving.append((len(items), n_threads))
        return in_threads(function, items, n_threads)

    monkeypatch.setattr(smoothness, "_in_threads", spy)
    options = {"init": views.labels, "step": step, **FIXED, "dtype": "float32"}
    one, *others = (model(20, n_jobs=n, **options).fit(views) for n in (1, 2, 4))
    assert set(solving) == {(3, 1), (3, 2), (3, 4)}
    for other in others:
        assert other.objective_ == one.objective_
        np.testing.assert_array_equal(other.doc_topic_, one.doc_topic_)


def test_the_divergence_between_neighbors_is_in_the_trace(views):
    model = LTM(3, init=views.labels, n_neighbors=3, **FIXED).fit(views.select("view_0"))
    assert model.trace_.roughness.shape == model.trace_.penalty.shape
    assert np.isfinite(model.trace_.roughness).all()
    again = pickle.loads(pickle.dumps(model)).trace_
    np.testing.assert_array_equal(again.roughness, model.trace_.roughness)


def test_a_pin_beside_another_topic_makes_it_infinite(views):
    labels = np.where(np.arange(90) < 2, np.arange(90), -1)
    path = sp.diags_array([np.ones(89), np.ones(89)], offsets=[-1, 1], format="csr")
    model = LTM(3, graph=path, init="random", **FIXED).fit(views.select("view_0"), labels=labels)
    assert (model.trace_.roughness == np.inf).all()
    assert np.isfinite(model.trace_.penalty).all()


def test_pinned_documents_pull_their_neighbors(views):
    path = sp.diags_array([np.ones(89), np.ones(89)], offsets=[-1, 1], format="csr")
    labels = np.full(90, -1)
    labels[0], labels[89] = 0, 1
    model = LTM(2, graph=path, strength=1e4, random_state=0, init="random", tol=1e-6).fit(
        views.select("view_0"), labels=labels
    )
    share = model.doc_topic_[:, 0]
    assert share[0] == 1
    assert share[89] == 0
    assert (np.diff(share) <= 1e-4).all()


def test_an_empty_document_is_placed_by_a_graph_of_ones_own(views):
    counts = views["view_0"].toarray()
    counts[[3, 4]] = 0
    joined = np.zeros((90, 90))
    joined[3, [5, 6]] = joined[[5, 6], 3] = 1.0
    model = LTM(3, graph=joined, init=views.labels, **FIXED).fit(counts)
    assert model.empty_rows_.tolist() == [3, 4]
    np.testing.assert_allclose(model.doc_topic_[3], model.doc_topic_[[5, 6]].mean(axis=0))
    np.testing.assert_allclose(model.doc_topic_[4], 1 / 3)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 3)), "shape"),
        (-np.ones((90, 90)), "weight -1 .* finite and >= 0"),
        (np.full((90, 90), np.nan), "weight nan"),
    ],
)
def test_a_bad_graph_is_refused(views, graph, message):
    with pytest.raises(ValueError, match=message):
        LTM(3, graph=graph).fit(views.select("view_0"))


def test_an_asymmetric_graph_is_made_symmetric_with_a_warning(views):
    one_way = sp.diags_array([np.ones(89)], offsets=[1], format="csr", shape=(90, 90))
    with pytest.warns(DataWarning, match="symmetric"):
        LTM(3, graph=one_way, random_state=0, max_iter=3, tol=0.0).fit(views.select("view_0"))


def test_a_graph_without_edges_is_refused(views):
    with pytest.raises(ValueError, match="joins no two documents"):
        MGGM(3, 5, graphs={"view_0": sp.csr_array((90, 90))}).fit(views)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strength": -1.0}, "strength must be"),
        ({"strength": np.inf}, "strength must be"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"exponent": 1.0}, "exponent must be"),
        ({"exponent": 0.0}, "exponent must be"),
        ({"step": "yes"}, "step must be"),
        ({"n_feature_topics": 0}, "n_feature_topics must be"),
        ({"n_feature_topics": {"view_0": 2.5}}, "n_feature_topics must be"),
        ({"graphs": {"view_0": np.ones((3, 3))}}, "'view_0' must have .* shape"),
        ({"graphs": {"links": -np.ones((90, 90))}}, "'links' has the weight -1"),
        ({"graphs": {"links": None}}, "'links' must be a matrix"),
        ({"graphs": [np.ones((90, 90))]}, "graphs must be a dict .* got list"),
        ({"graphs": np.ones((90, 90))}, "graphs must be a dict .* got ndarray"),
    ],
)
def test_bad_parameters_are_named(views, params, message):
    with pytest.raises(ValueError, match=message):
        MGGM(3, **params).fit(views)


def test_the_papers_start_is_at_hand(views):
    from coview.metrics import normalized_mutual_info

    model = MGGM(3, 5, init="ltm", random_state=0).fit(views)
    again = MGGM(3, 5, init="ltm", random_state=0).fit(views)
    np.testing.assert_array_equal(model.doc_topic_, again.doc_topic_)
    assert normalized_mutual_info(views.labels, model.labels_) > 0.3


def test_so_it_is_with_labels_which_say_what_a_topic_is_called():
    views = make_views(90, 3, [40, 30, 20], doc_length=30, random_state=4)
    labels = np.where(np.arange(90) % 9 == 0, views.labels, -1)
    for seed in range(4):  # the clusters of k-means have the right numbers now and then
        model = MGGM(3, 5, init="ltm", random_state=seed).fit(views, labels=labels)
        assert (model.labels_ == views.labels).mean() > 0.9


def test_a_view_that_no_two_documents_have_lends_no_graph(views):
    lone = np.zeros((90, 4))
    lone[7] = 2
    model = MGGM(3, 5, init=views.labels, **FIXED).fit({**views.matrices, "lone": lone})
    assert sorted(model.graph_weights_) == sorted(views.names)
    assert sum(model.graph_weights_.values()) > 0.5


def test_a_fitted_model_can_be_the_start(views):
    from coview import LinkPLSA

    same = {"ensemble": 0, "view_weights": "balanced", "dtype": "float64"}  # the same objective
    first = LinkPLSA(3, random_state=0, **same).fit(views)
    later = LinkPLSA(3, init=first, tol=0.0, max_iter=1, **same).fit(views)
    assert later.trace_.start_objective == pytest.approx(first.objective_, rel=1e-3)
    with pytest.raises(ValueError, match="knows the views all"):
        MGGM(3, init=LTM(3, random_state=0).fit(views.concat())).fit(views)
    with pytest.raises(ValueError, match="has 3 topics; n_components is 4"):
        LinkPLSA(4, init=first).fit(views)


@pytest.mark.parametrize("lacking", [False, True])
def test_neighbors_by_euclidean_distance_are_those_of_the_naive_loops(views, lacking):
    some = views.select("view_0")
    present = np.ones((len(some), 1), bool)
    if lacking:
        present[3::7] = False
    counts = some.matrices["view_0"].toarray() * present
    graph = ltm.knn_graph(counts, 4, present[:, 0])
    options = {"random_state": 0, "init": "random", "max_iter": 5, "tol": 0.0, "dtype": "float64"}
    data = Views({"view_0": counts}, present=present)
    found = LTM(3, n_neighbors=4, neighbor_metric="euclidean", **options).fit(data)
    given = LTM(3, graph=graph, **options).fit(data)
    usual = LTM(3, n_neighbors=4, **options).fit(data)
    np.testing.assert_allclose(found.doc_topic_, given.doc_topic_, atol=1e-9)
    assert np.abs(found.doc_topic_ - usual.doc_topic_).max() > 1e-3  # sparse: by tf-idf


def test_each_view_of_mggm_has_neighbors_by_the_metric_asked_for(views):
    graphs = {n: ltm.knn_graph(m.toarray(), 5) for n, m in views.matrices.items()}
    options = {"random_state": 0, "init": "random", "max_iter": 5, "tol": 0.0, "dtype": "float64"}
    found = MGGM(3, 4, neighbor_metric="euclidean", **options).fit(views)
    given = MGGM(3, 4, graphs=graphs, **options).fit(views)
    np.testing.assert_allclose(found.doc_topic_, given.doc_topic_, atol=1e-9)
    assert found.graph_weights_ == pytest.approx(given.graph_weights_)


@pytest.mark.parametrize("model", [LTM(3), MGGM(3)])
def test_an_unknown_metric_of_neighbors_is_named(views, model):
    data = views.select("view_0")
    with pytest.raises(ValueError, match="neighbor_metric must be one of 'auto', 'euclidean'"):
        model.set_params(neighbor_metric="manhattan").fit(data)
