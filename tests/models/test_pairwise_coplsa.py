"""PairwiseCoPLSA: reference, pairs, alignment of topics."""

import numpy as np
import pytest

from coview import PLSA, DataWarning, PairwiseCoPLSA
from coview.datasets import make_views
from coview.em.penalties.similarity import sample_pairs
from coview.metrics import clustering_accuracy
from tests.reference import pairwise_coplsa as reference

FIXED = {"tol": 0.0, "max_iter": 10, "dtype": "float64", "random_state": 0}


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, [40, 30], doc_length=40, view_noise=0.2, random_state=4)


@pytest.mark.parametrize("step", ["safe", "paper"])
def test_without_strength_each_view_is_a_plsa_of_its_own(views, step):
    model = PairwiseCoPLSA(
        3, strength=0.0, step=step, init=views.labels, view_weights=[1, 1], **FIXED
    ).fit(views)
    alone = PLSA(3, init=views.labels, **FIXED).fit(views.select("view_0"))
    np.testing.assert_allclose(model.view_doc_topic_["view_0"], alone.doc_topic_, atol=1e-9)
    np.testing.assert_allclose(model.components_["view_0"], alone.components_["view_0"], atol=1e-9)


def test_the_topics_of_all_views_are_numbered_alike(views):
    # each view starts from another numbering of the same clusters
    model = PairwiseCoPLSA(3, random_state=0, n_init=3).fit(views)
    for labels in model.view_labels_.values():
        assert (labels == model.labels_).mean() > 0.8
    assert clustering_accuracy(views.labels, model.labels_) > 0.85
    a, b = (model.transform(views.select(n)).argmax(axis=1) for n in views.names)
    assert (a == b).mean() > 0.7


def test_the_reference_view_gives_the_mixtures(views):
    model = PairwiseCoPLSA(3, reference_view="view_1", random_state=0).fit(views)
    np.testing.assert_array_equal(model.doc_topic_, model.view_doc_topic_["view_1"])
    np.testing.assert_array_equal(model.labels_, model.view_labels_["view_1"])


def test_without_the_reference_view_the_others_give_the_mixture():
    views = make_views(80, 3, [40, 30, 20], doc_length=40, missing=0.3, random_state=4)
    model = PairwiseCoPLSA(3, reference_view="view_1", random_state=0).fit(views)
    has = views.present[:, 1]
    found = model.transform(views)
    others = model.transform(views.select("view_0", "view_2"))
    np.testing.assert_array_equal(found[~has], others[~has])
    alone = model.transform(views.select("view_1"))  # comes to rest a little earlier
    np.testing.assert_allclose(found[has], alone[has], atol=0.01)
    assert (found[~has].max(axis=1) > 0.5).mean() > 0.9
    assert (found.argmax(axis=1) == model.labels_)[~has].mean() > 0.8


def test_strength_makes_the_similarities_agree(views):
    def disagreement(model):
        gaps = []
        for mixture in model.view_doc_topic_.values():
            square = ((mixture[:, None] - mixture[None]) ** 2).sum(axis=2)
            gaps.append(np.exp(-square / model.bandwidth))
        return ((gaps[0] - gaps[1]) ** 2).mean()

    found = [
        disagreement(
            PairwiseCoPLSA(
                3, strength=s, init=views.labels, max_iter=1000, tol=1e-6, random_state=0
            ).fit(views)
        )
        for s in (0.0, 1.0, 30.0)
    ]
    assert found[0] > found[1] > found[2]


