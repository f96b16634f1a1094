"""scikit-learn's own checks, on a plain matrix."""

import pytest
from sklearn.utils.estimator_checks import (
    check_estimators_partial_fit_n_features,
    parametrize_with_checks,
)

from coview import MGGM, MVPLSA, PLSA, DivergenceCoPLSA, LinkPLSA, TopicClassifier
from tests.contracts.models import MODELS

# four topics since the checks have four classes, more than some of their data have columns
pytestmark = pytest.mark.filterwarnings("ignore::coview.DataWarning")

# converges on the checks' tiny data, so that no warning gets in the way
PARAMS = {"random_state": 0, "max_iter": 300, "tol": 1e-3, "n_components": 4}

# one check has the classes -1 and 1, which by default would be "unlabeled" and one class
CLASSIFIER = TopicClassifier(MODELS[0].cls(**PARAMS), unlabeled=None)

# From one start, which takes a third of the time. The default, a trial of many, is one mechanism
# for all models but MGGM, which adds a start of its own: it is checked with LinkPLSA and MGGM.
OTHERS = [entry.cls(**dict(entry.options), **PARAMS, init="random") for entry in MODELS]
OTHERS += [MGGM(**PARAMS, n_feature_topics=4)]


def exceptions(estimator):
    """Checks that do not fit: the tag knows only "always" and "never"."""
    why = "counts must be positive, dense measurements need not be"
    return {"check_positive_only_tag_during_fit": why}


@parametrize_with_checks([LinkPLSA(**PARAMS), CLASSIFIER], expected_failed_checks=exceptions)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=exceptions)
def test_estimator_checks_of_the_other_models(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", [PLSA, LinkPLSA, MVPLSA, DivergenceCoPLSA])
def test_the_check_of_partial_fit(cls):
    # scikit-learn runs it on its own kinds of estimators only
    check_estimators_partial_fit_n_features(cls.__name__, cls(**PARAMS, init="random"))
