r"""Significance of differences between models: paired tests, Holm's correction, intervals, ties.

Two models are compared over the same seeds, that is, with the same labels given and the same
splits. Wilcoxon's signed-rank test asks whether the differences are centered at 0 and assumes only
that they are symmetric; the t-test assumes that they are normal and is stronger where that holds.
Wilcoxon's rank-sum test, also known as Mann and Whitney's, takes the values as unpaired, and is
weaker where seeds make both models better or worse.

When the best of m + 1 models is compared with the m others, one in twenty comparisons would be
"significant" by chance at the level 0.05. Holm's correction keeps the probability of any false one
below the level: p-values in rising order are multiplied by m, m - 1, ..., 1,

    p'_(i) = max_{j <= i}  min( 1, (m - j + 1) p_(j) )

References
----------
F. Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
6, 1979.
J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from coview.compare.aggregate import Group
from coview.compare.metric_info import metric_info
from coview.params import check_choice, check_int, check_real

TESTS = ("wilcoxon", "t", "rank_sum")


# -- tests -----------------------------------------------------------------------------------------


def paired_test(a: Sequence[float], b: Sequence[float], *, test: str = "wilcoxon") -> float:
    """Return the two-sided p-value of the hypothesis that paired values do not differ.

    Parameters
    ----------
    a, b : sequence of float of the same length
        Values of two models, seed by seed.
    test : {"wilcoxon", "t", "rank_sum"}, default="wilcoxon"
        Signed-rank test, t-test or, for unpaired values, rank-sum test. The first cannot give less
        than 2 / 2^n for n pairs, so that five runs never reach 0.05.

    Returns
    -------
    float
        1 for equal values; NaN for fewer than two pairs.

    Examples
    --------
    >>> paired_test([0.7, 0.8, 0.9, 0.8, 0.7, 0.9], [0.5, 0.5, 0.6, 0.6, 0.4, 0.5])
    0.03125
    """
    check_choice("test", test, TESTS)
    first, second = np.asarray(a, float), np.asarray(b, float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"Pairs are needed; got {first.shape} and {second.shape} measurements.")
    differences = first - second
    if len(differences) < 2:
        return float("nan")
    if not differences.any():
        return 1.0
    if test == "rank_sum":
        from scipy.stats import mannwhitneyu

        return float(mannwhitneyu(np.round(first, 12), np.round(second, 12)).pvalue)
    return _wilcoxon(differences) if test == "wilcoxon" else _t_test(differences)


def _wilcoxon(differences: np.ndarray) -> float:
    from scipy.stats import wilcoxon

    # Equal pairs are left out, as Wilcoxon did; rounding keeps noise from ordering ties.
    rounded = np.round(differences, 12)
    return float(wilcoxon(rounded[rounded != 0]).pvalue) if rounded.any() else 1.0


def _t_test(differences: np.ndarray) -> float:
    from scipy.stats import t

    spread = differences.std(ddof=1) / np.sqrt(len(differences))
    # A constant difference has no spread: scipy would divide by 0.
    if spread <= 1e-12 * abs(differences.mean()):
        return 0.0
    return float(2 * t.sf(abs(differences.mean()) / spread, len(differences) - 1))


def least_p(n_pairs: int, *, test: str = "wilcoxon") -> float:
    """Return the smallest p-value that so many pairs can give.

    >>> least_p(5), least_p(6)
    (0.0625, 0.03125)
    """
    if n_pairs < 2:
        return 1.0
    least = {"wilcoxon": 2.0 ** (1 - n_pairs), "rank_sum": 2 / comb(2 * n_pairs, n_pairs)}
    return least.get(test, 0.0)


def enough_pairs(n_comparisons: int, alpha: float, *, test: str = "wilcoxon") -> int:
    """Return the number of pairs with which the test can reach the level after Holm's correction.

    >>> enough_pairs(1, 0.05), enough_pairs(4, 0.05), enough_pairs(4, 0.05, test="t")
    (6, 8, 2)
    """
    return next(n for n in range(2, 1000) if n_comparisons * least_p(n, test=test) <= alpha)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Correct p-values for their number by Holm's method; they keep their order.

    NaN stands for a comparison that could not be made: it stays NaN and is not counted.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, float)
    if ((p < 0) | (p > 1)).any():
        raise ValueError(f"p-values must be between 0 and 1; got {p_values}.")
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * factors))
    return corrected


def bootstrap_interval(
    values: Sequence[float], *, level: float = 0.95, n_draws: int = 5000, seed: int = 0
) -> tuple[float, float]:
    """Return a bootstrap confidence interval of the mean (percentile method).

    Parameters
    ----------
    values : sequence of float
        One for each run.
    level : float, default=0.95
        Confidence level.
    n_draws : int, default=5000
        Number of bootstrap samples.
    seed : int, default=0

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = bootstrap_interval([0.8, 0.9, 0.7, 0.8, 0.85])
    >>> 0.7 < low < 0.81 < high < 0.9
    True
    """
    found = np.asarray(values, float)
    check_real("level", level, 0, 1)
    check_int("n_draws", n_draws, 1)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"At least one value is needed; got the shape {found.shape}.")
    rows = np.random.default_rng(seed).integers(len(found), size=(n_draws, len(found)))
    low, high = np.quantile(found[rows].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


# -- the best of several models --------------------------------------------------------------------


def compare_with(
    reference: Group, others: Sequence[Group], *, test: str = "wilcoxon", alpha: float = 0.05
) -> np.ndarray:
    """Test one model against each of several others, over the seeds that both have.

    Parameters
    ----------
    reference : Group
    others : sequence of Group
    test : {"wilcoxon", "t", "rank_sum"}, default="wilcoxon"
    alpha : float, default=0.05
        Level that the tests must be able to reach.

    Returns
    -------
    ndarray of shape (others,)
        p-values, corrected by Holm's method; NaN where the common seeds are too few to reach the
        level with so many comparisons, since failing to differ would then mean nothing.
    """
    needed = enough_pairs(len(others), alpha, test=test) if others else 0
    pairs = [reference.paired(other) for other in others]
    return holm(
        [paired_test(a, b, test=test) if len(a) >= needed else float("nan") for a, b in pairs]
    )


@dataclass
class Ranking:
    """The best of the models in one column (or row) of a table.

    Attributes
    ----------
    best : set of str
        The model with the best mean, and those tied with it.
    n_compared : int
        Number of models that the best one is compared with.
    n_tested : int
        Number of these with enough common seeds for the test.
    n_pairs, needed : int
        Smallest number of common seeds, and the number needed; 0 if all have enough.
    """

    best: set[str] = field(default_factory=set)
    n_compared: int = 0
    n_tested: int = 0
    n_pairs: int = 0
    needed: int = 0


def rank(groups: Mapping[str, Group], metric: str, test: str | None, alpha: float) -> Ranking:
    """Find the best of several models by a metric; oracles take no part.

    >>> groups = {n: Group({s: v + s for s in range(7)}, 7, 0, "", False)
    ...           for n, v in (("a", 0.5), ("b", 0.4))}
    >>> rank(groups, "accuracy", "wilcoxon", 0.05).best
    {'a'}
    """
    direction = metric_info(metric).direction
    honest = {name: g for name, g in groups.items() if g.values and not g.oracle}
    found = Ranking()
    if not honest or not direction:
        return found
    best = max(honest, key=lambda name: direction * honest[name].mean)
    others = [name for name in honest if name != best]
    found.best = {best, *(name for name in others if honest[name].mean == honest[best].mean)}
    found.n_compared = len(others)
    if test is not None and others:
        _add_ties(found, honest, best, others, test, alpha)
    return found


def _add_ties(
    found: Ranking,
    honest: Mapping[str, Group],
    best: str,
    others: Sequence[str],
    test: str,
    alpha: float,
) -> None:
    """Add the models that the test cannot tell from the best one."""
    p_values = compare_with(honest[best], [honest[name] for name in others], test=test, alpha=alpha)
    found.best |= {name for name, p in zip(others, p_values, strict=True) if p > alpha}
    found.n_tested = int(np.isfinite(p_values).sum())
    if found.n_tested < len(others):
        found.needed = enough_pairs(len(others), alpha, test=test)
        found.n_pairs = min(len(honest[best].paired(honest[name])[0]) for name in others)
