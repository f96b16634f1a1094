"""The topics of a fitted model as plain data: `top_terms` and `summarize_topics`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coview.extras import need_pandas
from coview.models import fitted_model
from coview.params import check_int, check_real
from coview.term_names import shown_term

NEGLIGIBLE = 1e-4  # of the probability of the first term of a topic


def top_terms(
    model: Any, n_terms: int = 10, *, relevance: float = 0.6
) -> dict[str, list[list[str]]]:
    """Return the most relevant terms of each topic, by view.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms : int, default=10
        Number of terms of each topic and view; fewer if the topic has fewer.
    relevance : float, default=0.6
        lam in the relevance of a term, lam log p(w|z) + (1 - lam) log(p(w|z) / p(w)) (Sievert &
        Shirley, 2014): 1 ranks terms by p(w|z), 0 by how much likelier a term is in the topic than
        in the corpus.

    Returns
    -------
    dict of list of list of str
        For each view and topic the terms as they are shown: see `coview.term_names`.

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
    >>> model = PLSA(n_components=2, random_state=0).fit(views)
    >>> sorted(terms[0] for terms in top_terms(model, 1)["X"])
    ['ball', 'vote']
    """
    inner = fitted_model(model)
    return {
        view: [[shown_term(inner, view, w) for w in best] for best in topics]
        for view, topics in _best_terms(inner, n_terms, relevance).items()
    }


def terms_frame(model: Any, n_terms: int = 10, *, relevance: float = 0.6) -> Any:
    """Return the terms of `top_terms` as a pandas DataFrame: see `BaseViewsModel.top_terms`.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms, relevance
        As in `top_terms`.
    """
    inner, names = fitted_model(model), topic_names(model)
    rows = [
        {
            "topic": z,
            "name": names[z],
            "view": view,
            "rank": rank,
            "term": shown_term(inner, view, w),
            "probability": float(inner.components_[view][z, w]),
        }
        for view, topics in _best_terms(inner, n_terms, relevance).items()
        for z, best in enumerate(topics)
        for rank, w in enumerate(best, 1)
    ]
    columns = ["topic", "name", "view", "rank", "term", "probability"]
    if not any(names):
        columns.remove("name")
    pandas = need_pandas("take the terms as a dict (as_frame=False)")
    frame = pandas.DataFrame(rows, columns=columns)
    return frame.sort_values(["topic", "view", "rank"], kind="stable", ignore_index=True)


def _best_terms(model: Any, n_terms: int, relevance: float) -> dict[str, list[np.ndarray]]:
    """Return the columns of the most relevant terms, by view and topic.

    Terms of hardly any probability, which EM was about to take out of a topic, are left out.
    """
    check_int("n_terms", n_terms, 1)
    check_real("relevance", relevance, 0, 1)
    found = {}
    for view, p_w_z in model.components_.items():
        scores = relevance_of(p_w_z, term_shares(model, view), relevance)
        order = np.argsort(-scores, kind="stable")
        found[view] = [
            best[:n_terms][row[best[:n_terms]] > NEGLIGIBLE * row.max()]
            for best, row in zip(order, p_w_z, strict=True)
        ]
    return found


def topic_names(model: Any) -> list[str | None]:
    """Return the name of each topic of a model or classifier, None for those without.

    Parameters
    ----------
    model : fitted model, or TopicClassifier

    Returns
    -------
    list of (str or None)
    """
    inner = fitted_model(model)
    n_topics = inner.doc_topic_.shape[1]
    unnamed = getattr(model, "classes_", [None] * n_topics)
    names = getattr(inner, "topic_names_", unnamed)  # files of earlier versions have none
    if len(names) != n_topics:
        raise ValueError(f"topic_names_ has {len(names)} names for {n_topics} topics.")
    return [None if name is None else str(name) for name in names]


def topic_stability(model: Any) -> list[float | None]:
    """Return the stability of each topic of a model as plain data, None where it is not known.

    Parameters
    ----------
    model : fitted model

    Returns
    -------
    list of (float or None)
    """
    if model.topic_stability_ is None:
        return [None] * model.doc_topic_.shape[1]
    return [None if np.isnan(s) else float(s) for s in model.topic_stability_]


def summarize_topics(
    model: Any, n_terms: int = 10, *, views: Sequence[str] | None = None, relevance: float = 0.6
) -> list[dict[str, Any]]:
    """Return the topics of a model or classifier as plain data, the largest first.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms : int, default=10
        Terms of each topic and view.
    views : sequence of str, optional
        The views to include; all by default.
    relevance : float, default=0.6
        As in `top_terms`.

    Returns
    -------
    list of dict
        ``topic`` (its number), ``name`` (None if it has none; the topics of a classifier have the
        names of their classes, others those of `seeds`: see `topic_names_`),
        ``documents`` (number of documents whose label it is), ``share`` (mean of p(z|d) over the
        documents), ``stability`` (`topic_stability_`, None where it is not known), ``terms`` by
        view and, where the model has a tree, ``part_of``: the number of the coarser topic that it
        is part of, by the number of topics of the level.

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
    >>> found = summarize_topics(PLSA(n_components=2, random_state=0).fit(views), 1)
    >>> sorted((topic["documents"], topic["terms"]["X"]) for topic in found)
    [(1, ['vote']), (2, ['ball'])]
    """
    inner = fitted_model(model)
    unknown = [name for name in views or () if name not in inner.view_names_]
    if unknown:
        raise ValueError(
            f"The model has no view {', '.join(unknown)}; it has {', '.join(inner.view_names_)}."
        )
    terms = top_terms(inner, n_terms, relevance=relevance)
    n_topics = inner.doc_topic_.shape[1]
    sizes = np.bincount(inner.labels_, minlength=n_topics)
    shares = inner.doc_topic_.mean(axis=0, dtype=np.float64)
    names, stability = topic_names(model), topic_stability(inner)
    hidden = set(getattr(inner, "hidden_topics_", ()))  # by a curation
    return [
        {
            "topic": int(z),
            "name": names[z],
            "documents": int(sizes[z]),
            "share": float(shares[z]),
            "stability": stability[z],
            "terms": {view: terms[view][z] for view in views or inner.view_names_},
            **_part_of(inner, int(z)),
        }
        for z in np.lexsort((-shares, -sizes))
        if z not in hidden
    ]


def _part_of(model: Any, topic: int) -> dict[str, dict[int, int]]:
    tree = getattr(model, "topic_tree_", None)
    if tree is None:
        return {}
    pairs = zip(tree.levels[1:], tree.members, strict=True)
    return {"part_of": {n: member[topic] for n, member in pairs}}


def term_shares(model: Any, view: str) -> np.ndarray:
    """Return p(w): the share of each term among all counts of a view in training."""
    counts = model.term_counts_[view]
    return counts / max(counts.sum(), np.finfo(float).tiny)


def relevance_of(p_w_z: np.ndarray, p_w: np.ndarray, relevance: float) -> np.ndarray:
    """Return the relevance of terms from p(w|z) and p(w): see `top_terms`; -inf where p(w|z) = 0.

    >>> relevance_of(np.array([0.5, 0.5]), np.array([0.5, 0.125]), 0.0).round(2)
    array([0.  , 1.39])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(p_w_z.astype(float))
        lift = log_p - np.log(p_w)
        score = relevance * log_p + (1 - relevance) * lift
    return np.where(p_w_z > 0, score, -np.inf)
