r"""The H-step of Wang et al. (2016), one view of a document at a time: `step="paper"`.

With counts Q of view v, and the mixtures g_m of the document's other views held fixed, h_v becomes

    max_h  sum_k Q_k log h_k  -  sum_m lam_m D(h, g_m),   h in the simplex                 (10)

which the paper has for two views and one lam. Let Lam = sum_m lam_m. For a given multiplier eta of
the constraint, the maximum over each h_k is known:

    skl   h = A / (Lam W0(A / (Lam g) exp(1 + eta / Lam))),                                (11)
          A = Q + sum_m lam_m g_m,   g = prod_m g_m^(lam_m / Lam),   W0 Lambert's function
    l2    h = (u + sqrt(u^2 + 4 Lam Q)) / (2 Lam),   u = sum_m lam_m g_m - eta             (12)
    l1    the h at which Q / h - eta - sum_m lam_m sign(h - g_m) changes its sign            (13)

Each falls in eta, so that eta is the root of sum_k h_k(eta) = 1                            (14)

between ends that are known beforehand. For l1, h jumps where Q = 0: at the root any share between
both ends of the jump is a maximum, and the mix of the ends that sums to one is taken.
"""

from collections.abc import Callable

import numpy as np

MAX_ITER = 200  # of the root (14); 60 halvings exhaust double precision
Share = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def cycle(
    q: np.ndarray, lam: np.ndarray, old: np.ndarray, present: np.ndarray, divergence: str
) -> np.ndarray:
    """Return mixtures after one step of each view in order, the others at their latest values.

    Parameters
    ----------
    q : ndarray of shape (documents, views, topics)
        Expected counts.
    lam : ndarray of shape (documents, views, views)
        The strength between two views of a document.
    old : ndarray of shape (documents, views, topics)
        Where the mixtures begin; positive for "skl".
    present : ndarray of bool of shape (documents, views)
        Views that the document lacks keep their mixtures, and no other sees them.
    divergence : {"skl", "l2", "l1"}
    """
    rows, views = old.copy(), np.arange(q.shape[1])
    for v in views:
        others = views != v
        strengths = lam[:, v, others] * present[:, others]
        docs = np.flatnonzero(present[:, v])
        rows[docs, v] = h_step(
            q[docs, v], rows[docs][:, others], strengths[docs], divergence, rows[docs, v]
        )
    return rows


def h_step(
    q: np.ndarray, others: np.ndarray, lam: np.ndarray, divergence: str, old: np.ndarray
) -> np.ndarray:
    """Return the maximum of (10) for one view: q (documents, topics), lam (documents, others).

    others is (documents, others, topics). Without counts and strength a mixture stays the old one.
    """
    total = lam.sum(axis=1)
    mass = q.sum(axis=1)
    new = np.where(mass[:, None] > 0, q / np.maximum(mass, 1e-300)[:, None], old)  # (6)
    coupled = np.flatnonzero(total > 0)
    if len(coupled):
        parts = q[coupled], others[coupled], lam[coupled]
        h = {"skl": _skl, "l2": _l2, "l1": _l1}[divergence](*parts)
        new[coupled] = h / h.sum(axis=1, keepdims=True)
    return new


