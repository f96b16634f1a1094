"""scikit-learn's tools take a Views and our models as they are."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from coview import LinkPLSA, TopicClassifier, Views
from coview.datasets import make_views


@pytest.fixture(scope="module")
def views():
    return make_views(90, 3, [60, 40], doc_length=50, missing=0.1, random_state=2)


def model(**params):
    return LinkPLSA(3, random_state=0, tol=1e-3, **params)


def test_cross_val_score_of_the_likelihood(views):
    scores = cross_val_score(model(), views, cv=3)
    assert scores.shape == (3,)
    assert (scores < 0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.slow
def test_grid_search_over_the_number_of_topics(views, n_jobs):
    search = GridSearchCV(model(), {"n_components": [1, 3]}, cv=3, n_jobs=n_jobs).fit(views)
    assert search.best_params_ == {"n_components": 3}
    assert search.best_estimator_.transform(views).shape == (90, 3)


def test_a_pipeline_classifies_by_mixtures(views):
    train, test = train_test_split(views, test_size=0.3, random_state=0, stratify=views.labels)
    pipeline = make_pipeline(model(), LogisticRegression()).fit(train, train.labels)
    assert pipeline.score(test, test.labels) > 0.85


def test_a_pipeline_does_not_leak_the_labels(views):
    random = np.random.default_rng(0).integers(0, 3, len(views))
    pipeline = make_pipeline(model(), LogisticRegression())
    assert cross_val_score(pipeline, views, random, cv=3).mean() < 0.6


def test_terms_that_only_a_test_fold_has_are_no_warning():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.03, (60, 400)) + np.eye(60, 400, dtype=int)  # most in one document
    for estimator, y in ((model(), None), (TopicClassifier(model()), np.arange(60) % 3)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            cross_val_score(estimator, Views({"a": counts, "b": counts[:, :90]}), y, cv=4)
        assert not [w for w in told if "never occurred" in str(w.message)]
        assert not [w for w in told if "no feature that the model knows" in str(w.message)]


def test_a_view_of_other_terms_is_told_once():
    fitted = model().fit({"a": np.eye(6, 9) * 3})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for n in (1, 2, 3):
            fitted.transform({"a": np.eye(1, 9) + n * np.eye(1, 9, 7)})
    assert len([w for w in told if "more than half" in str(w.message)]) == 1


def test_cross_val_score_of_the_classifier(views):
    assert cross_val_score(TopicClassifier(model()), views, views.labels, cv=3).mean() > 0.85
