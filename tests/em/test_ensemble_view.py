"""The ensemble as an internal view: it acts like any other view, and nobody sees it."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coview import (
    MGGM,
    MVPLSA,
    Checkpoint,
    DivergenceCoPLSA,
    LinkPLSA,
    PairwiseCoPLSA,
    Views,
    VotedPLSA,
    load,
    view_reliability,
)
from coview.datasets import make_views
from coview.em.prepared import ENSEMBLE_VIEW
from coview.em.step import em_step
from coview.metrics import clustering_accuracy
from tests.contracts.models import MODELS

QUICK = {"random_state": 0, "max_iter": 8, "tol": 0.0, "dtype": "float64"}
several = pytest.mark.parametrize("entry", [e for e in MODELS if not e.one_view], ids=str)
every = pytest.mark.parametrize("entry", MODELS, ids=str)


@pytest.fixture(scope="module")
def views():
    """Planted topics in three views; some documents lack views."""
    return make_views(80, 3, [30, 20, 25], doc_length=40, missing=0.2, random_state=3)


def data_of(entry, views):
    return views.select("view_0")[views.present[:, 0]] if entry.one_view else views


def assert_same(a, b):
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    for name, topics in a.components_.items():
        np.testing.assert_array_equal(topics, b.components_[name])
    np.testing.assert_array_equal(a.trace_.objective, b.trace_.objective)
    np.testing.assert_array_equal(a.trace_.restarts, b.trace_.restarts)
    assert a.view_weights_ == b.view_weights_


def with_extra_view(model, views):
    """The views and the internal view as one of the user's, and the weights of all of them."""
    seed = np.random.SeedSequence(model.random_state).spawn(2)[0]
    data, _ = model._prepare_training(views, None, np.random.default_rng(seed))
    data = data.with_ensemble_view(model._ensemble_share(data))
    names = [*views.names, "extra"]
    matrices = dict(zip(names, [*views.matrices.values(), data.matrices[-1]], strict=True))
    weights = dict(zip(names, data.weights, strict=True))
    return Views(matrices, present=data.present), weights