def _skl(q: np.ndarray, others: np.ndarray, lam: np.ndarray) -> np.ndarray:
    from scipy.special import wrightomega

    total = lam.sum(axis=1, keepdims=True)
    a = q + (lam[:, :, None] * others).sum(axis=1)
    log_g = (lam[:, :, None] * np.log(others)).sum(axis=1) / total
    constant = np.log(a / total) - log_g + 1

    def share(docs: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # W0(exp(x)), which does not overflow
        w = wrightomega(constant[docs] + eta[:, None] / total[docs])
        h = a[docs] / (total[docs] * w)  # (11)
        return h, -(h / (total[docs] * (1 + w))).sum(axis=1)

    # (10') times h, summed: eta = sum Q - Lam KL(h, g), and KL is at most -log of the smallest g
    high = q.sum(axis=1)
    return _root(share, high + total[:, 0] * log_g.min(axis=1), high)


def _l2(q: np.ndarray, others: np.ndarray, lam: np.ndarray) -> np.ndarray:
    total = lam.sum(axis=1, keepdims=True)
    pull = (lam[:, :, None] * others).sum(axis=1)

    def share(docs: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = pull[docs] - eta[:, None]
        root = np.sqrt(u**2 + 4 * total[docs] * q[docs])
        # (12), for u < 0 without a difference of almost equal numbers
        below = np.divide(2 * q[docs], root - u, out=np.zeros_like(u), where=u < 0)
        h = np.where(u < 0, below, (root + u) / (2 * total[docs]))
        slope = np.divide(h, root, out=np.zeros_like(h), where=root > 0)
        return h, -slope.sum(axis=1)

    mass = q.sum(axis=1)  # eta = sum Q + sum_k h_k sum_m lam_m (g_mk - h_k)
    return _root(share, mass - total[:, 0], mass + total[:, 0])


def _l1(q: np.ndarray, others: np.ndarray, lam: np.ndarray) -> np.ndarray:
    total = lam.sum(axis=1)
    order = np.argsort(others, axis=1, kind="stable")
    kinks = np.take_along_axis(others, order, axis=1)
    steps = np.take_along_axis(np.broadcast_to(lam[:, :, None], others.shape), order, axis=1)
    # sum_m lam_m sign(h - g_m) below the first kink, between the first and the second ...
    signs = np.concatenate([np.zeros_like(steps[:, :1]), 2 * np.cumsum(steps, axis=1)], axis=1)
    signs -= total[:, None, None]

    def share(docs: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = eta[:, None, None] + signs[docs]
        counts = np.broadcast_to(q[docs][:, None], slope.shape)
        free = np.divide(counts, slope, out=np.full(slope.shape, np.inf), where=slope > 0)
        h = free[:, -1]  # (13): the stretch, or the kink, in which the sign changes
        for j in range(kinks.shape[1]):
            h = np.maximum(h, np.minimum(free[:, j], kinks[docs, j]))
        return h, np.zeros(len(docs))  # no slope: halvings alone, since h may jump

    mass = q.sum(axis=1)  # eta = sum Q - sum_k h_k sum_m lam_m sign(h_k - g_mk)
    return _root(share, mass - total, mass + total)


def _root(share: Share, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return h(eta) with sum 1 (14): Newton's method on 1 / sum, halving where it leaves the ends.

    Each document stops on its own, so that its result does not depend on the others.
    """
    wide = 1e-9 * (1 + np.abs(low) + np.abs(high))  # rounding must not exclude the root
    low, high = low - wide, high + wide
    docs = np.arange(len(low))
    at_low, at_high = share(docs, low)[0], share(docs, high)[0]
    eta = (low + high) / 2
    for _ in range(MAX_ITER):
        h, slope = share(docs, eta[docs])
        total = h.sum(axis=1)
        above = total >= 1
        low[docs[above]], at_low[docs[above]] = eta[docs[above]], h[above]
        high[docs[~above]], at_high[docs[~above]] = eta[docs[~above]], h[~above]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = eta[docs] + total * (1 - total) / slope
        middle = (low[docs] + high[docs]) / 2
        inside = (newton > low[docs]) & (newton < high[docs])
        following = np.where(inside, newton, middle)
        resting = (following == eta[docs]) | (middle <= low[docs]) | (middle >= high[docs])
        eta[docs] = following
        docs = docs[~(resting | (np.abs(total - 1) <= 1e-14))]
        if not len(docs):
            break
    return _mix(at_low, at_high)


def _mix(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return what lies between two shares, of sums above and below 1, and sums to 1."""
    over, under = above.sum(axis=1), below.sum(axis=1)
    gap = over - under
    part = np.divide(1 - under, gap, out=np.ones_like(gap), where=np.isfinite(gap) & (gap > 0))
    part = np.clip(part, 0, 1)[:, None]
    finite = np.isfinite(over)[:, None]  # an end that no step has come near
    mixed = np.where(finite, part * np.where(finite, above, 0), 0) + (1 - part) * below
    return np.where(finite, mixed, below)
