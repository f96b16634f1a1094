"""VotedPLSA with another mixture model in stage two: LDA against explicit loops, and the others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD

from coview import Checkpoint, DataWarning, Views, VotedPLSA, load
from coview.datasets import make_views
from coview.metrics import clustering_accuracy
from coview.models._estimators import lda_with_pins
from tests.reference import voted_plsa as naive

EXACT = {"mean_change_tol": 1e-13, "max_doc_update_iter": 5000}


@pytest.fixture(scope="module")
def views():
    return make_views(
        90, 3, [40, 30, 20], doc_length=20, view_noise=0.4, missing=0.1, random_state=4
    )


@pytest.fixture(scope="module")
def model(views):
    lda = LatentDirichletAllocation(3)
    return VotedPLSA(3, voter=lda, second_stage=lda, random_state=0).fit(views)


@pytest.mark.parametrize("pinned", ["none", "some", "one cluster", "all"])
def test_lda_holds_pinned_documents_as_in_explicit_loops(rng, pinned):
    X = rng.poisson(rng.dirichlet(np.full(8, 0.3), 3).repeat(5, axis=0) * 12).astype(float)
    truth = np.repeat([0, 1, 2], 5)
    some = {"none": 0, "some": np.arange(15) % 5 < 2, "one cluster": truth == 1, "all": 15 * [True]}
    labels = np.where(some[pinned], truth, -1)
    spare = rng.dirichlet(np.ones(8), 3)
    start = np.full((3, 8), 0.2)
    for c in range(3):
        held = X[labels == c].sum(axis=0)
        start[c] += held if held.sum() else spare[c] * X.sum() / 3
    lda = LatentDirichletAllocation(
        3, doc_topic_prior=0.4, topic_word_prior=0.2, max_iter=4, random_state=0, **EXACT
    )
    topics, shares = lda_with_pins(lda, sp.csr_array(X), labels, spare)
    expected = naive.lda_with_pins(X, labels, start, alpha=0.4, eta=0.2, n_iter=4)
    np.testing.assert_allclose(topics, expected[0], rtol=1e-6)
    np.testing.assert_allclose(topics.sum(), X.sum() + 3 * 8 * 0.2, rtol=1e-9)
    np.testing.assert_allclose(shares, expected[1], atol=1e-6)


def test_documents_assigned_by_vote_stay_there(model, views):
    fixed = model.preassigned_ >= 0
    assert 0.3 < fixed.mean() < 1
    np.testing.assert_array_equal(model.labels_[fixed], model.preassigned_[fixed])
    np.testing.assert_array_equal(model.doc_topic_[fixed], np.eye(3)[model.preassigned_[fixed]])
    assert (model.doc_topic_[~fixed] > 0).all()
    assert clustering_accuracy(views.labels, model.labels_) > 0.8


def test_topics_and_mixtures_are_those_of_the_estimator(model, views):
    parts = [model.view_weights_[n] * m for n, m in views.matrices.items()]
    whole = sp.csr_array(sp.hstack(parts), dtype=float)
    lda = LatentDirichletAllocation(3, random_state=0)
    topics, shares = lda_with_pins(lda, whole, model.preassigned_, np.full((3, 90), 1 / 90))
    topics[:, whole.sum(axis=0) == 0] = 0
    topics /= topics.sum(axis=1, keepdims=True)
    found = [model.view_shares_[:, [v]] * model.components_[n] for v, n in enumerate(views.names)]
    np.testing.assert_allclose(np.hstack(found), topics, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(model.doc_topic_, shares, atol=1e-3)
    for name, unseen in model.unseen_terms_.items():
        assert not model.components_[name][:, unseen].any()


def test_new_documents_are_folded_in_under_its_topics(model, views):
    assert (model.predict(views) == model.labels_).mean() > 0.9
    np.testing.assert_allclose(model.transform(views[:5]).sum(axis=1), 1, rtol=1e-5)
    assert np.isfinite(model.score(views[:20]))
    assert model.transform({"view_1": views["view_1"][:4]}).shape == (4, 3)


def test_a_saved_model_needs_no_estimator(model, views, tmp_path):
    with pytest.warns(DataWarning) as caught:
        model.save(tmp_path / "voted.coview")
    about = [str(w.message).split(" not saved")[0] for w in caught]
    assert about == ["Parameters", "Attributes"]  # voter and second_stage; voters_
    assert "second_stage (LatentDirichletAllocation)" in str(caught[0].message)
    again = load(tmp_path / "voted.coview")
    assert again.second_stage is None
    np.testing.assert_array_equal(again.transform(views), model.transform(views))
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_the_seed_decides_also_in_the_next_restart(views):
    given = {"voter": LatentDirichletAllocation(3, max_iter=2)}
    given["second_stage"] = LatentDirichletAllocation(3, max_iter=2, learning_method="online")
    one, same = (VotedPLSA(3, n_init=2, random_state=3, **given).fit(views) for _ in range(2))
    np.testing.assert_array_equal(one.doc_topic_, same.doc_topic_)
    first, second = one.trace_.restarts
    assert first != second
    assert one.objective_ == max(first, second)


def test_a_resumed_fit_is_the_same(views, tmp_path):
    class Halted(VotedPLSA):
        def _own_attributes(self, problem, data):
            raise KeyboardInterrupt

    Halted.__name__ = "VotedPLSA"
    lda = LatentDirichletAllocation(3, max_iter=2)
    with pytest.raises(KeyboardInterrupt):
        Halted(3, second_stage=lda, max_iter=2000).fit(views, checkpoint=tmp_path / "run")
    again = Checkpoint(tmp_path / "run", resume=True)
    given = {"second_stage": lda, "max_iter": 2000}
    resumed = VotedPLSA(3, **given).fit(views, checkpoint=again)
    direct = VotedPLSA(3, **given, random_state=resumed.random_state_used_).fit(views)
    np.testing.assert_array_equal(resumed.doc_topic_, direct.doc_topic_)


def test_labels_are_pins_as_well(views):
    labels = np.where(np.arange(len(views)) % 3 == 0, views.labels, -1)
    lda = LatentDirichletAllocation(3)
    model = VotedPLSA(3, second_stage=lda, random_state=0).fit(views, labels=labels)
    np.testing.assert_array_equal(model.labels_[labels >= 0], labels[labels >= 0])
    assert (model.labels_ == views.labels).mean() > 0.8


def test_a_view_without_counts_and_empty_documents_are_no_matter(views):
    rows = {n: m.toarray() for n, m in views.matrices.items()}
    for matrix in rows.values():
        matrix[:2] = 0
    model = VotedPLSA(3, second_stage=LatentDirichletAllocation(3), random_state=0)
    with pytest.warns(DataWarning, match="No document has a count in 'none'"):
        model.fit(Views({**rows, "none": np.zeros((90, 5))}))
    assert not model.view_shares_[:, 3].any()
    np.testing.assert_allclose(model.doc_topic_[:2], 1 / 3, rtol=1e-6)


class Shuffled(BaseEstimator):
    """Knows the truth: topics and shares of the classes, in an order of its own."""

    def __init__(self, truth, order):
        self.truth = truth
        self.order = order

    def fit(self, X, y=None):
        self.shares_ = 0.7 * np.eye(3)[self.truth][:, self.order] + 0.1
        self.components_ = self.shares_.T @ X
        return self

    def transform(self, X):
        return self.shares_


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 1, 0]])
def test_topics_of_other_estimators_get_the_numbers_of_the_clusters(views, order):
    known = VotedPLSA(3, random_state=0).fit(views).preassigned_
    truth = np.where(known >= 0, known, np.arange(90) % 3)  # with the numbers of the clusters
    model = VotedPLSA(3, second_stage=Shuffled(truth, order), random_state=0).fit(views)
    np.testing.assert_array_equal(model.labels_, truth)


def test_factorization_can_be_the_second_stage(views):
    nmf = NMF(3, beta_loss="kullback-leibler", solver="mu", max_iter=500)
    model = VotedPLSA(3, second_stage=nmf, random_state=0).fit(views)
    fixed = model.preassigned_ >= 0
    np.testing.assert_array_equal(model.labels_[fixed], model.preassigned_[fixed])
    assert clustering_accuracy(views.labels, model.labels_) > 0.8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"second_stage": object()}, "second_stage must be an estimator with fit"),
        ({"second_stage": LatentDirichletAllocation(4)}, "n_components=4, the model 3"),
        ({"second_stage": TruncatedSVD(3)}, "must have components_ that are not negative"),
        ({"second_stage": NMF(3), "seeds": {0: {"view_0": [1]}}}, "give one of the two"),
    ],
)
def test_what_cannot_be_the_second_stage_is_refused(views, params, message):
    with pytest.raises(ValueError, match=message):
        VotedPLSA(3, random_state=0, **params).fit(views)
