"""Where queries and answers meet: the topics, or classes that a classifier reads from the topics.

In topic space a document is its mixture p(z|d). In semantic space (Pereira et al., 2014; Wang et
al., 2016) it is the posterior of a multinomial logistic regression from mixtures to classes,

    p(c|d)  proportional to  exp(b_c + sum_z A_cz p(z|d)),

one for each view, learned from the labeled training documents that have the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.retrieval.exact import TASK, pieces
from coview.wording import listing, plural

Key = str | None  # the name of a view; None stands for all views together


@dataclass(frozen=True)
class Classifier:
    """A multinomial logistic regression as arrays: coef (classes, topics), intercept (classes,)."""

    coef: np.ndarray
    intercept: np.ndarray

    def posteriors(self, mixtures: np.ndarray) -> np.ndarray:
        """p(c|d), (documents, classes)."""
        logits = mixtures @ self.coef.T + self.intercept
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return odds / odds.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Space:
    """How mixtures become vectors to compare.

    Attributes
    ----------
    centers : dict of ndarray of shape (dimensions,)
        Mean vector of the training documents, by view; empty unless the metric needs it.
    classifiers : dict of Classifier
        By view; empty in topic space.
    classes : list
        What the dimensions stand for in semantic space.
    """

    centers: dict[Key, np.ndarray] = field(default_factory=dict)
    classifiers: dict[Key, Classifier] = field(default_factory=dict)
    classes: list[Any] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "semantic" if self.classifiers else "topic"

    def vectors(self, mixtures: np.ndarray, view: Key) -> np.ndarray:
        """Mixtures (documents, topics) of a view as vectors; in topic space as they are."""
        if not self.classifiers:
            return mixtures
        out = np.empty((len(mixtures), len(self.classes)), np.float32)
        for part in pieces(np.arange(len(mixtures)), TASK):
            out[part] = self.classifiers[view].posteriors(mixtures[part[0] : part[-1] + 1])
        return out

    def center(self, view: Key, width: int, dtype: Any) -> np.ndarray:
        return self.centers.get(view, np.zeros(width)).astype(dtype)


def make_space(model: Any, name: str, labels: Any, metric: str) -> Space:
    """The space of a model, with what the metric needs to know of it."""
    if name == "topic":
        if labels is not None:
            raise ValueError("labels are for space='semantic'; the topic space takes none.")
        space = Space()
    else:
        space = _semantic_space(model, labels)
    if metric != "correlation":
        return space
    centers = {
        key: _mean(space.vectors(mixtures, key), there)
        for key, mixtures, there in training_mixtures(model)
    }
    return Space(centers, space.classifiers, space.classes)


def training_mixtures(model: Any) -> Iterator[tuple[Key, np.ndarray, np.ndarray]]:
    """For each view, then for all together (None): mixtures, and which documents they are of."""
    for v, name in enumerate(model.view_names_):
        yield name, model.view_doc_topic_[name], _has_view(model, v)
    yield None, model.doc_topic_, _not_empty(model)


def _has_view(model, v):
    """The training documents that have view number v and are not empty throughout."""
    return model.present_[:, v] & _not_empty(model)


def _not_empty(model):
    there = np.ones(len(model.doc_topic_), bool)
    there[model.empty_rows_] = False
    return there


def _mean(vectors, there):
    if not there.any():
        return np.zeros(vectors.shape[1])
    return vectors.mean(axis=0, dtype=np.float64, where=there[:, None])


# -- semantic space -------------------------------------------------------------------------------


def _semantic_space(model, labels):
    labels = _checked_labels(labels, len(model.doc_topic_))
    known = np.array([not _unlabeled(label) for label in labels])
    classes = sorted(set(labels[known].tolist()))
    if len(classes) < 2:
        raise ValueError(
            f"space='semantic' needs labels of two classes or more; found "
            f"{listing(classes) or 'none'} on {plural(int(known.sum()), 'labeled document')}."
        )
    numbers = {label: c for c, label in enumerate(classes)}
    y = np.array([numbers[label] if k else -1 for label, k in zip(labels, known, strict=True)])
    classifiers: dict[Key, Classifier] = {}
    learned: list[tuple[np.ndarray, np.ndarray, Classifier]] = []
    for key, mixtures, there in training_mixtures(model):
        same = [c for m, t, c in learned if m is mixtures and np.array_equal(t, there)]
        classifiers[key] = same[0] if same else _learn(mixtures, y, there, len(classes), key)
        learned.append((mixtures, there, classifiers[key]))
    return Space(classifiers=classifiers, classes=classes)


def _checked_labels(labels, n_docs):
    if labels is None:
        raise ValueError(
            "space='semantic' learns a classifier from labels: give labels=..., one for each "
            "training document, None or -1 for unlabeled ones."
        )
    labels = np.array([x.item() if isinstance(x, np.generic) else x for x in labels], dtype=object)
    if len(labels) != n_docs:
        raise ValueError(
            f"There are {plural(len(labels), 'label')} for {plural(n_docs, 'training document')}; "
            "give one for each, None or -1 for unlabeled ones."
        )
    return labels


def _unlabeled(label):
    if label is None or (isinstance(label, float) and np.isnan(label)):
        return True
    return isinstance(label, int) and not isinstance(label, bool) and label == -1


def _learn(mixtures, y, there, n_classes, key):
    """A classifier of all classes; one without a labeled document here is never likely."""
    from sklearn.linear_model import LogisticRegression

    rows = np.flatnonzero(there & (y >= 0))
    found = np.unique(y[rows])
    coef, intercept = np.zeros((n_classes, mixtures.shape[1])), np.full(n_classes, -50.0)
    if len(found) < 2:
        intercept[found] = 0.0
        return Classifier(coef, intercept)
    model = LogisticRegression(max_iter=2000)
    model.fit(mixtures[rows].astype(np.float64), y[rows])
    # with two classes scikit-learn keeps the log-odds of the second alone
    two = len(found) == 2
    coef[found] = np.vstack([0 * model.coef_, model.coef_]) if two else model.coef_
    intercept[found] = [0.0, model.intercept_[0]] if two else model.intercept_
    return Classifier(coef, intercept)
