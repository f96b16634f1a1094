"""VotedPLSA: the vote against explicit loops, stage two against the reference."""

import numpy as np
import pytest

from coview import PLSA, Checkpoint, DataWarning, VotedPLSA
from coview.datasets import make_views
from coview.em.starts import pinned_start, random_start
from coview.em.step import em_step
from coview.models.voted_plsa import preassign, signatures
from tests.planted import serial
from tests.reference import voted_plsa as naive


@pytest.mark.parametrize("n_views", [1, 2, 3, 5])
@pytest.mark.parametrize("rule", ["frequent", "greedy"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_vote_is_that_of_the_definition(rng, n_views, rule, missing):
    for _ in range(20):
        votes = rng.integers(0, 3, (60, n_views))
        votes[rng.random(votes.shape) < missing] = -1
        patterns = [tuple(map(int, row)) for row in votes]
        chosen = signatures(votes, 4, rule)
        assert chosen == naive.signatures(patterns, 4, rule)
        np.testing.assert_array_equal(preassign(votes, chosen), naive.preassign(patterns, chosen))


@pytest.fixture(scope="module")
def views():
    return make_views(90, 3, [40, 30, 20], doc_length=30, view_noise=0.4, random_state=4)


def test_stage_two_is_the_constrained_plsa_on_concatenated_views(views):
    model = VotedPLSA(
        3, random_state=0, dtype="float64", tol=0.0, max_iter=10, view_weights=[1, 1, 1]
    )
    data, learned = model._prepare_training(views, None, np.random.default_rng(0))
    data = data.cut(columns=True)
    shaken = random_start(data, 3, np.random.default_rng(0))
    start = pinned_start(shaken, data)
    X = np.hstack([m.toarray() for m in data.matrices])
    assigned = learned["preassigned_"]
    theta, p_w_z, pinned = naive.start(X, assigned, 3, spare=np.full((3, X.shape[1]), np.nan))
    np.testing.assert_allclose(np.hstack(start.p_w_z), p_w_z, atol=1e-12)
    problem = model._problem(data, start, None)
    for _ in range(10):
        problem = em_step(problem, serial).problem
        theta, p_w_z = naive.plsa.joint_step(X, theta, p_w_z, pinned)
        np.testing.assert_allclose(problem.mixtures[0], theta, atol=1e-10)
        whole = np.concatenate([e.by_term[:, :3] for e in problem.emissions]).T
        np.testing.assert_allclose(whole, p_w_z, atol=1e-10)


def test_the_attributes_tell_what_was_decided(views):
    model = VotedPLSA(3, random_state=0).fit(views)
    assert len(model.signatures_) == 3
    assert model.coverage_ == (model.preassigned_ >= 0).mean() > 0.3
    fixed = model.preassigned_ >= 0
    np.testing.assert_array_equal(model.labels_[fixed], model.preassigned_[fixed])
    np.testing.assert_allclose(model.view_shares_.sum(axis=1), 1, rtol=1e-5)
    assert sorted(model.voters_) == sorted(views.names)


def test_new_documents_are_folded_in_as_in_the_concatenated_model(views):
    model = VotedPLSA(3, random_state=0, dtype="float64").fit(views)
    whole = np.hstack(
        [model.view_shares_[:, [v]] * model.components_[n] for v, n in enumerate(views.names)]
    )
    np.testing.assert_allclose(whole.sum(axis=1), 1, rtol=1e-9)
    plain = PLSA(3, random_state=0, dtype="float64", init="random", max_iter=1, tol=0.0)
    X = np.hstack([w * views[n].toarray() for n, w in model.view_weights_.items()])
    plain.fit(X)
    plain.components_["X"] = whole
    np.testing.assert_allclose(model.transform(views), plain.transform(X), atol=1e-6)


def test_another_estimator_can_vote(views):
    from sklearn.decomposition import LatentDirichletAllocation

    class Voter(LatentDirichletAllocation):
        def predict_proba(self, X):
            return self.transform(X)

    model = VotedPLSA(3, voter=Voter(3, random_state=0), random_state=0).fit(views)
    shares = (Voter(3, random_state=0).fit_transform(m) for m in views.matrices.values())
    patterns = list(zip(*(map(int, p.argmax(axis=1)) for p in shares), strict=True))
    chosen = naive.signatures(patterns, 3, "greedy")
    assert model.signatures_ == [pattern for pattern, _ in chosen]
    np.testing.assert_array_equal(model.preassigned_, naive.preassign(patterns, chosen))


def test_a_voter_without_probabilities_is_refused(views):
    with pytest.raises(ValueError, match="voter must have predict_proba"):
        VotedPLSA(3, voter=object()).fit(views)


SHORT = {"init": "random", "max_iter": 4, "tol": 0.0}  # so that votes depend on the seed


def assert_same_vote(a, b):
    assert a.signatures_ == b.signatures_
    np.testing.assert_array_equal(a.preassigned_, b.preassigned_)
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)


def random_voter():
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.pipeline import make_pipeline

    class Voter(LatentDirichletAllocation):
        def predict_proba(self, X):
            return self.transform(X)

    return make_pipeline("passthrough", Voter(3, max_iter=2))


@pytest.mark.parametrize("random_state", [None, "generator"])
@pytest.mark.parametrize("voter", [None, "random"])
def test_the_seed_that_was_used_gives_the_same_vote(views, random_state, voter):
    given = np.random.default_rng(5) if random_state else None
    voter = random_voter() if voter else None
    model = VotedPLSA(3, voter=voter, random_state=given, **SHORT).fit(views)
    again = VotedPLSA(3, voter=voter, random_state=model.random_state_used_, **SHORT).fit(views)
    assert_same_vote(model, again)


def test_voters_are_plsa_with_the_seed_of_the_model(views):
    model = VotedPLSA(3, random_state=7, **SHORT).fit(views)
    for name in views.names:
        alone = PLSA(3, random_state=7, **SHORT).fit(views[name])
        np.testing.assert_array_equal(model.voters_[name].doc_topic_, alone.doc_topic_)


def test_a_fit_without_a_seed_is_resumed_with_the_same_vote(views, tmp_path):
    class Halted(VotedPLSA):
        def _own_attributes(self, problem, data):
            raise KeyboardInterrupt

    Halted.__name__ = "VotedPLSA"
    with pytest.raises(KeyboardInterrupt):
        Halted(3, **SHORT).fit(views, checkpoint=tmp_path / "run")
    resumed = VotedPLSA(3, **SHORT).fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    again = VotedPLSA(3, random_state=resumed.random_state_used_, **SHORT).fit(views)
    assert_same_vote(resumed, again)


def test_a_view_without_counts_has_no_vote(views):
    plain = VotedPLSA(3, random_state=0).fit(views)
    with pytest.warns(DataWarning, match="No document has a count in 'none'"):
        model = VotedPLSA(3, random_state=0).fit({"none": np.zeros((90, 5)), **views.matrices})
    assert sorted(model.voters_) == sorted(views.names)
    assert model.signatures_ == plain.signatures_
    np.testing.assert_array_equal(model.preassigned_, plain.preassigned_)
    assert (model.view_shares_[:, 0] == 0).all()


def test_labels_and_votes_get_one_numbering(views):
    labels = np.where(np.arange(len(views)) % 2 == 0, views.labels, -1)
    model = VotedPLSA(3, random_state=0).fit(views, labels=labels)
    both = (labels >= 0) & (model.preassigned_ >= 0)
    assert (model.preassigned_[both] == labels[both]).mean() > 0.8
    assert (model.labels_ == views.labels).mean() > 0.8


def test_labels_mean_nothing_to_the_voters(views):
    labels = np.where(np.arange(len(views)) % 2 == 0, views.labels, -1)
    model = VotedPLSA(3, init="naive_bayes", random_state=0).fit(views, labels=labels)
    usual = VotedPLSA(3, random_state=0).fit(views, labels=labels)
    assert_same_vote(model, usual)


def test_latent_dirichlet_allocation_can_vote():
    from sklearn.decomposition import LatentDirichletAllocation

    views = make_views(80, 3, [40, 30, 20], missing=0.1, random_state=3)
    lda = LatentDirichletAllocation(3, max_iter=20)
    model = VotedPLSA(3, voter=lda, random_state=5, dtype="float64").fit(views)
    votes = np.full((80, 3), -1)
    for v, matrix in enumerate(views.matrices.values()):
        has = np.flatnonzero(views.present[:, v])
        alone = LatentDirichletAllocation(3, max_iter=20, random_state=5).fit(matrix[has])
        for d, shares in zip(has, alone.transform(matrix[has]), strict=True):
            votes[d, v] = max(range(3), key=lambda k: shares[k])
    chosen = signatures(votes, 3, "greedy")
    assert model.signatures_ == [pattern for pattern, _ in chosen]
    np.testing.assert_array_equal(model.preassigned_, preassign(votes, chosen))
    again = VotedPLSA(3, voter=lda, random_state=5, dtype="float64").fit(views)
    np.testing.assert_array_equal(again.doc_topic_, model.doc_topic_)


def test_priors_hold_in_both_stages():
    views = make_views(80, 3, [40, 30, 20], random_state=3)
    model = VotedPLSA(3, doc_topic_prior=1.2, topic_word_prior=1.1, random_state=0).fit(views)
    for voter in model.voters_.values():
        assert (voter.doc_topic_prior, voter.topic_word_prior) == (1.2, 1.1)
    assert model.trace_.log_prior is not None


def test_a_transformer_that_gives_no_shares_is_refused():
    from sklearn.decomposition import TruncatedSVD

    views = make_views(40, 3, [40, 30], random_state=3)
    with pytest.raises(ValueError, match=r"transform of the voter TruncatedSVD.*view 'view_0'"):
        VotedPLSA(3, voter=TruncatedSVD(3), random_state=0).fit(views)
