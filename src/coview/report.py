"""What a fitted model has to say, as plain data."""

import numpy as np


def top_terms(model, n_terms: int = 10, *, relevance: float = 0.6) -> dict[str, list[list[str]]]:
    """The terms that tell most about each topic, by view.

    Parameters
    ----------
    model : fitted model
    n_terms : int, default=10
    relevance : float, default=0.6
        1 ranks terms by p(w|z), 0 by how much likelier a term is in the topic than in the corpus,
        values between by a mixture of their logarithms.

    Returns
    -------
    dict of list of list of str
        For each view and topic the names of the terms (their numbers where there are no names).

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
    >>> model = PLSA(n_components=2, random_state=0).fit(views)
    >>> sorted(terms[0] for terms in top_terms(model, 1)["X"])
    ['ball', 'vote']
    """
    tops = {}
    for name, p_w_z in model.components_.items():
        features = model.feature_names_[name]
        order = np.argsort(-_relevance(p_w_z, model.term_counts_[name], relevance), kind="stable")
        tops[name] = [
            [str(w if features is None else features[w]) for w in best[:n_terms] if row[w] > 0]
            for best, row in zip(order, p_w_z, strict=True)
        ]
    return tops


def _relevance(p_w_z, counts, relevance):
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(p_w_z.astype(float))
        lift = log_p - np.log(counts / counts.sum())
    return np.where(p_w_z > 0, relevance * log_p + (1 - relevance) * lift, -np.inf)
