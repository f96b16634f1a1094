"""A metric of a model's clusters, iteration by iteration of its fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coview.assign import nearest_centre, topic_centres
from coview.params import check_int


def follow(model: Any, views: Any, metric: Callable[[np.ndarray], float]) -> tuple[Any, np.ndarray]:
    """Fit a clone of a model and measure its clusters after every iteration.

    Parameters
    ----------
    model : estimator of this package
        With `n_init` = 1: a trace over several starts says nothing.
    views : Views
    metric : callable
        Takes the labels of the documents, shape (documents,), and returns a number.

    Returns
    -------
    fitted : the fitted clone
    values : ndarray of shape (n_iter,)
        One for each value of ``fitted.trace_.objective``.

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> from coview.metrics import clustering_accuracy
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> model = LinkPLSA(3, init="random", max_iter=5, tol=0, random_state=0)
    >>> _, values = follow(model, views, lambda found: clustering_accuracy(views.labels, found))
    >>> values.shape
    (5,)
    """
    from sklearn.base import clone

    watched = clone(model)
    if check_int("n_init", watched.n_init, 1) > 1:
        raise ValueError(f"One run can be followed, not {watched.n_init}: set n_init=1.")
    values: list[float] = []

    def on_iteration(state: dict[str, Any]) -> None:
        values.append(float(metric(_labels(watched, state["doc_topic_"]))))

    # the hooks of scikit-learn's callbacks, which the fit calls in every version of it
    watched._skl_callbacks = [on_iteration]
    watched._init_callback_context = lambda **kwargs: _Context(on_iteration)
    try:
        watched.fit(views)
    finally:
        del watched._skl_callbacks, watched._init_callback_context
    return watched, np.array(values)


def _labels(model, theta):
    """As the model reads labels off its mixtures at the end of a fit."""
    if model.assign == "kmeans":
        return nearest_centre(theta, topic_centres(theta, model.random_state or 0))
    return theta.argmax(axis=1)


class _Context:
    """What a fit tells of its iterations."""

    def __init__(self, on_iteration):
        self._on_iteration = on_iteration

    def subcontext(self, **kwargs):
        return self

    def call_on_fit_task_begin(self, **kwargs):
        """Nothing has happened yet."""

    def call_on_fit_task_end(self, reconstruction_attributes=None, **kwargs):
        if reconstruction_attributes is not None:
            self._on_iteration(reconstruction_attributes)
        return False
