r"""Which documents are labelled, and which are for testing: drawn before anything is measured.

"uniform" is a uniform draw of n documents, given that each class has at least one. With N_c
documents of class c, the numbers n_c drawn are then distributed as

    p(n_1, ..., n_C)  ∝  prod_c  binomial(N_c, n_c),     n_c >= 1,     sum_c n_c = n

which is sampled exactly, class by class; drawing again and again until all classes are there would
be the same, and hopeless for twenty classes and twenty labels.

"stratified" gives each class its share of the n, rounded by largest remainders, and at least one.
"""

from typing import Any

import numpy as np

from coview.data.show import listing, plural
from coview.params import check_choice, check_real


def draw_labelled(
    labels: Any, rate: float, *, sampling: str = "uniform", seed: int = 0
) -> np.ndarray:
    """Documents whose class is given: `rate` of the labelled ones, at least one of each class.

    Parameters
    ----------
    labels : array-like of shape (documents,)
        The true classes, -1 or None for documents without one; those are never drawn.
    rate : float
        Share of the labelled documents to draw, rounded to the next whole number, and raised to
        the number of classes where it is less.
    sampling : {"uniform", "stratified"}, default="uniform"
        See the head of this module.
    seed : int, default=0
        The same seed and rate draw the same documents, whatever the model.

    Returns
    -------
    ndarray of int
        Row numbers, rising.

    Examples
    --------
    >>> labels = np.repeat([0, 1], [90, 10])
    >>> rows = draw_labelled(labels, 0.05)
    >>> len(rows), np.unique(labels[rows]).tolist()
    (5, [0, 1])
    """
    check_choice("sampling", sampling, ["uniform", "stratified"])
    check_real("rate", rate, 0, 1)
    classes = _rows_by_class(labels)
    sizes = np.array([len(rows) for rows in classes])
    n = max(len(classes), int(np.floor(rate * sizes.sum() + 0.5)))
    rng = np.random.default_rng([seed, round(1e6 * rate)])
    counts = _uniform_counts(sizes, n, rng) if sampling == "uniform" else _shares(sizes, n)
    drawn = [rng.choice(rows, k, replace=False) for rows, k in zip(classes, counts, strict=True)]
    return np.sort(np.concatenate(drawn))


def draw_test(n_docs: int, share: float, *, seed: int = 0) -> np.ndarray:
    """Documents for testing, as a bool array of shape (documents,), drawn uniformly.

    >>> int(draw_test(100, 0.25).sum())
    25
    """
    n = int(np.floor(share * n_docs + 0.5))
    if not 0 < n < n_docs:
        raise ValueError(
            f"A test share of {share} of {plural(n_docs, 'document')} leaves no documents for "
            "training or for testing."
        )
    is_test = np.zeros(n_docs, bool)
    is_test[np.random.default_rng(seed).choice(n_docs, n, replace=False)] = True
    return is_test


def has_label(labels: Any) -> np.ndarray:
    """Which documents have a class: not -1 and not None."""
    return np.array([label is not None and label != -1 for label in np.asarray(labels).tolist()])


def _rows_by_class(labels):
    known = np.flatnonzero(has_label(labels))
    values = np.array(np.asarray(labels)[known].tolist())
    classes = np.unique(values)
    if len(classes) < 2:
        raise ValueError(f"Labels of at least two classes are needed; found {listing(classes)}.")
    return [known[values == value] for value in classes]


def _uniform_counts(sizes, n, rng):
    """How many of each class: independent binomials, given their sum and that none is 0."""
    p = n / sizes.sum()
    weights = [_binomial(size, p, n) for size in sizes]
    tails = [np.ones(1)]  # of the sum over the classes from c on, scaled
    for weight in reversed(weights):
        tail = np.convolve(weight, tails[-1])[: n + 1]
        tails.append(tail / tail.max())
    counts, left = [], n
    for weight, tail in zip(weights, reversed(tails[:-1]), strict=True):
        k = np.arange(min(len(weight) - 1, left) + 1)
        rest = left - k
        chance = weight[k] * np.where(rest < len(tail), tail[np.minimum(rest, len(tail) - 1)], 0)
        counts.append(int(rng.choice(k, p=chance / chance.sum())))
        left -= counts[-1]
    return counts


def _binomial(size, p, most):
    """Probabilities of 0, 1, ... documents of a class; none of 0."""
    from scipy.stats import binom

    weight = binom.pmf(np.arange(min(size, most) + 1), size, p)
    weight[0] = 0
    return weight


def _shares(sizes, n):
    """n shared out by largest remainders, at least one and at most all of each class."""
    exact = n * sizes / sizes.sum()
    counts = np.clip(np.floor(exact).astype(int), 1, sizes)
    while counts.sum() != n:
        gap = exact - counts
        if counts.sum() < n:
            counts[np.argmax(np.where(counts < sizes, gap, -np.inf))] += 1
        else:
            counts[np.argmin(np.where(counts > 1, gap, np.inf))] -= 1
    return counts.tolist()
