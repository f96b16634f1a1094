"""The models, one file for each paper, and their short names."""

from importlib import import_module
from typing import Any

from coview.params import shown

MODEL_NAMES = {
    "plsa": ("plsa", "PLSA"),
    "dual": ("dual_plsa", "DualPLSA"),
    "ltm": ("ltm", "LTM"),
    "link": ("link_plsa", "LinkPLSA"),
    "voted": ("voted_plsa", "VotedPLSA"),
    "pairwise": ("pairwise_coplsa", "PairwiseCoPLSA"),
    "divergence": ("divergence_coplsa", "DivergenceCoPLSA"),
    "mvplsa": ("mvplsa", "MVPLSA"),
    "mggm": ("mggm", "MGGM"),
}
ONE_VIEW = ("plsa", "dual", "ltm")


def topic_model(fitted: Any) -> Any:
    """Return the topic model itself: a `TopicClassifier` has one inside."""
    return getattr(fitted, "estimator_", fitted)


def fitted_model(model: Any) -> Any:
    """Return the topic model of what a user gave as `model`, or say what is wrong with it."""
    inner = topic_model(model)
    if not isinstance(model, type) and hasattr(inner, "components_") and hasattr(inner, "labels_"):
        return inner
    if not isinstance(model, type) and callable(getattr(model, "fit", None)):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
    raise TypeError(
        "model must be a fitted model, such as LinkPLSA(5).fit(views), or a fitted "
        f"TopicClassifier; got {shown(model)}."
    )


def model_class(name: str) -> Any:
    """Return the class of a short name.

    >>> model_class("mggm").__name__
    'MGGM'
    """
    module, attribute = MODEL_NAMES[name]
    return getattr(import_module(f"coview.models.{module}"), attribute)
