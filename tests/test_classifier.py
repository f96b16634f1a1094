"""TopicClassifier: label types, unlabeled documents, views that are missing."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from coview import (
    MGGM,
    MVPLSA,
    PLSA,
    Checkpoint,
    LinkPLSA,
    PairwiseCoPLSA,
    TopicClassifier,
    Views,
    VotedPLSA,
    load,
)
from coview.datasets import make_views
from coview.ensemble.reliability import deal

NAMES = np.array(["art", "biology", "sport"])


@pytest.fixture(scope="module")
def views():
    options = {"doc_length": 40, "view_noise": 0.2, "missing": 0.1, "random_state": 1}
    made = make_views(120, 3, [60, 40], **options)
    return made.with_labels(made.labels)  # numbers, whose names are not known


def few(labels, per_class=4):
    """All but the first documents of each class unlabeled."""
    kept = np.full(len(labels), False)
    for k in np.unique(labels):
        kept[np.flatnonzero(labels == k)[:per_class]] = True
    return kept


def classifier(**params):
    return TopicClassifier(LinkPLSA(random_state=0, **params))


def test_a_handful_of_labels_classify_the_rest(views):
    kept = few(views.labels)
    found = classifier().fit(views, np.where(kept, views.labels, -1))
    assert (found.labels_ == views.labels).mean() > 0.9
    by_one_view = found.predict(views.select("view_0"), unknown="guess")
    assert (by_one_view == views.labels).mean() > 0.7


def test_text_labels_with_none_are_the_same_problem(views):
    kept = few(views.labels)
    numbers = np.where(kept, views.labels, -1)
    texts = [str(NAMES[k]) if keep else None for k, keep in zip(views.labels, kept, strict=True)]
    by_text, by_number = classifier().fit(views, texts), classifier().fit(views, numbers)
    assert by_text.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(by_text.labels_, NAMES[by_number.labels_])
    np.testing.assert_array_equal(by_text.predict_proba(views), by_number.predict_proba(views))


def test_nan_is_unlabeled_among_floats(views):
    kept = few(views.labels)
    floats = np.where(kept, views.labels.astype(float), np.nan)
    again = classifier().fit(views, np.where(kept, views.labels, -1))
    np.testing.assert_array_equal(classifier().fit(views, floats).labels_, again.labels_)


def test_minus_one_can_be_a_class(views):
    y = np.where(views.labels == 0, -1, views.labels)
    found = TopicClassifier(LinkPLSA(random_state=0), unlabeled=None).fit(views, y)
    assert found.classes_.tolist() == [-1, 1, 2]


def test_the_number_of_topics_is_the_number_of_classes_and_the_model_given_stays(views):
    model = PLSA(7, random_state=0)
    found = TopicClassifier(model).fit(views.select("view_0"), views.labels)
    assert found.estimator_.n_components == 3
    assert model.n_components == 7
    assert not hasattr(model, "components_")
    assert clone(found).estimator.n_components == 7


def test_no_label_at_all_is_an_error(views):
    with pytest.raises(ValueError, match="at least one document"):
        classifier().fit(views, np.full(len(views), -1))


def test_a_missing_y_says_what_is_expected(views):
    with pytest.raises(ValueError, match="requires y"):
        classifier().fit(views, None)


def test_a_wrong_number_of_labels_is_an_error(views):
    with pytest.raises(ValueError, match="120 documents"):
        classifier().fit(views, [0, 1, 2])


# -- the guess -------------------------------------------------------------------------------------


def labeled(views, per_class=1):
    return np.where(few(views.labels, per_class), views.labels, -1)


@pytest.fixture(scope="module")
def noisy():
    """Plant three classes in a view, and add a view that tells nothing of them."""
    views = make_views(150, 3, [60, 40], doc_length=30, view_noise=0.3, random_state=3)
    noise = np.random.default_rng(0).poisson(0.5, (150, 40))
    return Views({"text": views["view_0"], "noise": noise}, labels=views.labels)


def test_one_label_of_each_class_does_more_by_the_guess():
    points, digits = load_digits(return_X_y=True)
    points, digits = points[:400] + 0.5, digits[:400]  # measurements, which no multinomial fits
    views = Views({"above": points[:, :32], "below": points[:, 32:]}, labels=digits)
    y = labeled(views)
    with_guess, without = (
        TopicClassifier(LinkPLSA(random_state=0), guess_strength=s).fit(views, y).labels_
        for s in (1, 0)
    )
    rest = y < 0
    assert (with_guess == digits)[rest].mean() > (without == digits)[rest].mean() + 0.05


def test_a_view_of_noise_gets_little_weight(noisy):
    found = classifier().fit(noisy, labeled(noisy))
    assert found.view_trust_["noise"] < 0.2 < found.view_trust_["text"]
    weights = found.estimator_.view_weights_
    assert weights["noise"] < 0.1 * weights["text"]
    left = TopicClassifier(LinkPLSA(random_state=0, view_weights="balanced")).fit(
        noisy, labeled(noisy)
    )
    plain = LinkPLSA(3, random_state=0, max_iter=1, tol=0, view_weights="balanced")
    balanced = plain.fit(noisy).view_weights_
    assert left.estimator_.view_weights_ == balanced


def test_how_far_views_can_be_trusted_is_measured_once_and_kept(noisy, monkeypatch):
    calls = []

    def counted(*args):
        calls.append(1)
        return deal(*args)

    for module in ("label_guess", "em.ensemble_view", "ensemble.consensus"):
        monkeypatch.setattr(f"coview.{module}.deal", counted)
    found = classifier().fit(noisy, labeled(noisy))
    assert len(calls) == 1
    assert found.estimator_.view_reliability_ == found.view_trust_
    assert found.estimator_.view_weights == "learn"  # the parameter is what it was


def test_weights_that_were_given_stay(noisy):
    found = classifier(view_weights={"text": 1.0, "noise": 2.0}).fit(noisy, labeled(noisy))
    assert found.estimator_.view_weights_ == {"text": 1.0, "noise": 2.0}


def test_without_strength_it_is_the_pinned_model(views):
    y = labeled(views, 4)
    found = TopicClassifier(LinkPLSA(random_state=0), guess_strength=0).fit(views, y)
    pinned = LinkPLSA(3, random_state=0).fit(views, labels=y)
    np.testing.assert_array_equal(found.estimator_.doc_topic_, pinned.doc_topic_)
    np.testing.assert_array_equal(found.predict_proba(views), pinned.transform(views))
    assert found.guess_ is None
    assert found.guess_space_ is None


def test_a_strong_guess_decides(views):
    found = TopicClassifier(LinkPLSA(random_state=0), guess_strength=1e6).fit(views, labeled(views))
    some = views.present.any(axis=1) & (labeled(views) < 0)
    np.testing.assert_allclose(found.estimator_.doc_topic_[some], found.guess_[some], atol=1e-4)


@pytest.mark.parametrize("model", [LinkPLSA, MVPLSA, PairwiseCoPLSA, MGGM, VotedPLSA])
def test_models_take_the_guess(model, noisy):
    found = TopicClassifier(model(random_state=0)).fit(noisy, labeled(noisy, 2))
    assert (found.labels_ == noisy.labels).mean() > 0.7
    assert (found.predict(noisy) == noisy.labels).mean() > 0.7


def test_labels_of_one_class_only(views):
    y = np.where(np.arange(len(views)) < 3, 7, -1)
    found = classifier().fit(views, y)
    assert (found.labels_ == 7).all()
    assert (found.predict(views) == 7).all()


def test_all_documents_labeled(views):
    found = classifier().fit(views, views.labels)
    assert found.guess_ is None
    np.testing.assert_array_equal(found.labels_, views.labels)
    assert found.score(views, views.labels) > 0.9


def test_new_documents_use_their_neighbors(views):
    train, new = views[:80], views[80:]
    found = classifier().fit(train, labeled(train, 2))
    folded = found.fold_in(new)
    np.testing.assert_array_equal(found.predict_proba(new), folded.doc_topic)
    np.testing.assert_array_equal(found.predict(new), found.classes_[folded.labels])
    by_counts = found.estimator_.transform(new)
    assert not np.allclose(folded.doc_topic, by_counts)
    assert found.score(new, new.labels) > 0.8


def test_the_bits_do_not_depend_on_the_number_of_threads(views):
    y = labeled(views, 2)
    one, two = (classifier(n_jobs=n).fit(views, y) for n in (1, 2))
    np.testing.assert_array_equal(one.estimator_.doc_topic_, two.estimator_.doc_topic_)
    np.testing.assert_array_equal(one.guess_, two.guess_)
    np.testing.assert_array_equal(one.predict_proba(views), two.predict_proba(views))


def test_a_saved_classifier_predicts_the_same(views, tmp_path):
    found = classifier().fit(views, labeled(views, 2))
    found.save(tmp_path / "model.coview")
    again = load(tmp_path / "model.coview")
    np.testing.assert_array_equal(again.predict_proba(views), found.predict_proba(views))


def test_a_fit_is_resumed_from_a_checkpoint_to_the_same_bits(views, tmp_path):
    y = labeled(views, 2)
    model = TopicClassifier(LinkPLSA(max_iter=20, tol=0))  # no seed: that of the checkpoint counts
    first = model.fit(views, y, checkpoint=Checkpoint(tmp_path / "a", every=1))
    mixtures = first.estimator_.doc_topic_
    again = clone(model).fit(views, y, checkpoint=Checkpoint(tmp_path / "a", resume=True))
    np.testing.assert_array_equal(again.estimator_.doc_topic_, mixtures)


@pytest.mark.parametrize("params", [{"guess_strength": -1}, {"guess_strength": "high"}])
def test_wrong_parameters_are_refused(views, params):
    with pytest.raises(ValueError, match=next(iter(params))):
        TopicClassifier(LinkPLSA(), **params).fit(views, views.labels)
