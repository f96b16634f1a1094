"""Base classes of the baselines: their input, checks, `fit` and `predict`."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from coview.documents import read_documents
from coview.params import check_int, check_view_name, plain_numbers, seed_of
from coview.pickling import VersionedPickleMixin
from coview.runners.native import one_native_thread
from coview.views.checks import check_not_all_empty
from coview.views.container import Views
from coview.views.labels import (
    class_codes,
    label_array,
    labeled_accuracy,
    mark_unknown,
)
from coview.views.vocabulary import known_views
from coview.wording import listing, plural


class ViewsEstimator(VersionedPickleMixin, BaseEstimator):
    """Base of all baselines: input, and fitted attributes that all of them have.

    Views are used in the order of their names, so the order in which they are given does not
    matter. Linear algebra runs in one thread: with several, sums have no fixed order.
    """

    random_state: Any
    view_names_: tuple[str, ...]

    def _check_parameters(self) -> None:
        """Check the parameters of the constructor."""
        raise NotImplementedError

    def _training_views(self, X: Any) -> Views:
        views = X if isinstance(X, Views) else Views(X)
        check_not_all_empty(views.matrices)
        wanted = self.get_params(deep=False).get("n_components", 1)
        if wanted > views.n_docs:
            raise ValueError(
                f"{type(self).__name__} cannot make {plural(wanted, 'cluster')} of "
                f"{plural(views.n_docs, 'document')}; lower n_components."
            )
        return views.select(*sorted(views.names))

    def _known_views(self, X: Any) -> Views:
        """Return new documents in some or all of the fitted views, in the order of their names."""
        check_is_fitted(self)
        return known_views(read_documents(self, X), self.view_names_, type(self).__name__)

    def _keep(self, views: Views, found: Mapping[str, Any], seed: int) -> Self:
        """Set the fitted attributes, all at the end: a fit that fails keeps the old ones."""
        common = {
            "view_names_": views.names,
            "recipes_": views.recipes,
            "n_features_in_": views.shape[1],
            "random_state_used_": seed,
        }
        for name, value in {**common, **found}.items():
            setattr(self, name, value)
        return self


class Clusterer(ClusterMixin, ViewsEstimator):
    """Base of the clusterers.

    A subclass implements `_fit(views, rng)`, which returns the fitted attributes.
    """

    n_components: int

    def _check_parameters(self) -> None:
        check_int("n_components", self.n_components, 1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the documents.

        Parameters
        ----------
        X : Views, dict of matrices, list of matrices, or one matrix
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        self
        """
        check_view_name(getattr(self, "view", None))
        self._check_parameters()
        views, seed = self._training_views(X), seed_of(self.random_state)
        with one_native_thread(), plain_numbers(self):
            found = self._fit(views, np.random.default_rng(seed))
        return self._keep(views, found, seed)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        raise NotImplementedError


class InductiveClusterer(Clusterer):
    """Base of the clusterers that also assign new documents.

    A subclass implements `_predict(views)` besides `_fit`.
    """

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each document, from the views it has.

        Parameters
        ----------
        X : as in `fit`
            Any subset of the fitted views.

        Returns
        -------
        ndarray of int of shape (documents,)
            -1 for documents that lack the view, if the clustering is of one view.
        """
        return self._predict(self._known_views(X))

    def _predict(self, views: Views) -> np.ndarray:
        raise NotImplementedError


class Classifier(ClassifierMixin, ViewsEstimator):
    """Base of the classifiers.

    A subclass implements `_check_parameters()`, `_fit(views, codes, rng)`, which returns the
    fitted attributes, and `_proba(views)`. `codes` are the numbers of the classes, -1 for
    unlabeled documents.
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the labeled documents, and from unlabeled ones if the method does.

        Parameters
        ----------
        X : Views, dict of matrices, list of matrices, or one matrix
        y : array-like of shape (documents,)
            Numbers or texts, in which `labels_` and `predict` answer; -1, None, NaN and empty
            texts mean unlabeled.

        Returns
        -------
        self
        """
        check_view_name(getattr(self, "view", None))
        self._check_parameters()
        views = self._training_views(X)
        classes, codes = check_classes(y, views.n_docs)
        seed = seed_of(self.random_state)
        with one_native_thread(), plain_numbers(self):
            found = self._fit(views, codes, np.random.default_rng(seed))
        self._keep(views, {**found, "classes_": classes}, seed)
        guess = self._proba(views).argmax(axis=1)
        self.labels_ = classes[np.where(codes >= 0, codes, guess)]
        return self

    def _fit(self, views: Views, codes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        raise NotImplementedError

    def _proba(self, views: Views) -> np.ndarray:
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any) -> np.ndarray:
        """Fit, and return `labels_`: the class of each training document, given or predicted."""
        return self.fit(X, y).labels_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : as in `fit`
            Any subset of the fitted views.

        Returns
        -------
        ndarray of shape (documents, n_classes)
        """
        views = self._known_views(X)
        with one_native_thread():
            return self._proba(views)

    def predict(self, X: Any, *, unknown: Literal["mark", "guess"] = "mark") -> np.ndarray:
        """Return the class of each document.

        Parameters
        ----------
        X : as in `predict_proba`
        unknown : {"mark", "guess"}, default="mark"
            What to say of documents without a single count: "mark" gives -1 (an empty text if the
            classes are texts) with a warning, "guess" the class that is the most likely then.

        Returns
        -------
        ndarray of shape (documents,)
        """
        return mark_unknown(*self._found(X), unknown, "class")

    def _found(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the class of each document, and which of them have no count at all."""
        views = self._known_views(X)
        nothing = np.sum([np.diff(m.indptr) for m in views.matrices.values()], axis=0) == 0
        return self.classes_[self.predict_proba(views).argmax(axis=1)], nothing

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labeled documents; see `TopicClassifier.score`."""
        check_is_fitted(self)
        return labeled_accuracy(self, X, y, sample_weight)


def check_classes(y: Any, n_docs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and the number of each document's class, -1 if unlabeled.

    Examples
    --------
    >>> check_classes(["b", None, "a", "b"], 4)[1]
    array([ 1, -1,  0,  1])
    """
    if y is None:
        raise ValueError("A classifier needs y: the class of each document, -1 where unknown.")
    labels = label_array(y)
    if labels.shape != (n_docs,):
        raise ValueError(
            f"Labels must have one entry for each of {plural(n_docs, 'document')}, found the "
            f"shape {labels.shape}."
        )
    classes, codes = class_codes(labels)
    if not len(classes):
        raise ValueError("No document is labeled: give the class of at least one in y.")
    return classes, codes


def require_documents(views: Views, owner: str) -> None:
    """Refuse a view that no document has, for a method that works on each view by itself."""
    empty = [name for name, has in zip(views.names, views.present.T, strict=True) if not has.any()]
    if empty:
        raise ValueError(
            f"{owner} works on each view by itself, and no document has anything in "
            f"{listing(empty)}: leave that out (views.select(...))."
        )


def require_several_views(views: Views, owner: str) -> None:
    """Refuse a single view, for a method that relates views to each other."""
    if views.n_views < 2:
        raise ValueError(
            f"{owner} relates views to each other and needs at least two; got "
            f"{listing(views.names)}."
        )
