"""`strength="auto"` in every model that has a strength."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import coview
from coview import (
    LTM,
    MGGM,
    Checkpoint,
    DataWarning,
    DivergenceCoPLSA,
    PairwiseCoPLSA,
    TopicClassifier,
    Views,
    strength_path,
)
from coview import strength as module
from coview.datasets import make_views

MODELS = [PairwiseCoPLSA, DivergenceCoPLSA, LTM, MGGM]
every_model = pytest.mark.parametrize("cls", MODELS)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """Make paths short: what they compare is not the matter here."""
    monkeypatch.setattr(module, "SPLITS", 2)
    monkeypatch.setattr(module, "STEPS", (0.1, 1.0))
    monkeypatch.setattr(module, "ITERATIONS", 4)


@pytest.fixture(scope="module")
def all_views():
    return make_views(60, 3, [40, 30, 20], missing=0.2, random_state=0)


@pytest.fixture
def views(cls, all_views):
    return all_views.concat() if cls is LTM else all_views


def auto(cls, n_components=3, **params):
    """A quick model that chooses its strength."""
    quick = {"init": "kmeans", "max_iter": 8, "tol": 0.0, "random_state": 0}
    return cls(n_components, **{**quick, "strength": "auto", **params})


def assert_same_bits(a, b):
    assert a.objective_ == b.objective_
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    np.testing.assert_array_equal(a.labels_, b.labels_)


@every_model
def test_the_fit_is_that_with_the_chosen_number(cls, views):
    model = auto(cls).fit(views)
    assert model.strength_ == model.strength_path_.chosen
    assert model.strength == "auto"
    given = auto(cls, strength=model.strength_).fit(views)
    assert_same_bits(model, given)
    np.testing.assert_array_equal(model.transform(views), given.transform(views))
    assert (given.strength_, given.strength_path_) == (model.strength_, None)


@every_model
def test_the_path_of_a_fit_is_that_of_the_function(cls, views):
    path = strength_path(auto(cls), views, random_state=7)
    model = auto(cls, random_state=7).fit(views)
    np.testing.assert_array_equal(model.strength_path_.values, path.values)
    assert model.strength_ == path.chosen


@every_model
@pytest.mark.slow
def test_another_strength_can_be_chosen(cls, views, monkeypatch):
    for best in (0, 1):
        chosen = module.STEPS[best] * cls._usual_strength
        monkeypatch.setattr(module, "choose", lambda steps, values, usual, best=best: steps[best])
        model = auto(cls).fit(views)
        assert model.strength_ == chosen
        assert_same_bits(model, auto(cls, strength=chosen).fit(views))


@every_model
@pytest.mark.slow
def test_the_bits_do_not_depend_on_threads(cls, views):
    one, two = (auto(cls, n_jobs=n).fit(views) for n in (1, 2))
    assert_same_bits(one, two)
    np.testing.assert_array_equal(one.strength_path_.values, two.strength_path_.values)


@every_model
def test_the_scale_must_be_that_of_masses(cls, views):
    with pytest.raises(ValueError, match="strength='auto' needs strength_scale='mass'"):
        auto(cls, strength_scale="absolute").fit(views)
    with pytest.raises(ValueError, match="at least 0, or 'auto'; got 'best'"):
        auto(cls, strength="best").fit(views)


@every_model
def test_parameters_are_kept_by_clones_and_copies(cls, views):
    model = auto(cls).fit(views)
    assert clone(model).strength == "auto"
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.transform(views), model.transform(views))
        assert again.strength_ == model.strength_
    model.set_params(strength=0.5).fit(views)
    assert (model.strength_, model.strength_path_) == (0.5, None)


@every_model
def test_a_saved_model_keeps_the_path(cls, views, tmp_path):
    model = auto(cls).fit(views)
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    assert (again.strength, again.strength_) == ("auto", model.strength_)
    np.testing.assert_array_equal(again.transform(views), model.transform(views))
    path, kept = model.strength_path_, again.strength_path_
    np.testing.assert_array_equal(kept.values, path.values)
    np.testing.assert_array_equal(kept.strengths, path.strengths)
    assert repr(kept) == repr(path)
    assert (kept.usual, kept.n_docs) == (path.usual, path.n_docs)


@every_model
@pytest.mark.slow
def test_a_fit_that_was_stopped_ends_in_the_same_bits(cls, views, tmp_path):
    seen = []

    def stop(state):
        seen.append(state)
        if len(seen) == 4:
            raise KeyboardInterrupt

    model, path = auto(cls, random_state=None), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        model.fit(views, checkpoint=Checkpoint(path, every=1), on_iteration=stop)
    resumed = clone(model).fit(views, checkpoint=Checkpoint(path, resume=True))
    whole = auto(cls, random_state=resumed.random_state_used_).fit(views)
    assert_same_bits(resumed, whole)
    np.testing.assert_array_equal(resumed.strength_path_.values, whole.strength_path_.values)


@every_model
def test_a_classifier_chooses_with_its_labels_pinned(cls, views, tmp_path):
    y = [f"c{k}" if i % 3 == 0 else None for i, k in enumerate(views.labels)]
    classifier = TopicClassifier(auto(cls, init="auto")).fit(views, y)
    model = classifier.estimator_
    pins = np.where(np.arange(60) % 3 == 0, views.labels, -1)
    weighted = auto(cls, view_weights=model.view_weights_)  # as learned with the guess
    expected = strength_path(weighted, views, labels=pins)
    np.testing.assert_array_equal(model.strength_path_.values, expected.values)
    assert np.isfinite(expected.values).all()
    assert (classifier.labels_[pins >= 0] == np.array(y, object)[pins >= 0]).all()
    classifier.save(tmp_path / "c.coview")
    again = coview.load(tmp_path / "c.coview")
    assert again.estimator_.strength_ == model.strength_


@every_model
def test_labels_of_some_topics_only(cls, views):
    labels = np.where(views.labels == 1, 1, -1)
    model = auto(cls).fit(views, labels=labels)
    assert np.isfinite(model.strength_path_.values).all()


@every_model
@pytest.mark.slow
def test_seeds_and_starts_of_the_users_own_are_no_obstacle(cls, views, rng):
    seeds = {0: {views.names[0]: [1, 2]}}
    for params in ({"seeds": seeds}, {"init": rng.dirichlet(np.ones(3), 60)}, {"init": "random"}):
        assert np.isfinite(auto(cls, **params).fit(views).strength_path_.values).all()
    first = auto(cls, strength=1.0).fit(views)
    assert auto(cls, init=first).fit(views).strength_path_ is not None


# -- data with nothing to choose by ----------------------------------------------------------------


def fit_quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.fit(X)


@every_model
def test_one_topic_or_one_document_gets_the_usual_strength(cls, views):
    assert auto(cls, 1).fit(views).strength_ == cls._usual_strength
    assert fit_quietly(auto(cls, 1), views[[0]]).strength_ == cls._usual_strength
    assert fit_quietly(auto(cls, 2), views[[0]]).strength_ in {0.1, 0.2, 1, 2}


@every_model
def test_documents_that_are_all_alike_get_the_usual_strength(cls, views):
    alike = fit_quietly(auto(cls, 2), views[np.zeros(20, int)])
    assert alike.strength_ == cls._usual_strength
    assert np.ptp(alike.strength_path_.mean) == 0


@every_model
def test_a_single_term_says_nothing(cls):
    X = np.zeros((8, 6))
    X[:, 2] = np.arange(1, 9)
    model = fit_quietly(auto(cls, 2), X)
    assert model.strength_ == cls._usual_strength
    assert np.isnan(model.strength_path_.values).all()  # one of the halves has no counts


@every_model
def test_views_of_few_features(cls, rng):
    X = rng.integers(1, 9, (30, 2))
    matrices = X if cls is LTM else {"a": X, "b": X[:, :1]}
    assert np.isfinite(fit_quietly(auto(cls, 2), matrices).strength_path_.values).all()


@pytest.mark.parametrize("cls", [PairwiseCoPLSA, DivergenceCoPLSA, MGGM])
@pytest.mark.parametrize("present", [True, False])
def test_a_view_that_nobody_has(cls, all_views, present):
    matrices = {**all_views.matrices, "none": np.zeros((60, 6))}
    mask = np.column_stack([all_views.present, np.full(60, present)])
    with pytest.warns(DataWarning, match="No document has a count in 'none'") as caught:
        model = auto(cls).fit(Views(matrices, present=mask))
    assert len(caught) == 1
    assert np.isfinite(model.strength_path_.values).all()


@every_model
def test_real_valued_views_are_scaled_once(cls, rng):
    centers = rng.normal(size=(3, 12)) * 3
    X = centers[np.arange(60) % 3] + rng.normal(size=(60, 12))
    model = auto(cls).fit(X if cls is LTM else {"a": X, "b": X @ rng.normal(size=(12, 9))})
    assert np.isfinite(model.strength_path_.values).all()


def test_the_start_of_mggm_by_ltm_has_the_chosen_strength(all_views):
    model = auto(MGGM, init="ltm").fit(all_views)
    assert_same_bits(model, auto(MGGM, init="ltm", strength=model.strength_).fit(all_views))


def test_strengths_by_pairs_are_kept():
    views = make_views(40, 3, [20, 20], random_state=0)
    pairs = {("view_0", "view_1"): 2.0}
    for model in (PairwiseCoPLSA(3, max_iter=5, tol=0), DivergenceCoPLSA(3, max_iter=5, tol=0)):
        step = {"step": "paper"} if isinstance(model, DivergenceCoPLSA) else {}
        assert model.set_params(strength=pairs, **step).fit(views).strength_ == pairs


def test_new_documents_are_folded_in_with_the_strength_of_the_fit():
    views = make_views(40, 3, [20, 20], random_state=0)
    model = DivergenceCoPLSA(3, max_iter=5, tol=0, random_state=0).fit(views)
    before = model.transform(views)
    np.testing.assert_array_equal(model.set_params(strength=50.0).transform(views), before)
    del model.strength_  # as in files of earlier versions
    assert not np.array_equal(model.transform(views), before)
    np.testing.assert_array_equal(model.set_params(strength=1.0).transform(views), before)
