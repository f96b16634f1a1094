"""TopicClassifier: label types, unlabeled documents, views that are missing."""

import numpy as np
import pytest
from sklearn.base import clone

from coview import PLSA, LinkPLSA, TopicClassifier
from coview.datasets import make_views

NAMES = np.array(["art", "biology", "sport"])


@pytest.fixture(scope="module")
def views():
    return make_views(120, 3, [60, 40], doc_length=40, view_noise=0.2, missing=0.1, random_state=1)


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
    assert (found.predict(views.select("view_0")) == views.labels).mean() > 0.7


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
