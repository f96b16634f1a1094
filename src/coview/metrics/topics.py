r"""Measures of topics by their words: coherence within a topic, diversity among topics.

Coherence. For two words of a topic, with p(w) the share of documents that have w and p(v,w) the
share that have both,

    NPMI(v, w) = log( p(v,w) / (p(v) p(w)) ) / -log p(v,w)        in [-1, 1]

and the coherence of a topic is the mean over all pairs of its most probable words. -1: never
together; 0: as often as by chance; 1: only together. Two words that every document has are
together by chance: 0.

Diversity. The share of different words among the most probable words of all topics (Dieng et al.,
2020): 1 if no two topics share one.

References
----------
G. Bouma. Normalized (pointwise) mutual information in collocation extraction. GSCL 2009.
J. H. Lau, D. Newman, T. Baldwin. Machine reading tea leaves. EACL 2014.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.params import check_int


def topic_coherence(p_w_z: np.ndarray, counts: Any, *, top: int = 10) -> np.ndarray:
    """Return the mean NPMI of each topic's words, from how often they are in the same document.

    Parameters
    ----------
    p_w_z : ndarray of shape (topics, terms)
        The topics of one view, as in `components_`.
    counts : sparse or dense matrix of shape (documents, terms)
        The documents in which words are counted: any positive value is an occurrence.
    top : int, default=10
        Words of each topic. Words of probability 0 are left out; with fewer than two words the
        coherence is NaN.

    Returns
    -------
    ndarray of shape (topics,)

    Examples
    --------
    >>> counts = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    >>> topic_coherence(topics, counts)
    array([ 1., -1.])
    """
    check_int("top", top, 2)
    p_w_z = _check_topics(p_w_z)
    occurs = _occurrences(counts, p_w_z.shape[1])
    return np.array([_mean_npmi(occurs[:, words]) for words in _top_words(p_w_z, top)])


def topic_diversity(p_w_z: np.ndarray, *, top: int = 10) -> float:
    """Return the share of different words among the `top` most probable of every topic.

    Parameters
    ----------
    p_w_z : ndarray of shape (topics, terms)
        The topics of one view, as in `components_`.
    top : int, default=10
        Words of each topic; words of probability 0 are left out.

    Returns
    -------
    float
        NaN if there are no words.

    Examples
    --------
    >>> topic_diversity(np.array([[0.6, 0.4, 0.0], [0.0, 0.4, 0.6]]), top=2)
    0.75
    """
    check_int("top", top, 1)
    words = np.concatenate(_top_words(_check_topics(p_w_z), top))
    return float(len(np.unique(words)) / len(words)) if len(words) else np.nan


def topic_quality(model: Any, views: Any, *, top: int = 10) -> dict[str, dict[str, float]]:
    """Return mean coherence and diversity of the topics of each view of a fitted model.

    Parameters
    ----------
    model : fitted model with `components_`
    views : Views
        The documents in which words are counted. Those that lack a view are left out of it; the
        coherence of a view that none has is NaN.
    top : int, default=10
        Words of each topic.

    Returns
    -------
    dict view -> {"coherence": float, "diversity": float}

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> quality = topic_quality(LinkPLSA(3, random_state=0).fit(views), views, top=3)
    >>> sorted(quality), sorted(quality["text"])
    (['image', 'text'], ['coherence', 'diversity'])
    """
    unknown = [name for name in model.components_ if name not in views.names]
    if unknown:
        raise ValueError(
            f"The model has topics of the views {unknown}; the data have {list(views.names)}."
        )
    found = {}
    for name, p_w_z in model.components_.items():
        rows = np.flatnonzero(views.present[:, views.names.index(name)])
        found[name] = {
            "coherence": _mean_coherence(p_w_z, views[name][rows], top) if len(rows) else np.nan,
            "diversity": topic_diversity(p_w_z, top=top),
        }
    return found


def _mean_coherence(p_w_z: np.ndarray, counts: Any, top: int) -> float:
    coherence = topic_coherence(p_w_z, counts, top=top)
    known = coherence[~np.isnan(coherence)]
    return float(known.mean()) if len(known) else np.nan


def _check_topics(p_w_z: Any) -> np.ndarray:
    topics = np.asarray(p_w_z)
    if topics.ndim != 2 or 0 in topics.shape or not np.isfinite(topics).all():
        raise ValueError(
            "Topics must be a matrix (topics, terms) of finite numbers, with at least one of each; "
            f"found the shape {topics.shape}, or numbers that are not finite."
        )
    return topics


def _top_words(p_w_z: np.ndarray, top: int) -> list[np.ndarray]:
    """Return the most probable words of each topic, ties by index, none of probability 0."""
    order = np.argsort(-p_w_z, axis=1, kind="stable")[:, :top]
    return [row[p[row] > 0] for row, p in zip(order, p_w_z, strict=True)]


def _occurrences(counts: Any, n_terms: int) -> sp.csc_array:
    """Return 1.0 where a document has a word, (documents, terms)."""
    occurs = sp.csc_array(counts) > 0
    if occurs.shape[1] != n_terms or occurs.shape[0] == 0:
        raise ValueError(
            f"The topics have {n_terms} terms and need documents of as many; counts have the "
            f"shape {occurs.shape}."
        )
    return sp.csc_array(occurs, dtype=float)


def _mean_npmi(occurs: sp.csc_array) -> float:
    """Return the mean NPMI over pairs of columns of occurrences (documents, words)."""
    n_words = occurs.shape[1]
    if n_words < 2:
        return np.nan
    joint = (occurs.T @ occurs).toarray() / occurs.shape[0]
    i, j = np.triu_indices(n_words, 1)
    together, apart = joint[i, j], joint[i, i] * joint[j, j]
    npmi = np.where(together > 0, 0.0, -1.0)
    some = (together > 0) & (together < 1)
    npmi[some] = np.log(together[some] / apart[some]) / -np.log(together[some])
    return npmi.mean()
