"""`auto`: choose a model for the data, fit it, and say why.

The choice uses nothing that a user could not give by hand: it ends in one line of Python, and in
one command, that fit the same model to the bit.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coview.automatic import reasons
from coview.automatic.facts import Facts, look_at
from coview.automatic.why import Why
from coview.ensemble.reliability import ViewReliability
from coview.models import model_class, topic_model
from coview.params import check_int
from coview.views.container import Views
from coview.views.density import DENSE
from coview.wording import plural

DENSE_ENSEMBLE = 0.2  # share of the ensemble's view where a single view is dense
TOPICS = 2, 30  # the numbers that are compared where none is given
FEWEST_COMPARED = 20  # documents; below it there is nothing to compare
DOCUMENTS_PER_TOPIC = 5
UNSEEN = ("n_jobs", "verbose")  # parameters that do not change a result


def auto(
    views: Any,
    n_components: int | None = None,
    labels: Any = None,
    random_state: Any = 0,
    *,
    verbose: bool = True,
) -> Any:
    """Choose a model for the data, fit it, and say why.

    Parameters
    ----------
    views : Views, dict of matrices, list of matrices, or one matrix
        As in `fit` of the models.
    n_components : int, optional
        Number of topics. By default the number of classes if there are labels, otherwise what
        :func:`coview.select_topics` suggests.
    labels : array-like of shape (documents,), optional
        The class of each document, for a classifier; None, NaN, -1 or an empty text if it is not
        known. Numbers or texts; the classifier answers in the same. Labels that `views` carry are
        not used unless they are given here.
    random_state : int, Generator, RandomState or None, default=0
        As in the models.
    verbose : bool, default=True
        Print the reasons, with the line of Python and the command that do the same.

    Returns
    -------
    fitted model, or TopicClassifier if there are labels
        Its attribute `why_` holds the reasons: `sentences`, `numbers`, `python` and `command`.

    Examples
    --------
    >>> import coview
    >>> from coview.datasets import make_views
    >>> views = make_views(200, 4, [60, 60], random_state=0)
    >>> model = coview.auto(views, 4, verbose=False)
    >>> print(model.why_.python)
    coview.LinkPLSA(4, random_state=0).fit(views)
    """
    choice = choose(views, n_components, labels, {"random_state": random_state})
    fitted = choice.estimator().fit(views, *([labels] if choice.classify else []))
    fitted.why_ = choice.why(fitted)
    if verbose:
        print(fitted.why_)
    return fitted


# -- the choice ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A model that was chosen but not fitted.

    Attributes
    ----------
    model_name : str
        Its short name.
    model : model, not fitted
    chosen : dict
        Its parameters that are neither the defaults nor given by the user.
    classify : bool
        Whether it is to be fitted as a classifier.
    facts : Facts
        What the data hold.
    sentences : tuple of str
        The reasons that are known before the fit.
    """

    model_name: str
    model: Any
    chosen: dict[str, Any]
    classify: bool
    facts: Facts
    sentences: tuple[str, ...]

    def estimator(self) -> Any:
        """Return what is to be fitted."""
        from coview.classifier import TopicClassifier

        return TopicClassifier(self.model) if self.classify else self.model

    def why(self, fitted: Any, command: str | None = None) -> Why:
        """Return all reasons, once the model is fitted.

        `command` is the command that does the same, where the files of the data are known.
        """
        model = topic_model(fitted)
        given = _given(self.model) | {"random_state": int(model.random_state_used_)}
        return Why(
            (*self.sentences, *self.after_fit(fitted)),
            _numbers(self.facts, fitted) | {"start": self._start(model)},
            _python_line(type(model).__name__, model.n_components, given, self.classify),
            command or _command(self.model_name, model.n_components, given, self.classify),
        )

    def after_fit(self, fitted: Any) -> tuple[str, ...]:
        """Return the reasons that only the fit has found."""
        model = topic_model(fitted)
        n_tried = len(model.trace_.candidates)
        return (
            *reasons.about_trust(_trust(fitted)),
            *reasons.about_clusterings(model.trace_.ensemble),
            reasons.about_start(self._start(model), n_tried, model.n_iter_),
        )

    def _start(self, model: Any) -> str:
        """Return the name of the start."""
        tried = [(found, name) for name, found in model.trace_.candidates if np.isfinite(found)]
        if tried:
            return max(tried)[1]
        if model.init != "auto":
            return str(model.init)
        if model.trace_.ensemble is not None:
            return "consensus"
        if model.n_components == 1 or not (self.classify or model.seeds):
            return "random"
        return "guess" if self.classify else "seeds"


