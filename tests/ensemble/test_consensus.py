"""The ensemble: planted clusters come back, empty documents have none, samples stand for all."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from coview import LinkPLSA, Views
from coview.ensemble import consensus
from coview.ensemble.consensus import (
    MEMBERS,
    SAMPLE_MEMBERS,
    Ensemble,
    HalfClusterings,
    half_clusterings,
    joined,
    make_ensemble,
    mean_directions,
)
from coview.ensemble.features import view_features
from coview.ensemble.information import shared_information
from coview.ensemble.reliability import ViewReliability, deal
from tests.ensemble.planted import N_CLUSTERS, N_DOCS, sparse_views
from tests.reference import ensemble as naive

NOTHING = ViewReliability(("a",), np.ones((1, 1)), {"a": 1.0}, 1)
seeds = pytest.mark.parametrize("seed", range(3))


def given(members, weights):
    return Ensemble(np.array(members), np.array(weights), ("a",) * len(weights), {}, NOTHING)


def ensemble_of(views, seed=0, n_clusters=N_CLUSTERS, **options):
    matrices = [m.astype(np.float32) for m in views.matrices.values()]
    rng = np.random.default_rng(seed)
    return make_ensemble(views.names, matrices, views.present, n_clusters, rng, **options)


def agreement(labels, found):
    known = found >= 0
    return adjusted_rand_score(labels[known], found[known])


def test_indicators_are_those_of_the_naive_loop(rng):
    members = np.column_stack([rng.integers(0, k, 30) for k in (3, 4, 6)])
    members[[2, 7]] = -1
    made = given(members, [1.0, 0.5, 0.01])
    expected = naive.indicators(members, [1.0, 0.5, 0.01])
    np.testing.assert_allclose(made.indicators.toarray(), expected, rtol=1e-6)
    assert made.indicators.indices.dtype == np.int32  # or EM would need kernels of its own for it


def test_the_consensus_is_what_most_members_say(rng):
    labels = np.arange(60) % 3
    members = np.column_stack([labels, (labels + 1) % 3, (labels + 2) % 3])
    members[rng.permutation(60)[:8], 0] = rng.integers(0, 3, 8)
    found = given(members, [1.0, 1.0, 1.0]).consensus(3, rng)
    assert adjusted_rand_score(labels, found) == 1


def test_members_without_a_say_do_not_matter(rng):
    labels, other = np.arange(60) % 3, np.arange(60) // 20
    made = given(np.column_stack([labels, other, other]), [1.0, 1e-3, 1e-3])
    assert adjusted_rand_score(labels, made.consensus(3, rng)) == 1


def test_a_resampled_consensus_leaves_members_out():
    labels, other = np.arange(60) % 3, np.arange(60) // 20
    made = given(np.column_stack([labels, other]), [1.0, 0.9])
    found = [made.consensus(3, np.random.default_rng(s), resample=True) for s in range(12)]
    scores = {(round(agreement(labels, f), 2), round(agreement(other, f), 2)) for f in found}
    assert any(first == 1 for first, _ in scores)  # the second was left out
    assert any(second == 1 for _, second in scores)  # the first was


@seeds
def test_planted_clusters_come_back(seed):
    views = sparse_views(seed)
    made = ensemble_of(views, seed)
    found = made.consensus(N_CLUSTERS, np.random.default_rng(seed))
    assert agreement(views.labels, found) > 0.9
    again = made.consensus(N_CLUSTERS, np.random.default_rng(seed + 10), resample=True)
    assert agreement(found, again) > 0.8


# -- what clusterings tell of each other -----------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [(2, 2), (3, 2), (1, 3), (4, 4), (6, 6)])
def test_shared_information_is_that_of_all_orders(rng, n_clusters):
    for _ in range(2):
        one, other = (np.append(np.arange(k), rng.integers(0, k, 6 - k)) for k in n_clusters)
        one, other = rng.permutation(one), rng.permutation(other)
        expected = naive.shared_information(one, other)
        assert shared_information(one, other) == pytest.approx(expected, abs=1e-9)


def test_information_is_all_of_equal_clusters_and_none_of_chance(rng):
    labels = np.repeat(np.arange(4), 50)
    assert shared_information(labels, (labels + 1) % 4) == pytest.approx(1)
    chance = [shared_information(labels, rng.permutation(labels)) for _ in range(20)]
    assert abs(np.mean(chance)) < 0.01
    assert shared_information(np.zeros(9, int), np.zeros(9, int)) == 0


def test_information_counts_how_much_is_told():
    """Two clusterings that are equal, but put nearly all into one cluster, tell little."""
    large, equal = np.repeat([0, 1, 2], [180, 10, 10]), np.arange(200) % 3
    assert shared_information(equal, equal) > 0.99
    assert shared_information(large, large) < 0.5


def test_what_the_missing_views_tell_is_no_information(rng):
    """Both halves of the features know which views a document lacks."""
    kinds, labels = np.arange(400) % 4, rng.integers(0, 4, 400)
    assert shared_information(kinds, kinds) == pytest.approx(1)
    assert abs(shared_information(kinds, kinds, kinds)) < 0.01
    assert shared_information(labels, labels, kinds) > 0.95
    assert abs(shared_information(labels, rng.permutation(labels), kinds)) < 0.05


def test_clusterings_by_halves_know_who_lacks_which_views():
    views = sparse_views(0)
    assert dealt(views)[1].kinds is None
    first, *others = (m.toarray() for m in views.matrices.values())
    first[:40] = 0
    kinds = dealt(Views([first, *others]))[1].kinds
    assert len(np.unique(kinds)) == 2
    assert len(np.unique(kinds[:40])) == 1


def dealt(views, n_clusters=N_CLUSTERS, seed=0):
    matrices = [m.astype(np.float32) for m in views.matrices.values()]
    rng = np.random.default_rng(seed)
    halves = deal([view_features(m) for m in matrices], views.present, n_clusters, rng)
    return halves, half_clusterings(halves, np.ones(len(matrices)), n_clusters, rng)


def test_clusterings_by_halves_know_their_features():
    views = sparse_views(0)
    halves, found = dealt(views)
    assert found.labels.shape == (N_DOCS, 2, 2, len(found.families))
    assert len(found.parts) == 2
    for split, given in zip(found.parts, halves.splits, strict=True):
        for view, width in enumerate(views.widths):
            both = np.concatenate([half[view].columns for half in split])
            assert sorted(both) == list(range(width))
        assert all(half is shown.parts for half, shown in zip(split, given, strict=True))
    assert set(found.replicability) == set(found.families)
    for name, value in found.replicability.items():
        f = found.families.index(name)
        pairs = [found.labels[:, s, :, f].T for s in range(2)]
        assert value == pytest.approx(np.mean([shared_information(*p) for p in pairs]))


def test_the_consensus_of_a_half_is_of_its_clusterings_alone(rng):
    labels = np.arange(60) % 3
    other = np.arange(60) // 20
    by_half = np.stack([np.column_stack([labels] * 2), np.column_stack([other] * 2)], axis=1)
    found = HalfClusterings(np.arange(60), ("a", "b"), by_half[:, np.newaxis])
    assert adjusted_rand_score(labels, found.consensus(0, 0, 3, rng)) == 1
    assert adjusted_rand_score(other, found.consensus(0, 1, 3, rng)) == 1


@seeds
def test_planted_clusters_come_back_by_half_of_the_features(seed):
    views = sparse_views(seed)
    _, found = dealt(views, seed=seed)
    rng = np.random.default_rng(seed)
    for split in range(2):
        for half in range(2):
            labels = found.consensus(split, half, N_CLUSTERS, rng)
            assert agreement(views.labels, labels) > 0.6


# -- members ---------------------------------------------------------------------------------------


def test_members_weights_and_families_belong_together():
    made = ensemble_of(sparse_views(0))
    assert made.members.shape == (N_DOCS, len(made.weights))
    assert len(made.families) == len(made.weights)
    counts = {name: made.families.count(name) for name in made.families}
    assert set(counts.values()) == {MEMBERS}
    assert set(counts) <= set(made.replicability)
    assert made.weights.max() == 1
    best = max(made.replicability.values())
    for name, weight in zip(made.families, made.weights, strict=True):
        assert weight == pytest.approx((made.replicability[name] / best) ** 4)
    # the first member of each family has the wanted number of clusters, the others as many or more
    sizes = made.members.max(axis=0) + 1
    assert set(sizes[::MEMBERS]) == {N_CLUSTERS}
    assert all(N_CLUSTERS <= size <= 2 * N_CLUSTERS + 2 for size in sizes)
    assert made.reliability.names == ("text", "image")


def test_many_topics_have_a_quick_start():
    views = sparse_views(0)
    made = ensemble_of(views, quick=True)
    assert set(made.families) <= {"fused", "smoothed 2, by features", "smoothed 4, by features"}
    assert made.members.shape == (N_DOCS, SAMPLE_MEMBERS * len(set(made.families)))
    assert made.halves.labels.shape[1] == 1
    assert agreement(views.labels, made.consensus(N_CLUSTERS, np.random.default_rng(0))) > 0.8


def test_a_quick_start_of_many_documents_is_of_a_smaller_sample(monkeypatch):
    monkeypatch.setattr(consensus, "QUICK_SAMPLE", 100)
    views = sparse_views(0)
    made = ensemble_of(views, quick=True)
    assert (made.members >= 0).all()
    assert agreement(views.labels, made.consensus(N_CLUSTERS, np.random.default_rng(0))) > 0.8


def with_empty(views, docs):
    """The views, in which some documents have no count anywhere."""
    keep = sp.diags_array(np.where(np.isin(np.arange(views.n_docs), docs), 0.0, 1.0))
    matrices = {name: sp.csr_array(keep @ m) for name, m in views.matrices.items()}
    for m in matrices.values():
        m.eliminate_zeros()
    return matrices


def test_empty_documents_are_in_no_cluster():
    views, empty = sparse_views(0, missing=0.2), [3, 50, 159]
    matrices = [m.astype(np.float32) for m in with_empty(views, empty).values()]
    rng = np.random.default_rng(0)
    made = make_ensemble(views.names, matrices, views.present, N_CLUSTERS, rng)
    assert (made.members[empty] == -1).all()
    assert (np.delete(made.members, empty, axis=0) >= 0).all()
    assert not made.indicators.toarray()[empty].any()
    found = made.consensus(N_CLUSTERS, rng)
    assert (found[empty] == -1).all()
    assert agreement(views.labels, found) > 0.8


def test_documents_that_lack_views_are_clustered_by_those_they_have():
    views = sparse_views(1, missing=0.15)
    assert not views.present.all()
    found = ensemble_of(views).consensus(N_CLUSTERS, np.random.default_rng(0))
    assert (found >= 0).all()
    assert agreement(views.labels, found) > 0.8


def test_other_documents_join_the_nearest_clusters_of_the_sample(monkeypatch):
    views = sparse_views(0)
    monkeypatch.setattr(consensus, "MOST_DOCUMENTS", 100)
    made = ensemble_of(views)
    assert (made.members >= 0).all()
    found = made.consensus(N_CLUSTERS, np.random.default_rng(0))
    assert agreement(views.labels, found) > 0.9


def test_documents_join_by_the_means_of_clusters(rng):
    sample = rng.normal(size=(40, 5))
    labels = np.column_stack([np.arange(40) % 3, np.arange(40) % 5])
    points = rng.normal(size=(9, 5))
    found = joined(points, [mean_directions(sample, member) for member in labels.T])
    for member in range(2):
        expected = naive.joined(points, sample, labels[:, member])
        np.testing.assert_array_equal(found[:, member], expected)


def test_a_single_view_of_many_documents_is_judged_by_fewer(monkeypatch):
    views, judged = sparse_views(0), []
    alone = views.select(views.names[0])
    monkeypatch.setattr(consensus, "ALONE_SAMPLE", 100)
    for most in (N_DOCS, N_DOCS - 1):
        monkeypatch.setattr(consensus, "MOST_DOCUMENTS", most)
        judged += [len(ensemble_of(v).halves.docs) for v in (alone, views)]
    assert judged == [N_DOCS, N_DOCS, 100, N_DOCS]


def test_a_joined_document_that_is_in_the_sample_too_has_its_cluster(monkeypatch):
    views = sparse_views(0)
    matrices = [sp.vstack([m, m], format="csr").astype(np.float32) for m in views.matrices.values()]
    monkeypatch.setattr(consensus, "MOST_DOCUMENTS", 200)
    rng = np.random.default_rng(0)
    present = np.ones((2 * N_DOCS, 2), bool)
    made = make_ensemble(views.names, matrices, present, N_CLUSTERS, rng)
    same = (made.members[:N_DOCS] == made.members[N_DOCS:]).mean()
    assert same > 0.85


def test_a_view_of_links_is_its_own_graph():
    rng, labels = np.random.default_rng(0), np.arange(120) % 3
    together = labels[:, None] == labels
    links = np.triu(rng.random((120, 120)) < np.where(together, 0.1, 0.005), 1)
    links = sp.csr_array((links | links.T).astype(np.float32))
    noise = sp.csr_array(rng.poisson(0.3, (120, 40)).astype(np.float32))
    present = np.ones((120, 2), bool)
    made = make_ensemble(("links", "noise"), [links, noise], present, 3, rng)
    assert made.reliability.weights["noise"] < 0.1
    assert agreement(labels, made.consensus(3, rng)) > 0.8


def test_given_weights_are_those_of_the_fused_space_and_learned_ones_are_told():
    views = sparse_views(0)
    rng = np.random.default_rng(5)
    noise = sp.csr_array(rng.poisson(0.5, (N_DOCS, 200)).astype(np.float32))
    matrices = [views["text"].astype(np.float32), noise]
    present = np.ones((N_DOCS, 2), bool)

    def score(weights):
        rng = np.random.default_rng(0)
        made = make_ensemble(("text", "noise"), matrices, present, N_CLUSTERS, rng, weights)
        assert made.reliability.weights["noise"] < 0.1
        return agreement(views.labels, made.consensus(N_CLUSTERS, rng))

    assert score(None) > 0.5
    assert score(np.array([1e-3, 1.0])) < 0.2 < score(np.array([1.0, 1e-3]))


@pytest.mark.parametrize(
    ("n_docs", "n_clusters"), [*((n, k) for n in (2, 3, 4, 5) for k in (2, 4)), (20, 19), (20, 20)]
)
@pytest.mark.parametrize("quick", [False, True])
def test_few_documents_are_no_error(n_docs, n_clusters, quick):
    rng = np.random.default_rng(0)
    matrices = [sp.csr_array(rng.poisson(1, (n_docs, w)).astype(np.float32) + 1) for w in (6, 1)]
    present = np.ones((n_docs, 2), bool)
    made = make_ensemble(("a", "b"), matrices, present, n_clusters, rng, quick=quick)
    found = made.consensus(n_clusters, rng)
    assert found.shape == (n_docs,)
    assert ((found >= 0) & (found < n_clusters)).all()
    assert np.isfinite(made.weights).all()


def test_documents_that_are_all_alike_are_one_cluster():
    rng = np.random.default_rng(0)
    matrices = [sp.csr_array(np.ones((30, 5), np.float32))]
    made = make_ensemble(("a",), matrices, np.ones((30, 1), bool), 3, rng)
    assert np.isfinite(made.weights).all()
    assert (made.consensus(3, rng) >= 0).all()


def test_a_view_that_nobody_has_changes_no_cluster():
    views = sparse_views(0)
    matrices = [*(m.astype(np.float32) for m in views.matrices.values()), sp.csr_array((N_DOCS, 3))]
    for present in (True, False):
        has = np.column_stack([views.present, np.full(N_DOCS, present)])
        rng = np.random.default_rng(0)
        made = make_ensemble(("text", "image", "none"), matrices, has, N_CLUSTERS, rng)
        assert made.reliability.weights["none"] == 0.01
        assert agreement(views.labels, made.consensus(N_CLUSTERS, rng)) > 0.9


def test_equal_generators_give_equal_bits():
    views = sparse_views(0, missing=0.1)
    one, same, other = (ensemble_of(views, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.members, same.members)
    np.testing.assert_array_equal(one.weights, same.weights)
    assert one.members.shape != other.members.shape or (one.members != other.members).any()


def test_a_handful_of_documents_does_not_choose_among_families():
    texts = {
        "en": ["goal team ball", "team goal", "salt garlic", "garlic onion salt"],
        "de": ["tor spiel", "tor", "salz", None],
    }
    views = Views.from_texts(texts)
    for seed in range(6):
        labels = LinkPLSA(2, random_state=seed).fit(views).labels_
        assert labels[0] == labels[1] != labels[2] == labels[3]