def test_all_pairs_can_be_asked_for(views):
    everything = PairwiseCoPLSA(3, pair_fraction=1.0, init=views.labels, **FIXED).fit(views)
    again = PairwiseCoPLSA(3, n_pairs=60 * 59 // 2, init=views.labels, **FIXED).fit(views)
    np.testing.assert_array_equal(everything.doc_topic_, again.doc_topic_)


def drawn_pairs(monkeypatch):
    """Return the list that the pairs of each fit to come are added to."""
    found = []

    def remember(*args):
        found.append(sample_pairs(*args))
        return found[-1]

    monkeypatch.setattr("coview.models.pairwise_coplsa.sample_pairs", remember)
    return found


@pytest.mark.parametrize(("step", "naive"), [("paper", "literal"), ("safe", "safe")])
def test_an_absolute_strength_is_the_papers_lambda_with_sampled_pairs(monkeypatch, step, naive):
    views = make_views(150, 3, [12, 9], doc_length=8, view_noise=0.3, random_state=4)
    seen = drawn_pairs(monkeypatch)

    def fit(max_iter):
        return PairwiseCoPLSA(
            3,
            strength=0.07,
            strength_scale="absolute",
            pair_fraction=0.05,
            step=step,
            ensemble=0,
            view_weights=[0.5, 0.5],
            init=views.labels,
            **{**FIXED, "max_iter": max_iter},
        ).fit(views)

    first, later = fit(1), fit(4)
    pairs = [tuple(pair) for pair in seen[0].tolist()]
    assert len(pairs) == round(0.05 * 150 * 149 / 2)
    start = [list(first.view_doc_topic_.values()), list(first.components_.values())]
    Xs = [matrix.toarray() for matrix in views.matrices.values()]
    states, values = reference.pairwise_coplsa(
        Xs, *start, 3, [0.5, 0.5], 0.07, 1.0, pairs, step=naive
    )
    if step == "paper":  # the model's safe step goes half of the way where it needs a shift
        for found, expected in zip(later.view_doc_topic_.values(), states[-1][0], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
        assert later.objective_ == pytest.approx(values[-1], rel=1e-10)
    assert first.objective_ == pytest.approx(values[0], rel=1e-10)
    expected = reference.penalty(start[0], pairs, 1.0, lam=0.07)
    assert first.trace_.penalty[-1] == pytest.approx(expected, rel=1e-10)


def test_the_mass_scale_does_not_depend_on_the_number_of_pairs(views):
    options = {"init": views.labels, **FIXED, "max_iter": 1}
    values = [
        PairwiseCoPLSA(3, pair_fraction=share, **options).fit(views).trace_.penalty[-1]
        for share in (0.3, 1.0)
    ]
    assert values[0] == pytest.approx(values[1], rel=0.2)


def test_the_scale_of_the_counts_plays_no_part(views):
    options = {"init": views.labels, "view_weights": "balanced", **FIXED}
    a = PairwiseCoPLSA(3, **options).fit(views)
    b = PairwiseCoPLSA(3, **options).fit({n: 5 * m for n, m in views.matrices.items()})
    np.testing.assert_allclose(a.doc_topic_, b.doc_topic_, atol=1e-7)


def test_a_view_that_a_document_lacks_gets_the_mean_of_the_others():
    views = make_views(80, 3, [40, 30, 20], doc_length=40, missing=0.3, random_state=4)
    # the ensemble's view would be one more of the others
    model = PairwiseCoPLSA(3, ensemble=0, random_state=0, dtype="float64").fit(views)
    for d in range(len(views)):
        has = views.present[d]
        rows = np.array([model.view_doc_topic_[n][d] for n in views.names])
        for row in rows[~has]:
            np.testing.assert_allclose(row, model.doc_topic_[d], atol=1e-9)


@pytest.mark.parametrize("reference", [None, "none"])
def test_topics_are_not_numbered_as_those_of_a_view_without_counts(views, reference):
    nothing = {"none": np.zeros((60, 5)), **views.matrices}
    model = PairwiseCoPLSA(3, init="random", reference_view=reference, random_state=1)
    with pytest.warns(DataWarning, match="'none'"):
        model.fit(nothing)
    a, b = (model.view_labels_[n] for n in views.names)
    assert (a == b).mean() > 0.8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strength": -1.0}, "strength must be"),
        ({"bandwidth": 0.0}, "bandwidth must be"),
        ({"n_pairs": 0}, "n_pairs must be"),
        ({"pair_fraction": 1.5}, "pair_fraction must be"),
        ({"pair_fraction": 0.5, "n_pairs": 3}, "not both"),
        ({"step": "wild"}, "step must be"),
        ({"reference_view": "smell"}, "reference_view must be"),
    ],
)
def test_bad_parameters_are_named(views, params, message):
    with pytest.raises(ValueError, match=message):
        PairwiseCoPLSA(3, **params).fit(views)