def choose(
    views: Any,
    n_components: int | None = None,
    labels: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Choice:
    """Choose a model for the data: what `auto` does before it fits.

    `params` are parameters of the model that the user has set.
    """
    views = views if isinstance(views, Views) else Views(views)
    if n_components is not None:
        check_int("n_components", n_components, 1)
    classes, n_labeled = _classes(labels)
    classify, given = len(classes) > 0, dict(params or {})
    facts = look_at(views)
    n_topics, about_topics = _topics(views, n_components, len(classes), given.get("random_state"))
    name = model_name(views)
    dense = views.n_views == 1 and facts.views[0].filled > DENSE and not classify
    chosen = {"ensemble": DENSE_ENSEMBLE} if dense and "ensemble" not in given else {}
    sentences = (
        *reasons.about_data(
            facts,
            clustered=not classify and n_topics > 1,
            learned=_learns_weights(given),
        ),
        about_topics,
        _ABOUT_MODEL[name],
        *([_ABOUT_DENSE] if chosen else []),
        *_about_parameters(given),
        *_about_labels(views, labels, len(classes), n_labeled),
    )
    model = model_class(name)(n_topics, **chosen, **given)
    return Choice(name, model, chosen, classify, facts, sentences)


def _learns_weights(given: Mapping[str, Any]) -> bool:
    """Return whether the weights of the views follow from how far they can be trusted."""
    weights = given.get("view_weights", "learn")
    return isinstance(weights, ViewReliability) or (isinstance(weights, str) and weights == "learn")


def model_name(views: Views) -> str:
    """Return the short name of the model for these views."""
    return "plsa" if views.n_views == 1 else "link"


# -- why -------------------------------------------------------------------------------------------

_ABOUT_MODEL = {
    "link": "LinkPLSA: all views share one mixture of topics for each document. The weights of the "
    "views are learned, and there is no penalty whose strength would have to be chosen.",
    "plsa": "PLSA, since there is one view: there are no weights and no strength to choose.",
}
_ABOUT_DENSE = (
    "More than half of the cells are not zero, which it does not fit well: so clusterings of the "
    f"documents are made one more view within the model (ensemble={DENSE_ENSEMBLE})."
)


def _about_parameters(given: Mapping[str, Any]) -> list[str]:
    yours = _arguments({n: v for n, v in given.items() if n != "random_state"})
    return [f"As you asked: {yours}."] if yours else []


def _about_labels(views: Views, labels: Any, n_classes: int, n_labeled: int) -> list[str]:
    if n_classes:
        return [
            f"{n_labeled:,} of {plural(views.n_docs, 'document')} have a label, of {n_classes:,} "
            f"{'class' if n_classes == 1 else 'classes'}: TopicClassifier, whose topics are the "
            "classes, holds these documents in their classes and finds the classes of the others."
        ]
    if labels is not None:
        return ["No document has a label, so there is nothing to classify: topics are found."]
    if views.labels is not None:
        return [
            "The documents have labels, which were not used; a classifier uses them "
            "(labels=views.labels; on the command line --classify)."
        ]
    return []


def _classes(labels: Any) -> tuple[np.ndarray, int]:
    """Return the classes, and how many documents have one."""
    from coview.classifier import check_targets, class_codes

    if labels is None:
        return np.empty(0), 0
    classes, codes = class_codes(check_targets(labels))
    return classes, int((codes >= 0).sum())


# -- the number of topics --------------------------------------------------------------------------


def _topics(
    views: Views, n_components: int | None, n_classes: int, random_state: Any
) -> tuple[int, str]:
    """Return the number of topics, and why it is this one."""
    if n_classes:
        if n_components not in (None, n_classes):
            raise ValueError(
                f"With labels the topics are the classes, and the labels have {n_classes}; got "
                f"n_components={n_components}. Leave it out, or fit "
                f"LinkPLSA({n_components}).fit(views, labels=...), which takes numbers of topics."
            )
        return n_classes, f"{plural(n_classes, 'topic')}: one for each class of the labels."
    if n_components is not None:
        return int(n_components), f"{plural(int(n_components), 'topic')}, as you asked."
    return _number_of_topics(views, random_state)


def _number_of_topics(views: Views, random_state: Any) -> tuple[int, str]:
    """Return a number of topics for data without labels, and why: see `coview.select_topics`."""
    from coview.selection.topics import select_topics

    fewest, most = TOPICS
    if views.n_docs < FEWEST_COMPARED:
        n = min(fewest, views.n_docs)
        return n, f"{plural(n, 'topic')}: too few documents to compare numbers of topics."
    most = min(most, views.n_docs // DOCUMENTS_PER_TOPIC)
    seed = random_state if isinstance(random_state, int) else 0
    found = select_topics(views, range(fewest, most + 1), random_state=seed)
    return found.suggestion, (
        f"{plural(found.suggestion, 'topic')} of {fewest} to {most}, with {found.confidence} "
        f"confidence: {found.reason} If you know better, give the number."
    )


# -- the same by hand ------------------------------------------------------------------------------


def _given(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that are not the defaults, but for its number of topics."""
    defaults = type(model)().get_params(deep=False)
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("n_components", *UNSEEN) and repr(value) != repr(defaults[name])
    }


def _arguments(given: Mapping[str, Any]) -> str:
    """Return parameters as the arguments of a call, without those that change no result."""
    return ", ".join(f"{name}={value!r}" for name, value in given.items() if name not in UNSEEN)


def _python_line(cls: str, n_topics: int, given: Mapping[str, Any], classify: bool) -> str:
    model = f"coview.{cls}({n_topics}, {_arguments(given)})"
    if classify:
        return f"coview.TopicClassifier({model}).fit(views, labels)"
    return f"{model}.fit(views)"


def _command(name: str, n_topics: int, given: Mapping[str, Any], classify: bool) -> str:
    """Return the command for views saved in a folder."""
    topics = ["--classify"] if classify else ["--topics", str(n_topics)]
    seed = ["--seed", str(given["random_state"])]
    others = [w for n, v in given.items() if n != "random_state" for w in ("--set", f"{n}={v}")]
    words = ["coview", "fit", "views/", "--model", name, *topics, *seed, *others]
    saved = "coview.Views(views, labels=labels)" if classify else "coview.Views(views)"
    return f'{shlex.join(words)}  # {saved}.save("views/")'


def _trust(fitted: Any) -> dict[str, float] | None:
    """Return how far each view can be trusted, where the fit has measured it."""
    return getattr(fitted, "view_trust_", None) or topic_model(fitted).view_reliability_


def _numbers(facts: Facts, fitted: Any) -> dict[str, Any]:
    """Return what the reasons rest on, as plain data."""
    model, trust = topic_model(fitted), _trust(fitted) or {}
    ensemble = model.trace_.ensemble or {}
    own: dict[str, float] = {}
    if ensemble:
        diagonal = np.diag(ensemble["reliability"]).tolist()
        own = dict(zip(ensemble["view_weights"], diagonal, strict=True))
    by_view = {
        view.name: {
            **{n: value for n, value in asdict(view).items() if n != "name"},
            "trust": trust.get(view.name),
            "reliability": own.get(view.name),
            "weight": float(model.view_weights_[view.name]),
        }
        for view in facts.views
    }
    return {
        "documents": facts.n_docs,
        "topics": int(model.n_components),
        "views": by_view,
        "copies": [list(pair) for pair in facts.copies],
        "replicability": dict(ensemble.get("replicability", {})),
        "clusterings": len(ensemble.get("weights", [])),
        "ensemble": float(ensemble.get("share", 0.0)),
        "iterations": int(model.n_iter_),
        "objective": float(model.objective_),
    }
