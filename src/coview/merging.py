"""Topics that become one: what curation (`with_topics`) and the levels of a tree (`at_level`) do.

A merged topic is the sum of its parts y: its share of a document is the sum of theirs, and its
words are those of all their expected counts,

    p(z|d) = sum_y p(y|d)        p(w|z) = sum_y n_v(y) p(w|y) / sum_y n_v(y)

where n_v(y) are the expected counts of topic y in the view v of the word. So a part that has few
texts in German has little to say about the German words, however many documents it has. With
p(y|d,w) as they are, these are the topics of an M-step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from coview.em.stream import tokens_of_topics
from coview.runners.native import one_native_thread

SUMMED = (
    "topic_counts_",
    "term_docs_",
    "view_docs_",
)  # fitted arrays, or arrays by view, whose rows are sums over documents


def merge_topics(model: Any, new_of: Sequence[int] | np.ndarray) -> Any:
    """Return a copy of a model in which some topics are one; names are the caller's.

    Parameters
    ----------
    model : fitted model
    new_of : sequence of int of length topics
        The number that each topic has afterward, every number from 0 on at least once.
    """
    with one_native_thread("blas"):  # sums in one order, whatever the number of threads
        return _merged(model, np.asarray(new_of))


def _merged(model: Any, new_of: np.ndarray) -> Any:
    made, n_new = copy(model), int(new_of.max()) + 1
    together = np.zeros((len(new_of), n_new))
    together[np.arange(len(new_of)), new_of] = 1.0
    made.n_components = made._n_features_out = n_new
    made.seeds = None  # they may be of topics that are gone
    if not isinstance(made.init, str):
        made.init = "auto"  # so may be mixtures, labels and models to begin with
    made.__dict__.pop("first_docs_", None)  # a stream must not fit them to other topics
    made.doc_topic_ = _summed(model.doc_topic_, together)
    made.view_doc_topic_ = _once_each(model.view_doc_topic_, together)
    tokens = tokens_by_view(model)
    means = {view: _weighted_mean(together, n_z) for view, n_z in tokens.items()}
    made.components_ = {n: _times(means[n], p) for n, p in model.components_.items()}
    if model.topic_stability_ is not None:  # of a merged topic it is not known
        alone = np.bincount(new_of) == 1
        made.topic_stability_ = np.full(n_new, np.nan)
        made.topic_stability_[new_of] = model.topic_stability_
        made.topic_stability_[~alone] = np.nan
    for name in SUMMED:
        if name in vars(model):
            setattr(made, name, _rows_summed(getattr(model, name), together))
    _merge_own(model, made, new_of, means, tokens, together)
    as_assigned = np.array_equal(model.labels_, model._assign(model.doc_topic_))
    made.labels_ = made._assign(made.doc_topic_) if as_assigned else new_of[model.labels_]
    made.__dict__.pop("topic_tree_", None)
    tree = getattr(model, "topic_tree_", None)
    if tree is not None and (left := tree.merged(new_of.tolist())) is not None:
        made.topic_tree_ = left
    return made


def tokens_by_view(model: Any) -> dict[str, np.ndarray]:
    """Return the expected counts of each topic, by view; after `partial_fit`, of all so far.

    Parameters
    ----------
    model : fitted model

    Returns
    -------
    dict of ndarray of shape (topics,)
    """
    if hasattr(model, "topic_counts_"):
        return model.topic_counts_
    shares = model.doc_topic_.sum(axis=0, dtype=np.float64)
    return {
        view: tokens_of_topics(topics, model.term_counts_[view], shares)
        for view, topics in model.components_.items()
    }


def _merge_own(
    model: Any,
    made: Any,
    new_of: np.ndarray,
    means: Mapping[str, np.ndarray],
    tokens: Mapping[str, np.ndarray],
    together: np.ndarray,
) -> None:
    """Merge what some models have beyond the common attributes."""
    own = vars(model)
    if "topic_links_" in own:
        made.topic_links_ = {n: _times(means[n], p) for n, p in model.topic_links_.items()}
    if "view_shares_" in own:
        weighted = sum(model.view_weights_[n] * n_z for n, n_z in tokens.items())
        made.view_shares_ = _times(_weighted_mean(together, weighted), model.view_shares_)
    if "topic_centers_" in own:
        docs = _weighted_mean(together, model.doc_topic_.sum(axis=0, dtype=np.float64))
        made.topic_centers_ = _summed(_times(docs, model.topic_centers_), together)
    if "view_labels_" in own:
        made.view_labels_ = {n: new_of[labels] for n, labels in model.view_labels_.items()}
    if "preassigned_" in own:
        known = model.preassigned_
        made.preassigned_ = np.where(known >= 0, new_of[known], known)


def _weighted_mean(together: np.ndarray, n_z: Any) -> np.ndarray:
    """Return the weights (new topics, topics) of the mean over each group."""
    weights = together.T * np.maximum(n_z, np.finfo(float).tiny)
    return weights / weights.sum(axis=1, keepdims=True)


def _times(mean: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return (mean @ rows.astype(np.float64)).astype(rows.dtype)


def _rows_summed(rows: Any, together: np.ndarray) -> Any:
    """Return arrays with a row for each topic, with the sums of the rows that are one."""
    if isinstance(rows, Mapping):
        return {name: _rows_summed(part, together) for name, part in rows.items()}
    return (together.T @ rows.astype(np.float64)).astype(rows.dtype)


def _summed(mixtures: np.ndarray, together: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((mixtures.astype(np.float64) @ together).astype(mixtures.dtype))


def _once_each(by_view: Mapping[str, np.ndarray], together: np.ndarray) -> dict[str, np.ndarray]:
    """Merge the mixtures of all views; views that share an array share the new one."""
    done: dict[int, np.ndarray] = {}
    for mixtures in by_view.values():
        if id(mixtures) not in done:
            done[id(mixtures)] = _summed(mixtures, together)
    return {name: done[id(mixtures)] for name, mixtures in by_view.items()}
