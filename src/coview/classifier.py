"""`TopicClassifier`: any model of this package as a semi-supervised classifier."""

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from coview.em.prepared import prepare
from coview.em.scaling import learn_scaling
from coview.label_guess import (
    FusedSpace,
    guess_classes,
    guess_of_new,
    learn_space,
    pack_space,
)
from coview.new_documents import FoldedIn
from coview.params import check_estimator, check_factor, check_int
from coview.pickling import VersionedPickleMixin
from coview.topic_terms import TopTermsMixin
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.views.labels import (
    UNLABELED,
    check_topic_labels,
    class_codes,
    class_names,
    label_array,
    labeled_accuracy,
    mark_unknown,
)
from coview.wording import plural


class TopicClassifier(
    VersionedPickleMixin, ClassifierMixin, MetaEstimatorMixin, TopTermsMixin, BaseEstimator
):
    """A classifier whose classes are the topics of a model.

    The mixtures of labeled documents are fixed on the topic of their class; those of unlabeled
    documents are estimated by EM. So both kinds of documents contribute to the topics.

    Where labels are few, EM needs a good start and something to hold on to. So the class of every
    document is guessed first: labels are carried along a graph of neighbors in all views, each with
    the weight it deserves, and by a logistic regression on features smoothed over that graph (see
    :mod:`coview.label_guess`). EM starts from this guess, and the mixtures are drawn to it.

    Parameters
    ----------
    estimator : model of this package, not fitted
        A model such as ``LinkPLSA(random_state=0)``. `fit` clones it and sets its `n_components`
        to the number of classes; the one given is not changed. The topics of its `seeds` are
        classes.
    unlabeled : int or None, default=-1
        Number that stands for an unlabeled document, besides None, NaN, NA and empty texts. With
        None every number is a class.
    guess_strength : float, default=1.0
        How many votes the guess has in a document's mixture; its counts have one. The same holds
        for new documents, whose guess is the mean mixture of their nearest training documents. 0
        does without a guess: EM starts from naive Bayes, and new documents are folded in by their
        counts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted: numbers or texts, as the labels were.
    estimator_ : model
        The fitted model; topic k is class ``classes_[k]``. Its `topic_names_` are the names of the
        classes.
    labels_ : ndarray of shape (documents,)
        The class of each training document, given or predicted.
    n_unlabeled_ : int
        Training documents without a label.
    n_features_in_ : int
        Terms of all views together.
    guess_ : ndarray of shape (documents, n_classes), or None
        The guess of the class of each training document; None where there was nothing to guess.
    view_trust_ : dict of float, or None
        How far each view can be trusted, the most trusted 1; None without a guess.
    guess_space_ : dict or None
        What new documents need to find their neighbors; None without a guess.

    Examples
    --------
    >>> from coview import LinkPLSA, TopicClassifier, Views
    >>> views = Views({
    ...     "words": [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]],
    ...     "links": [[2, 0], [3, 0], [0, 0], [0, 4]],
    ... })
    >>> classifier = TopicClassifier(LinkPLSA(random_state=0))
    >>> classifier.fit(views, ["sport", None, None, "politics"]).labels_.tolist()
    ['sport', 'sport', 'politics', 'politics']
    >>> classifier.predict({"words": [[2, 1, 0, 0]]}).tolist()
    ['sport']
    """

    guess_: np.ndarray | None
    guess_space_: dict[str, Any] | None

    def __init__(
        self,
        estimator: Any,
        *,
        unlabeled: int | None = -1,
        guess_strength: float = 1.0,
    ):
        self.estimator = estimator
        self.unlabeled = unlabeled
        self.guess_strength = guess_strength

    def fit(self, X: Any, y: Any, *, checkpoint: Any = None) -> Self:
        """Fit on labeled and unlabeled documents.

        Parameters
        ----------
        X : as in the model's `fit`
        y : array-like of shape (documents,)
            Numbers or texts; `labels_` and `predict` answer in the same. None, NaN, NA, empty
            texts and -1 (see `unlabeled`) mean unlabeled. Where y are labels of X, and X are views
            that name the classes (`Views.label_names`), topics have these names; give
            `X.named_labels` as y to have names as answers.
        checkpoint : path or Checkpoint, optional
            As in the model's `fit`.

        Returns
        -------
        self
        """
        guess_strength = check_factor("guess_strength", self.guess_strength)
        check_estimator("estimator", self.estimator)
        if self.unlabeled is not None:
            check_int("unlabeled", self.unlabeled, -sys.maxsize, " or None")
        classes, topics = class_codes(check_targets(y), self.unlabeled)
        if not len(classes):
            raise ValueError(
                "Input y contains NaN, None, empty texts or the unlabeled marker only: give the "
                "class of at least one document."
            )
        check_classification_targets(classes)
        estimator = clone(self.estimator).set_params(n_components=len(classes))
        names = class_names(classes, topics, X)
        seeds = estimator.get_params(deep=False).get("seeds")
        if seeds is not None:
            estimator.set_params(seeds=_by_class_number(seeds, names))
        X, guess, space = self._guess(X, topics, estimator)
        strength = {} if guess is None else {"guess_strength": guess_strength}
        estimator.fit(X, labels=topics, guess=guess, checkpoint=checkpoint, **strength)
        estimator.set_params(view_weights=self.estimator.view_weights)
        estimator.topic_names_ = names
        self.estimator_ = estimator
        self.guess_ = guess
        self.guess_space_ = None if space is None else pack_space(space)
        self.view_trust_ = None if space is None else space.trust
        self.classes_ = classes
        self.labels_ = classes[self.estimator_.labels_]
        self.n_unlabeled_ = int((topics < 0).sum())
        self.n_features_in_ = self.estimator_.n_features_in_
        self.__dict__.pop("why_", None)  # the reasons for another fit, by `coview.auto`
        return self

    def _guess(
        self, X: Any, topics: np.ndarray, estimator: Any
    ) -> tuple[Any, np.ndarray | None, FusedSpace | None]:
        """Return the views, a guess of each document's topic, and the space it was made in.

        An estimator that would learn how far views can be trusted is told: the space has it.
        """
        if not self.guess_strength:
            return X, None, None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the fit tells the same
            views = estimator._training_views(X)
        check_topic_labels(topics, views.n_docs, estimator.n_components)
        data = prepare(views, learn_scaling(views.matrices, views.present, estimator.scaling), "f4")
        counts = dict(zip(data.names, data.matrices, strict=True))
        # a fit that is resumed from a checkpoint must find the same guess, whatever the seed of EM
        seed = estimator.random_state if isinstance(estimator.random_state, int) else 0
        space = learn_space(counts, views.present, estimator.n_components, seed)
        if isinstance(estimator.view_weights, str) and estimator.view_weights == "learn":
            estimator.set_params(view_weights=space.reliability)
        if (topics >= 0).all():
            return views, None, space
        return views, guess_classes(space, topics, estimator.n_components), space

    def fold_in(self, X: Any) -> FoldedIn:
        """Fold documents in: return the mixtures over classes, and more, in one call.

        Parameters
        ----------
        X : as in the model's `transform`

        Returns
        -------
        FoldedIn
            With the numbers of the classes as `labels`.
        """
        check_is_fitted(self)
        space = getattr(self, "guess_space_", None)  # files of earlier versions have none
        if space is None or not self.guess_strength:
            return self.estimator_.fold_in(X)
        views = self.estimator_.as_views(X)
        guess = guess_of_new(space, self.estimator_.as_counts(views), self.estimator_.doc_topic_)
        return self.estimator_.fold_in(views, guess=guess, guess_strength=self.guess_strength)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : as in the model's `transform`

        Returns
        -------
        ndarray of shape (documents, n_classes)
        """
        return self.fold_in(X).doc_topic

    def predict(self, X: Any, *, unknown: Literal["mark", "guess"] = "mark") -> np.ndarray:
        """Return the class of each document.

        Parameters
        ----------
        X : as in the model's `transform`
        unknown : {"mark", "guess"}, default="mark"
            What to say of documents without a single count that the model knows: "mark" gives
            `unlabeled` (-1 if that is None; an empty text if the classes are texts), with a warning
            that tells how many; "guess" gives the class that is the most likely without any count.

        Returns
        -------
        ndarray of shape (documents,)
        """
        labels, empty = self._found(X)
        marker = UNLABELED if self.unlabeled is None else self.unlabeled
        if unknown == "mark" and empty.any() and marker in self.classes_.tolist():
            raise ValueError(
                f"{plural(int(empty.sum()), 'document')} without a feature that the model "
                f"knows cannot be marked by {marker}, which is a class here. Leave them out, or "
                "give unknown='guess' for the most likely class."
            )
        why = self.estimator_.why_empty(X, empty)
        return mark_unknown(labels, empty, unknown, "class", marker, why)

    def _found(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the class of each document, and of which nothing is known."""
        found = self.fold_in(X)
        return self.classes_[found.labels], found.empty

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labeled documents.

        Parameters
        ----------
        X : as in the model's `transform`
        y : array-like of shape (documents,)
            Classes as in `fit`, numbers or texts; documents without a label are left out.
        sample_weight : array-like of shape (documents,), default=None

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return labeled_accuracy(self, X, check_targets(y), sample_weight, self.unlabeled)

    def read(self, raw: Mapping[str, Any]) -> Views:
        """Read raw documents as views of the model: see the model's own `read`."""
        check_is_fitted(self)
        return self.estimator_.read(raw)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to one file, without pickle; `coview.load` reads it."""
        from coview.io import save

        save(self, path)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, BaseEstimator):
            tags.input_tags = get_tags(self.estimator).input_tags
        # multinomial topics, like naive Bayes, cannot separate blobs of points
        tags.classifier_tags.poor_score = True
        return tags


def _by_class_number(seeds: Any, names: list[str]) -> Any:
    """Return seeds by the number of the class they name."""
    if not isinstance(seeds, Mapping):
        return seeds  # the model refuses it
    unknown = [topic for topic in seeds if isinstance(topic, str) and topic not in names]
    if unknown:
        raise ValueError(
            f"seeds have words for {unknown[0]!r}, which is no class of a labeled document; the "
            f"classes are {', '.join(names)}. Label a document with it, or leave its seeds out."
        )
    return {names.index(t) if isinstance(t, str) else t: words for t, words in seeds.items()}


def check_targets(y: Any) -> np.ndarray:
    """Return y as a one-dimensional array; of objects if it mixes labels and None."""
    if y is None:
        raise ValueError(
            "TopicClassifier requires y to be passed, but the target y is None: "
            "give a label for each document, None or -1 for unlabeled ones."
        )
    y = column_or_1d(label_array(y), warn=True)
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError(
            "Input y contains infinity; class labels must be finite, NaN is unlabeled."
        )
    return y
