r"""DivergenceAgreement: the mixtures of a document's views are close (Wang et al., 2016).

The penalty of DivergenceCoPLSA. Topic k is the same theme in every view, so the mixtures h_v =
p(.|d,v) of the views v that a document has are to be close to each other. With lam_d >= 0 the
strength of document d, the penalty is the last term of

    objective = log-likelihood - sum_d lam_d sum_{v<w} D(h_v, h_w)                          (8)

    D = sum_k (h_v - h_w) log(h_v / h_w)   "skl", the sum of both Kullback-Leibler divergences
        1/2 sum_k (h_v - h_w)^2            "l2"
        sum_k |h_v - h_w|                  "l1"

M-step. With counts Q_v, which come weighted, the mixtures of a document become the maximum of

    F(h) = sum_v sum_k Q_vk log h_vk - lam sum_{v<w} D(h_v, h_w),   h_v in the simplex     (10)

over all its views at once. The paper takes one view at a time, by (11), (12), (13) and a root (14)
for the multiplier of the sum: that is step="paper", in `divergence_by_view`. Those steps shrink as
1/lam, and for l1 they can stop at points that are not stationary, since at h_v = h_w no view can
improve alone. F is concave in all h_v together. At its maximum there are eta_v with

    Q_vk / h_vk = eta_v + lam sum_w dD(h_v, h_w)/dh_vk,   sum_k h_vk = 1                   (10')

(<= where h_vk = 0). Topics meet in the sums only, so a Newton step is a system of V unknowns for
each topic and one of V unknowns for the eta_v: O(K V^3). For all three D the V x V matrices are a
diagonal plus a Laplacian, which can be eliminated without a subtraction, so that lam may be a
million times the counts. Numbers with a letter or a prime are not in the paper.

skl. Newton's method in log h: the weights of the Laplacian are lam (h_v + h_w). (10') times h,

    Q_vk = h_vk (eta_v + lam sum_w [log(h_v/h_w) + 1 - h_w/h_v])                          (11a)

has a Newton step that ascends, but converges fast only near the maximum. The form behind (11),

    log(Q_vk + lam sum_w h_wk) = log(h_vk (eta_v + lam sum_w [log(h_v/h_w) + 1]))         (11b)

has the same derivative at the solution and is almost linear in log h, also for counts of 0: 2 to 6
steps for lam from 1e-4 to 1e6 times the counts. A step that lowers F is shortened, and the next one
taken by (11a).

l2 and l1. Here h_vk = 0 is possible, and l1 has kinks. Mehrotra's interior-point method follows
h s = Q + mu down to mu = 0, s being the right side of (10'); with the other views given, (12) and
(13) are its ends. For l1 the part of h_v above h_w is one more variable for each ordered pair of
views, eliminated topic by topic. 5 to 20 steps. Often there is nothing to solve for l1: if lam is
at least the mean mass of a view, or if counts are similar, the views agree exactly.

The iterations start from the counts. Starting from the old mixtures would save a step or two for
skl and none for the others. So the result is a function of the counts alone, except that the old
mixtures are kept where F is higher there, which rounding can bring about.

Limits. lam = 0 or one view: the plain step, bit by bit. A present view without counts follows the
others, and is left out of the step where the result is the same (`_active_views`). A document
without counts keeps its mixtures, and so does a pinned one. Shares below `limits(dtype).tiny`
(1e-150 in double, 1e-18 in single precision) become 0, but for skl they become that number, in old
mixtures, too: a share of 0 would make the divergence from all others infinite.

An absent view has neither counts nor a coupling. After the step its mixture is the maximum of (10)
for Q = 0 given the present views: the mean (l2), by (11) and (14) (skl), between order statistics
(l1); where one view is present, that one. With lam = 0 it stays as it was until `fill`.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coview.em.penalties.base import Packed, Penalty
from coview.em.penalties.divergence_by_view import cycle
from coview.em.simplex import limits, row_normalize

CHUNK = 256  # documents that are worked on together, in double precision
# lam / mass above which equal mixtures are taken: the maximum is at most 1 / lam better, relative
# to the mass, and rounding would cost more than that
INFINITE = {"float64": 1e9, "float32": 1e7}
NOTICEABLE = 1e-3  # a share that the paper's step for l1 could not move, and the joint one does
Thetas = tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class DivergenceAgreement(Penalty):
    """lam_d sum_{v<w} D(h_v, h_w) over the views that document d has; one slot for each view.

    Parameters
    ----------
    divergence : {"skl", "l2", "l1"}
    strengths : ndarray of shape (documents,)
        lam of each document.
    step : {"joint", "paper", "literal"}
        All views of a document at once, or one after the other as in the paper. For l1 the latter
        returns its input where all views agree and max_k Q_k/h_k - min_k Q_k/h_k <= 2 lam, though
        the views together could go on: "paper" then takes the joint step, "literal" stays.
    pairs : ndarray of shape (views, views), optional
        Symmetric factors of lam for each pair of views, all 1 by default; for step="paper".
        The mixture of an absent view is filled in from the present ones all alike.
    """

    divergence: str
    strengths: np.ndarray
    step: str = "joint"
    pairs: np.ndarray | None = None

    def at(self, docs: slice | np.ndarray) -> "DivergenceAgreement":
        """Return the penalty of some documents, a slice or an array of positions."""
        return replace(self, strengths=self.strengths[docs])

    def pack(self) -> Packed:
        """Return the penalty for other processes."""
        settings = {"divergence": self.divergence, "step": self.step}
        pairs = {} if self.pairs is None else {"pairs": self.pairs}
        return settings, pairs, {"strengths": self.strengths}

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """Return the penalty in (8); for skl, shares of 0 count as the smallest a step leaves."""
        from coview.kernels import divergence_rows as kernel

        tiny, total = limits(thetas[0].dtype).tiny, 0.0
        pairs = self._pairs(len(thetas))
        for docs in _chunks(np.arange(len(present))):
            rows = self._positive(_stack(thetas, docs), tiny)
            known = self.strengths[docs].astype(np.float64), pairs, present[docs]
            total += kernel.weighted_divergences(self._kind, rows, *known)
        return total

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Write the maximum of (10) for each document over its counts."""
        some = _filled(counts) & present
        moves = some.any(axis=1) & (self.strengths > 0)
        if pinned is not None:
            moves &= ~pinned
        active_views, lam = self._active_views(some, present)
        joint = moves & (active_views.sum(axis=1) > 1)
        _plain(counts, thetas, ~joint, pinned)
        for docs in _chunks(np.flatnonzero(joint)):
            self._joint(counts, thetas, active_views[docs], lam[docs], docs)
        for docs in _chunks(np.flatnonzero(moves & ~active_views.all(axis=1))):
            self._fill(counts, active_views[docs], docs)
        return counts

    def fill(self, thetas: tuple[np.ndarray, ...], present: np.ndarray, fixed: np.ndarray) -> None:
        """Write the mixtures of absent views from the present ones, but for `fixed` documents.

        For lam = 0, where no step does it; this is the limit of the steps for lam -> 0.
        """
        some = present.any(axis=1) & ~present.all(axis=1) & ~fixed
        for docs in _chunks(np.flatnonzero(some)):
            self._fill(thetas, present[docs], docs)

    def _active_views(self, some: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the views that take part in a document's step, and its lam.

        A present view without counts ends where an absent one would be put, so it can be left out
        where its coupling acts as a coupling of the others: with one other view, and for l2, where
        lam of the others grows by n / active_views. In the paper's step no view is left out.
        """
        if self.step != "joint":
            return present, self.strengths
        follows = (some.sum(axis=1) == 1) | (self.divergence == "l2")
        active_views = np.where(follows[:, None], some, present)
        n_active = np.maximum(active_views.sum(axis=1), 1)
        return active_views, self.strengths * present.sum(axis=1) / n_active

    def _joint(
        self,
        counts: Thetas,
        thetas: Thetas,
        present: np.ndarray,
        lam: np.ndarray,
        docs: np.ndarray,
    ) -> None:
        """Take the step of documents with several views, unless the old mixtures are better."""
        from coview.kernels import divergence_rows as kernel

        dtype = counts[0].dtype
        tiny, pairs = limits(dtype).tiny, self._pairs(len(counts))
        old, q = self._positive(_stack(thetas, docs), tiny), _stack(counts, docs)
        lam = lam.astype(np.float64)  # a copy
        kernel.divide_by_mass(q, lam, present, tiny)
        if self.step == "joint":
            new = self._maximum(q, lam, present, dtype)
        else:
            new = cycle(q, lam[:, None, None] * pairs, old, present, self.divergence)
        if self.step == "paper" and self.divergence == "l1" and self.pairs is None:
            self._free(new, old, q, lam, present, dtype)
        single = dtype == np.float32
        kernel.keep_better(self._kind, q, lam, pairs, present, old, tiny, single, new)
        for v, c in enumerate(counts):
            kernel.put_rows(new, docs, v, c)

    def _free(
        self,
        new: np.ndarray,
        old: np.ndarray,
        q: np.ndarray,
        lam: np.ndarray,
        present: np.ndarray,
        dtype: np.dtype,
    ) -> None:
        """Take the joint step where one view after the other has not moved; warn if it matters."""
        moved = np.where(present[:, :, None], np.abs(new - old), 0.0).max(axis=(1, 2))
        counted = ((q.sum(axis=2) > 0) | ~present).all(axis=1)
        stuck = np.flatnonzero(counted & (moved <= np.sqrt(np.finfo(dtype).eps) / 100))
        freed = self._maximum(q[stuck], lam[stuck], present[stuck], dtype)
        away = np.where(present[stuck][:, :, None], np.abs(freed - new[stuck]), 0.0)
        new[stuck] = np.where(present[stuck][:, :, None], freed, new[stuck])
        if away.max(initial=0.0) > NOTICEABLE:
            warnings.warn(
                "With divergence='l1' the paper's step, one view after the other, cannot leave "
                "mixtures that all views of a document share, though they are not a maximum: the "
                "joint step is taken there. step='joint' takes it everywhere, step='literal' "
                "nowhere.",
                ConvergenceWarning,
                stacklevel=2,
            )

    @property
    def _kind(self) -> int:
        """The divergence as the kernels know it."""
        from coview.kernels.divergence_system import L1, L2, SKL

        return {"skl": SKL, "l2": L2, "l1": L1}[self.divergence]

    def _pairs(self, n_views: int) -> np.ndarray:
        """Return the factor of lam of each pair of views, (views, views)."""
        return np.ones((n_views, n_views)) if self.pairs is None else self.pairs

    def _maximum(
        self, q: np.ndarray, lam: np.ndarray, present: np.ndarray, dtype: np.dtype
    ) -> np.ndarray:
        """Return the maximum of (10) for counts of mass 1; rows of absent views are undefined."""
        from coview.kernels.divergence_step import solve

        # a strength of 1 lies just at the limit of l1: rounding must not decide there
        limits_of_lam = INFINITE[dtype.name], float(1 + 10 * np.finfo(dtype).eps)
        rows = np.empty_like(q)
        solve(self._kind, q, lam, present, *limits_of_lam, self._tolerance(dtype), rows)
        return rows

    def _tolerance(self, dtype: np.dtype) -> float:
        """Return the tolerance: of log h for skl, whose square is the error; of F otherwise."""
        double = dtype == np.float64
        if self.divergence == "skl":
            return 1e-8 if double else 1e-5
        return 1e-14 if double else 1e-11

    def _fill(self, counts: Thetas, present: np.ndarray, docs: np.ndarray) -> None:
        """Write the mixtures of absent views from the present ones, which `counts` holds by now."""
        tiny = limits(counts[0].dtype).tiny
        rows = _stack(counts, docs)
        center = {"skl": _skl_center, "l2": _mean, "l1": _l1_center}[self.divergence]
        fill = self._tidy(center(self._tidy(rows, tiny), present)[:, None], tiny)[:, 0]
        alone = present.sum(axis=1)[:, None] == 1
        fill = np.where(alone, _mean(rows, present), fill)
        for c, here in zip(counts, present.T, strict=True):
            c[docs[~here]] = fill[~here]

    def _positive(self, rows: np.ndarray, tiny: float) -> np.ndarray:
        """Raise shares of 0 for skl, whose logarithms would be infinite."""
        return np.maximum(rows, tiny) if self.divergence == "skl" else rows

    def _tidy(self, rows: np.ndarray, tiny: float) -> np.ndarray:
        """Normalize rows, without shares that are too small."""
        rows = rows / rows.sum(axis=2, keepdims=True)
        return self._positive(np.where(rows < tiny, 0.0, rows), tiny)


def _chunks(docs: np.ndarray) -> Iterator[np.ndarray]:
    """Yield documents in groups that are worked on together."""
    for start in range(0, len(docs), CHUNK):
        yield docs[start : start + CHUNK]


def _stack(arrays: Thetas, docs: np.ndarray) -> np.ndarray:
    """Return the rows of some documents as (documents, views, topics) in double precision."""
    from coview.kernels.divergence_rows import take_rows

    rows = np.empty((len(docs), len(arrays), arrays[0].shape[1]))
    for v, array in enumerate(arrays):
        take_rows(array, docs, v, rows)
    return rows


def _filled(arrays: Thetas) -> np.ndarray:
    """Return which rows have a positive number, (documents, views)."""
    from coview.kernels.divergence_rows import mark_filled

    filled = np.empty((len(arrays[0]), len(arrays)), bool)
    for v, array in enumerate(arrays):
        mark_filled(array, v, filled)
    return filled


def _plain(counts: Thetas, thetas: Thetas, which: np.ndarray, pinned: np.ndarray | None) -> None:
    """Take the step without a penalty (6), for some documents."""
    if which.any():
        keep = None if pinned is None else pinned[which]
        for c, old in zip(counts, thetas, strict=True):
            c[which] = row_normalize(c[which], old[which], keep)


# -- the mixture h of an absent view, which minimizes the sum over present views v of D(h, h_v) ----
# rows (documents, views, topics), present (documents, views); returns (documents, topics)


def _mean(rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """l2: the mean, which is (12) at Q = 0."""
    return (rows * present[:, :, None]).sum(axis=1) / present.sum(axis=1)[:, None]


def _l1_center(rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """l1: (13) at Q = 0, where it jumps between order statistics; the mix of two that sums to 1."""
    ordered = np.sort(np.where(present[:, :, None], rows, np.inf), axis=1)
    sums = ordered.sum(axis=2)
    docs, last = np.arange(len(rows)), present.sum(axis=1) - 1
    low = np.clip((sums <= 1).sum(axis=1) - 1, 0, np.maximum(last - 1, 0))
    high = np.minimum(low + 1, last)
    width = sums[docs, high] - sums[docs, low]
    part = np.clip((1 - sums[docs, low]) / np.where(width > 0, width, 1), 0, 1)[:, None]
    return ordered[docs, low] + part * (ordered[docs, high] - ordered[docs, low])


def _skl_center(rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """skl: (11) at Q = 0, h = a / omega(log(a / g) + 1 + e), where e solves (14).

    a and g are the arithmetic and the geometric mean, and omega is Wright's function, which does
    not overflow where Lambert's W of an exponential would. The sum of h falls with e and is convex:
    Newton's steps approach the root from below, and only the first, from e = 0, may overshoot.
    """
    from scipy.special import wrightomega

    mean = _mean(rows, present)
    spread = np.maximum(np.log(mean) - _mean(np.log(rows), present), 0)
    lowest, shift = -spread.max(axis=1), np.zeros(len(rows))
    moving = np.arange(len(rows))
    for _ in range(60):
        u = wrightomega(spread[moving] + 1 + shift[moving, None])
        share = mean[moving] / u
        excess = share.sum(axis=1) - 1  # (14)
        step = excess / (share / (1 + u)).sum(axis=1)
        shift[moving] = np.maximum(shift[moving] + step, lowest[moving])
        moving = moving[np.abs(excess) > 1e-9]
        if not len(moving):
            break
    return mean / wrightomega(spread + 1 + shift[:, None])