# -- what it does ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (LinkPLSA, {}),
        (DivergenceCoPLSA, {"divergence": "skl"}),
        (PairwiseCoPLSA, {"pair_fraction": 1.0, "strength_scale": "absolute"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_acts_like_one_more_view_with_its_weight(cls, options, views):
    start = views.labels
    model = cls(3, init=start, ensemble=0.3, **options, **QUICK).fit(views)
    extended, weights = with_extra_view(model, views)
    given = cls(3, init=start, ensemble=0, view_weights=weights, **options, **QUICK)
    given.fit(extended)
    for name in views.names:
        topics = given.components_[name]
        np.testing.assert_allclose(model.components_[name], topics, rtol=1e-9, atol=1e-12)
        mixtures = given.view_doc_topic_[name]
        np.testing.assert_allclose(model.view_doc_topic_[name], mixtures, atol=1e-9)
    np.testing.assert_allclose(model.trace_.objective, given.trace_.objective)
    parts = given.trace_.log_likelihood
    np.testing.assert_allclose(model.trace_.log_likelihood, parts[:, :-1])
    np.testing.assert_allclose(model.trace_.ensemble_term, parts[:, -1])


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_it_has_its_share_of_the_weighted_tokens(views, share):
    model = LinkPLSA(3, ensemble=share, **QUICK)
    extended, weights = with_extra_view(model, views)
    tokens = {name: weights[name] * m.sum() for name, m in extended.matrices.items()}
    extra = tokens.pop("extra")
    assert extra == pytest.approx(share * sum(tokens.values()))
    assert model.fit(views).trace_.ensemble["share"] == share


def test_it_draws_topics_to_the_clusters_of_the_ensemble(views):
    start = np.random.default_rng(0).integers(0, 3, len(views))  # a start that knows nothing
    settings = {"init": start, "random_state": 0, "max_iter": 60, "tol": 0.0}
    scores = []
    for seed in range(4):
        wide = make_views(80, 3, [30, 20], doc_length=6, view_noise=0.5, random_state=seed)
        fits = (LinkPLSA(3, ensemble=e, **settings).fit(wide) for e in (0, 3.0))
        consensus = LinkPLSA(3, init="consensus", max_iter=1, tol=0.0, random_state=0).fit(wide)
        scores.append([clustering_accuracy(consensus.labels_, fit.labels_) for fit in fits])
    free, drawn = np.mean(scores, axis=0)
    assert drawn > free


def test_none_of_it_is_a_fit_without_it(views):
    without = LinkPLSA(3, ensemble=0, **QUICK).fit(views)
    assert without.trace_.ensemble_term is None
    assert without.trace_.ensemble["share"] == 0
    assert without.trace_.ensemble["families"]  # the start is still the consensus
    assert (LinkPLSA(3, **QUICK).fit(views).doc_topic_ != without.doc_topic_).any()


@pytest.mark.parametrize("init", ["random", "kmeans", "trial", "labels", "mixtures", "model"])
def test_a_start_of_ones_own_is_of_the_model_alone(views, init):
    given = {
        "labels": views.labels,
        "mixtures": np.full((len(views), 3), 1 / 3),
        "model": LinkPLSA(3, **QUICK).fit(views),
    }
    init = given.get(init, init)
    model = LinkPLSA(3, init=init, **QUICK).fit(views)
    assert model.trace_.ensemble_term is None
    assert_same(model, LinkPLSA(3, init=init, ensemble=0, **QUICK).fit(views))
    asked = LinkPLSA(3, init=init, ensemble=0.2, **QUICK).fit(views)
    assert asked.trace_.ensemble_term is not None


@every
def test_the_parts_sum_up_to_an_objective_that_does_not_fall(entry, views):
    trace = entry(init="auto", ensemble=0.3).fit(data_of(entry, views)).trace_
    parts = trace.log_likelihood.sum(axis=1) + trace.ensemble_term - trace.penalty
    np.testing.assert_allclose(trace.objective, parts)
    if entry.monotone:
        steps = np.diff([trace.start_objective, *trace.objective])
        assert (steps > -1e-9 * abs(trace.objective[-1])).all()


def test_priors_and_seeds_are_parts_of_the_objective_beside_it(views):
    seeds = {0: {"view_0": [1, 2]}, 1: {"view_1": [3]}}
    priors = {"doc_topic_prior": 1.2, "topic_word_prior": 1.1}
    model = LinkPLSA(3, seeds=seeds, ensemble=0.2, **priors, **QUICK).fit(views)
    trace = model.trace_
    parts = trace.log_likelihood.sum(axis=1) + trace.ensemble_term
    np.testing.assert_allclose(trace.objective, parts + trace.log_prior + trace.seed_term)
    assert (np.diff(trace.objective) > -1e-9 * abs(model.objective_)).all()


def test_labeled_documents_keep_their_topics(views):
    labels = np.where(np.arange(len(views)) % 6 == 0, views.labels, -1)
    model = LinkPLSA(3, ensemble=0.2, **QUICK).fit(views, labels=labels)
    assert model.trace_.ensemble_term is not None
    pinned = labels >= 0
    np.testing.assert_array_equal(model.doc_topic_[pinned], np.eye(3)[labels[pinned]])


# -- nobody sees it --------------------------------------------------------------------------------


@every
@pytest.mark.filterwarnings("ignore:PairwiseCoPLSA has not converged")  # its paper's step
def test_every_model_fits_with_its_defaults(entry, views):
    data = data_of(entry, views)
    model = entry.cls(3, random_state=0, max_iter=300, **dict(entry.options)).fit(data)
    assert np.isfinite(model.doc_topic_).all()
    assert clustering_accuracy(data.labels, model.labels_) > 0.7
    np.testing.assert_allclose(model.transform(data).sum(axis=1), 1, rtol=1e-5)
    share = 0 if entry.one_view or entry.cls is VotedPLSA else 0.2
    assert (model.trace_.ensemble_term is not None) == (share > 0)


@every
def test_no_attribute_has_it(entry, views, tmp_path):
    data, seen = data_of(entry, views), []
    model = entry(init="auto", ensemble=0.3)
    model.fit(data, on_iteration=lambda state: seen.append(state))
    assert model.trace_.ensemble_term is not None
    attributes = {**vars(model), **seen[0]}
    by_view = {n: v for n, v in attributes.items() if isinstance(v, dict) and data.names[0] in v}
    assert {"components_", "view_doc_topic_", "view_weights_", "term_counts_"} <= set(by_view)
    for name, value in by_view.items():
        assert set(value) <= set(data.names), name
    assert model.view_names_ == data.names
    assert model.trace_.log_likelihood.shape == (model.n_iter_, data.n_views)
    assert model.n_features_in_ == sum(data.widths)
    assert model.present_.shape == (len(data), data.n_views)
    model.save(tmp_path / "model.coview")
    assert ENSEMBLE_VIEW.encode() not in (tmp_path / "model.coview").read_bytes()


def test_shares_of_views_are_those_of_the_given_views(views):
    model = VotedPLSA(3, ensemble=0.3, **QUICK).fit(views)
    assert model.view_shares_.shape == (3, 3)
    np.testing.assert_allclose(model.view_shares_.sum(axis=1), 1)


@pytest.mark.parametrize("cls", [MVPLSA, MGGM])
def test_feature_topics_are_those_of_the_given_views(cls, views):
    model = cls(3, {"view_0": 4, "view_1": 5, "view_2": 6}, **QUICK).fit(views)
    assert model.trace_.ensemble_term is not None
    found = {name: topics.shape[0] for name, topics in model.feature_topics_.items()}
    assert found == {"view_0": 4, "view_1": 5, "view_2": 6}


@several
def test_new_documents_lack_it(entry, views):
    model = entry(init="auto", ensemble=0.3).fit(views[:60])
    found = model.transform(views[60:])
    assert found.shape == (20, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    alone = model.transform(views.select("view_1")[60:][views.present[60:, 1]])
    assert np.isfinite(alone).all()


def test_a_saved_model_tells_of_its_ensemble(views, tmp_path):
    model = LinkPLSA(3, **QUICK).fit(views)
    model.save(tmp_path / "model.coview")
    again = load(tmp_path / "model.coview")
    assert_same(again, model)
    np.testing.assert_array_equal(again.trace_.ensemble_term, model.trace_.ensemble_term)
    for name, value in model.trace_.ensemble.items():
        np.testing.assert_equal(again.trace_.ensemble[name], value)
    np.testing.assert_array_equal(again.transform(views), model.transform(views))


def test_the_trace_tells_what_the_ensemble_was(views):
    told = LinkPLSA(3, **QUICK).fit(views).trace_.ensemble
    members = len(told["families"])
    assert len(told["n_clusters"]) == len(told["weights"]) == members
    assert min(told["n_clusters"]) >= 3
    assert max(told["weights"]) == 1
    assert set(told["families"]) <= set(told["replicability"])
    assert told["reliability"].shape == (3, 3)
    assert set(told["view_weights"]) == set(views.names)
    json.dumps({**told, "reliability": told["reliability"].tolist()})


def test_learned_weights_are_balanced_ones_times_squared_reliability(views):
    model = LinkPLSA(3, **QUICK).fit(views)
    balanced = LinkPLSA(3, **QUICK).set_params(view_weights="balanced").fit(views)
    for name, weight in model.view_weights_.items():
        trust = model.trace_.ensemble["view_weights"][name]
        assert weight == pytest.approx(balanced.view_weights_[name] * trust**2)


def test_a_reliability_that_is_given_is_not_measured_again(views, tmp_path):
    known = view_reliability(views, 3)
    model = LinkPLSA(3, **QUICK, view_weights=known, init="kmeans").fit(views)
    assert model.view_reliability_ == known.weights
    balanced = LinkPLSA(3, **QUICK, view_weights="balanced", init="kmeans").fit(views)
    for name, weight in model.view_weights_.items():
        assert weight == pytest.approx(balanced.view_weights_[name] * known.weights[name] ** 2)
    model.save(tmp_path / "model.coview")
    again = load(tmp_path / "model.coview").view_weights
    assert again.weights == known.weights
    np.testing.assert_array_equal(again.matrix, known.matrix)


def test_a_reliability_weighs_the_views_of_the_ensemble(views):
    told = replace(view_reliability(views, 3), weights=dict.fromkeys(views.names, 1.0))
    given, equal = (
        LinkPLSA(3, **QUICK, ensemble=0.2, view_weights=w).fit(views) for w in (told, "balanced")
    )
    assert_same(given, equal)
    assert given.view_reliability_ == told.weights
    assert equal.view_reliability_ is None


def test_a_reliability_of_other_views_is_refused(views):
    known = view_reliability(views.select("view_0", "view_1"), 3)
    with pytest.raises(ValueError, match=r"view_weights names the views .* the data have"):
        LinkPLSA(3, **QUICK, view_weights=known).fit(views)


def test_a_view_that_has_its_name_is_refused(views):
    named = Views({"text": views["view_0"], ENSEMBLE_VIEW: views["view_1"]})
    with pytest.raises(ValueError, match=r"'\(ensemble\)' has the name .* rename it"):
        LinkPLSA(3, **QUICK).fit(named)


# -- the same bits ---------------------------------------------------------------------------------


slow = pytest.mark.slow


@pytest.mark.parametrize("n_steps", [0, *(pytest.param(n, marks=slow) for n in (4, 9, 14)), 22])
def test_an_interrupted_fit_goes_on_to_the_same_bits(n_steps, tmp_path, monkeypatch):
    views = make_views(80, 10, [30, 20, 25], doc_length=5, missing=0.2, random_state=3)
    settings = {**QUICK, "n_components": 10, "n_init": 3}  # two from a resampled ensemble
    undisturbed = LinkPLSA(**settings).fit(views)
    assert len(set(undisturbed.trace_.restarts)) == 3
    left = iter(range(n_steps))

    def step(problem, *args):
        of_the_fit = len(problem.emissions) == 4  # others learn the share of the ensemble's view
        if of_the_fit and next(left, None) is None:
            raise KeyboardInterrupt
        return em_step(problem, *args)

    with monkeypatch.context() as patch:
        patch.setattr("coview.em.loop.em_step", step)
        with pytest.raises(KeyboardInterrupt):
            LinkPLSA(**settings).fit(views, checkpoint=Checkpoint(tmp_path / "run", every=2))
    again = Checkpoint(tmp_path / "run", resume=True)
    resumed = LinkPLSA(**settings).fit(views, checkpoint=again)
    assert_same(resumed, undisturbed)
    np.testing.assert_array_equal(resumed.trace_.ensemble_term, undisturbed.trace_.ensemble_term)
    assert resumed.trace_.log_likelihood.shape == undisturbed.trace_.log_likelihood.shape


@several
def test_the_number_of_jobs_changes_no_bit(entry, views):
    one, two = (entry(init="auto", n_jobs=n, dtype="float32").fit(views) for n in (1, 2))
    assert_same(one, two)


FIT = """
import hashlib
import numpy as np
from coview import LinkPLSA, Views
from coview.datasets import make_views
views = make_views(600, 6, [300, 200], missing=0.1, random_state=3)
rng = np.random.default_rng(0)
measured = rng.normal(size=(6, 90))[views.labels] + 2 * rng.normal(size=(600, 90))
present = np.column_stack([views.present, np.ones(600, bool)])
views = Views({**views.matrices, "measured": measured}, present=present)
model = LinkPLSA(6, random_state=0, max_iter=5, tol=0.0).fit(views)
told = model.trace_.ensemble
print(hashlib.sha256(model.doc_topic_.tobytes()).hexdigest(), model.objective_)
print(told["share"], told["replicability"], told["view_weights"], told["n_clusters"])
"""


@pytest.mark.slow
def test_the_number_of_threads_of_blas_changes_no_bit():
    said = []
    for n in ("1", "2"):
        env = {**os.environ, "OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n}
        ran = subprocess.run(
            [sys.executable, "-c", FIT], env=env, capture_output=True, text=True, check=True
        )
        said.append(ran.stdout)
    assert said[0] == said[1]


# -- where there is nothing to learn, and where it is refused --------------------------------------


@pytest.mark.parametrize("cls", [PairwiseCoPLSA, DivergenceCoPLSA])
def test_strengths_by_pairs_leave_no_place_for_it(cls, views):
    pairs = {("view_0", "view_1"): 1.0, ("view_0", "view_2"): 0.5, ("view_1", "view_2"): 0.5}
    paper = {"step": "paper", "strength": pairs, **QUICK}
    assert cls(3, **paper).fit(views).trace_.ensemble_term is None
    assert cls(3, ensemble=0, **paper).fit(views).trace_.ensemble_term is None
    with pytest.raises(ValueError, match=r"one strength for all, or ensemble=0 instead of 0\.3"):
        cls(3, ensemble=0.3, **paper).fit(views)


@pytest.mark.parametrize("ensemble", [-0.1, np.nan, np.inf, "often", None, [0.2], np.ones(2)])
def test_wrong_weights_are_refused(ensemble, views):
    with pytest.raises((ValueError, TypeError), match="ensemble"):
        LinkPLSA(3, ensemble=ensemble).fit(views)


@pytest.mark.parametrize("n_components", [1, 3])
def test_one_topic_or_hardly_any_documents_have_no_ensemble(n_components, views):
    one = LinkPLSA(1, ensemble=0.3, **QUICK).fit(views)
    assert one.trace_.ensemble is None
    empty = np.zeros((6, 4))
    empty[2] = [1, 0, 2, 1]
    alone = LinkPLSA(n_components, ensemble=0.3, **QUICK)
    alone.fit({"a": sp.csr_array(empty), "b": sp.csr_array(empty[:, :3])})
    assert alone.trace_.ensemble is None
    assert np.isfinite(alone.doc_topic_).all()
