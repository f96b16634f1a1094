"""The space in which queries and answers are compared: topics, or classes read from the topics.

In topic space a document is its mixture p(z|d). In semantic space (Pereira et al., 2014; Wang et
al., 2016) it is the posterior of a multinomial logistic regression from mixtures to classes,

    p(c|d)  proportional to  exp(b_c + sum_z A_cz p(z|d)),

one for each view, learned from the labeled training documents that have the view. Where these are
at hand, from their mixtures folded in by that view alone, as those of queries are: the mixtures of
the fit know the other views.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.metrics.retrieval import SEMANTIC_C
from coview.retrieval.exact import TASK, split_rows
from coview.views.container import Views
from coview.views.labels import is_unlabeled, label_array
from coview.wording import listing, plural

ViewOrAll = str | None  # the name of a view; None stands for all views together


@dataclass(frozen=True)
class TopicsToClasses:
    """A multinomial logistic regression from topics to classes.

    Attributes
    ----------
    coef : ndarray of shape (classes, topics)
    intercept : ndarray of shape (classes,)
    """

    coef: np.ndarray
    intercept: np.ndarray

    def posteriors(self, mixtures: np.ndarray) -> np.ndarray:
        """Return p(c|d), (documents, classes), of mixtures (documents, topics)."""
        logits = mixtures @ self.coef.T + self.intercept
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return odds / odds.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class ComparisonSpace:
    """How mixtures become vectors to compare.

    Attributes
    ----------
    centers : dict of ndarray of shape (dimensions,)
        Mean vector of the training documents, by view; empty unless the metric needs it.
    classifiers : dict of TopicsToClasses
        By view; empty in topic space.
    classes : list
        What the dimensions stand for in semantic space; empty in topic space.
    """

    centers: dict[ViewOrAll, np.ndarray] = field(default_factory=dict)
    classifiers: dict[ViewOrAll, TopicsToClasses] = field(default_factory=dict)
    classes: list[Any] = field(default_factory=list)

    @property
    def name(self) -> str:
        """ "topic" or "semantic"."""
        return "semantic" if self.classifiers else "topic"

    def vectors(self, mixtures: np.ndarray, view: ViewOrAll) -> np.ndarray:
        """Return the vectors of mixtures (documents, topics) of a view.

        In topic space these are the mixtures themselves, not a copy.
        """
        if not self.classifiers:
            return mixtures
        out = np.empty((len(mixtures), len(self.classes)), np.float32)
        for part in split_rows(np.arange(len(mixtures)), TASK):
            out[part] = self.classifiers[view].posteriors(mixtures[part[0] : part[-1] + 1])
        return out

    def center(self, view: ViewOrAll, width: int, dtype: Any) -> np.ndarray:
        """Return the mean vector of a view, zeros where the metric needs none."""
        return self.centers.get(view, np.zeros(width)).astype(dtype)


def make_space(
    model: Any, name: str, labels: Any, metric: str, training: Views | None = None
) -> ComparisonSpace:
    """Return the space of a model, with the centers if the metric needs them.

    Parameters
    ----------
    model : fitted model
    name : {"topic", "semantic"}
    labels : array-like of shape (training documents,) or None
        Classes, for the semantic space; -1, None, NaN and empty texts are unlabeled.
    metric : str
    training : Views, optional
        The training documents with the columns of the model: centers and classes are then learned
        from what each view alone says of them.
    """
    if name == "topic":
        if labels is not None:
            raise ValueError("labels are for space='semantic'; the topic space takes none.")
        space = ComparisonSpace()
    else:
        space = _semantic_space(model, labels, training)
    if metric != "correlation":
        return space
    centers = {
        view: _mean(space.vectors(mixtures, view), present)
        for view, mixtures, present in training_mixtures(model, training)
    }
    return ComparisonSpace(centers, space.classifiers, space.classes)


def training_mixtures(
    model: Any, training: Views | None = None
) -> Iterator[tuple[ViewOrAll, np.ndarray, np.ndarray]]:
    """Yield the name, the mixtures and the documents present of each view, then of all (None).

    With the training documents the mixtures are folded in, else those of the fit.
    """
    not_empty = np.ones(len(model.doc_topic_), bool)
    not_empty[model.empty_rows_] = False
    given = () if training is None else training.names
    for v, name in enumerate(model.view_names_):
        folded = name in given
        mixtures = _folded(model, training, name) if folded else model.view_doc_topic_[name]
        yield name, mixtures, model.present_[:, v] & not_empty
    complete = set(given) == set(model.view_names_)
    yield None, _folded(model, training) if complete else model.doc_topic_, not_empty


def _folded(model: Any, training: Any, *names: str) -> np.ndarray:
    return model.fold_in(training.select(*names) if names else training).doc_topic


def _mean(vectors: np.ndarray, present: np.ndarray) -> np.ndarray:
    if not present.any():
        return np.zeros(vectors.shape[1])
    return vectors.mean(axis=0, dtype=np.float64, where=present[:, None])


# -- semantic space --------------------------------------------------------------------------------


def _semantic_space(model: Any, labels: Any, training: Views | None) -> ComparisonSpace:
    labels = _check_labels(labels, len(model.doc_topic_))
    known = ~is_unlabeled(labels)
    classes = sorted(set(labels[known].tolist()))
    if len(classes) < 2:
        raise ValueError(
            f"space='semantic' needs labels of two classes or more; found "
            f"{listing(classes) or 'none'} on {plural(int(known.sum()), 'labeled document')}."
        )
    numbers = {label: c for c, label in enumerate(classes)}
    y = np.array([numbers[label] if k else -1 for label, k in zip(labels, known, strict=True)])
    classifiers: dict[ViewOrAll, TopicsToClasses] = {}
    learned: list[tuple[np.ndarray, np.ndarray, TopicsToClasses]] = []
    for view, mixtures, present in training_mixtures(model, training):
        # models with one mixture for all views: the same regression is not learned again
        same = [c for m, p, c in learned if m is mixtures and np.array_equal(p, present)]
        classifiers[view] = same[0] if same else _learn(mixtures, y, present, len(classes))
        learned.append((mixtures, present, classifiers[view]))
    return ComparisonSpace(classifiers=classifiers, classes=classes)


def _check_labels(labels: Any, n_docs: int) -> np.ndarray:
    if labels is None:
        raise ValueError(
            "space='semantic' learns a classifier from labels: give labels=..., one for each "
            "training document, None or -1 for unlabeled ones."
        )
    given = label_array(labels).tolist()
    labels = np.array([x.item() if isinstance(x, np.generic) else x for x in given], dtype=object)
    if len(labels) != n_docs:
        raise ValueError(
            f"There are {plural(len(labels), 'label')} for {plural(n_docs, 'training document')}; "
            "give one for each, None or -1 for unlabeled ones."
        )
    return labels


def _learn(
    mixtures: np.ndarray, y: np.ndarray, present: np.ndarray, n_classes: int
) -> TopicsToClasses:
    """Learn a classifier of all classes; a class without a labeled document is never likely."""
    from sklearn.linear_model import LogisticRegression

    rows = np.flatnonzero(present & (y >= 0))
    found = np.unique(y[rows])
    coef, intercept = np.zeros((n_classes, mixtures.shape[1])), np.full(n_classes, -50.0)
    if len(found) < 2:
        intercept[found] = 0.0
        return TopicsToClasses(coef, intercept)
    model = LogisticRegression(C=SEMANTIC_C, max_iter=2000)
    model.fit(mixtures[rows].astype(np.float64), y[rows])
    # with two classes scikit-learn keeps the log-odds of the second alone
    two = len(found) == 2
    coef[found] = np.vstack([0 * model.coef_, model.coef_]) if two else model.coef_
    intercept[found] = [0.0, model.intercept_[0]] if two else model.intercept_
    return TopicsToClasses(coef, intercept)
