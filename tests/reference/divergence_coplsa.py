"""CoPLSA with divergences (003): a PLSA per view, a document's mixtures kept close to each other.

    O = sum_v a_v J(W_v, H_v) - sum_d sum_{v<w} lam_vw D(h_v(d), h_w(d))              (Eq. 8)

over the views a document has; D is "skl", "l2" or "l1" as defined before Eq. 1. `lam` is a number
or a symmetric (V, V) matrix (`objective` and `divergence_coplsa` also take (D, V, V)). The paper
normalizes each document of X to one; here X is taken as it is.

The H-step (10), for one view or for all views of a document at once, is solved by a generic
interior-point method that knows none of the closed forms (11)-(13).
"""

import itertools
import math

import numpy as np

from tests.reference import interior_point, plsa
from tests.reference.simplex import all_present, count_log, rows_of_present, view_weights

DIVERGENCES = ("skl", "l2", "l1")
TOLERANCE, REQUIRED = 1e-13, 1e-9  # of the objective, relative to max(1, counts + lam)


def divergence(a, b, kind):
    """003, before Eq. 1: sKL = KL(a,b) + KL(b,a), l2 = 1/2 sum (a-b)^2, l1 = sum |a-b|."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        if kind == "l2":
            total += 0.5 * (x - y) ** 2
        elif kind == "l1":
            total += abs(x - y)
        elif x > 0 and y > 0:
            total += (x - y) * math.log(x / y)
        elif x > 0 or y > 0:
            return math.inf
    return total


def pair_weights(lam, n_views):
    """lam as a (V, V) matrix."""
    return np.broadcast_to(np.asarray(lam, dtype=float), (n_views, n_views))


def coupled_pairs(lam, present):
    """The pairs v < w of present views with lam_vw > 0."""
    views = np.flatnonzero(present)
    return [(int(v), int(w)) for v, w in itertools.combinations(views, 2) if lam[v, w] > 0]


def penalty(rows, lam, kind, present=None):
    """sum over present pairs v < w of lam_vw D(h_v, h_w), one document; rows (V, K)."""
    present = np.ones(len(rows), dtype=bool) if present is None else np.asarray(present)
    lam = pair_weights(lam, len(rows))
    pairs = coupled_pairs(lam, present)
    return sum(lam[v, w] * divergence(rows[v], rows[w], kind) for v, w in pairs)


def document_value(counts, rows, lam, kind, present=None):
    """003 Eq. 10 for all views: sum_v sum_k Q_vk log h_vk - sum_{v<w} lam_vw D(h_v, h_w)."""
    present = np.ones(len(counts), dtype=bool) if present is None else np.asarray(present)
    total = sum(count_log(counts[v], rows[v]) for v in np.flatnonzero(present))
    return total - penalty(rows, lam, kind, present)


def objective(Xs, thetas, p_w_zs, lam, kind, weights=None, present=None):
    """003 Eq. 8: sum_v a_v J_v over documents that have view v - sum_d penalty(d)."""
    n_docs, n_views = len(thetas[0]), len(Xs)
    weights, present = view_weights(weights, n_views), all_present(present, n_docs, n_views)
    lams = np.broadcast_to(np.asarray(lam, dtype=float), (n_docs, n_views, n_views))
    total = 0.0
    for v, X in enumerate(Xs):
        X = rows_of_present(X, present[:, v])
        total += weights[v] * plsa.log_likelihood(X, thetas[v], p_w_zs[v])
    for d in range(n_docs):
        total -= penalty([theta[d] for theta in thetas], lams[d], kind, present[d])
    return total


# --- the H-step ------------------------------------------------------------------------------


class _Document:
    """max sum_v Q_v log h_v - sum lam D over the free views; the fixed ones are constants.

    Variables x >= 0: the free rows one after another and, for l1, two more per pair and topic,
    p, q with h_v - h_w = p - q and cost lam (p + q), so that the objective is smooth.
    """

    def __init__(self, counts, lam, kind, present, fixed):
        self.counts, self.lam, self.kind, self.fixed = counts, lam, kind, fixed
        self.n_topics = counts.shape[1]
        self.free = [int(v) for v in np.flatnonzero(present) if v not in fixed]
        pairs = coupled_pairs(lam, present)
        self.pairs = [(v, w) for v, w in pairs if v in self.free or w in self.free]
        self.n_rows = len(self.free) * self.n_topics
        extra = 2 * len(self.pairs) * self.n_topics if kind == "l1" else 0
        self.n = self.n_rows + extra

    def place(self, v):
        """Where row v is in x (None if it is fixed)."""
        if v not in self.free:
            return None
        start = self.free.index(v) * self.n_topics
        return np.arange(start, start + self.n_topics)

    def slack_places(self, j):
        """Where p and q of pair j are in x."""
        start = self.n_rows + 2 * j * self.n_topics
        p = np.arange(start, start + self.n_topics)
        return p, p + self.n_topics

    def row(self, x, v):
        return self.fixed[v] if v in self.fixed else x[self.place(v)]

    def constraints(self):
        """sum_k h_vk = 1 for the free views; for l1 also h_v - h_w - p + q = 0."""
        A, b = [], []
        for v in self.free:
            line = np.zeros(self.n)
            line[self.place(v)] = 1
            A.append(line)
            b.append(1.0)
        for j, (v, w) in enumerate(self.pairs if self.kind == "l1" else ()):
            p, q = self.slack_places(j)
            for k in range(self.n_topics):
                line, right = np.zeros(self.n), 0.0
                line[p[k]], line[q[k]] = -1, 1
                for view, sign in ((v, 1), (w, -1)):
                    if view in self.free:
                        line[self.place(view)[k]] = sign
                    else:
                        right -= sign * self.fixed[view][k]
                A.append(line)
                b.append(right)
        return np.array(A), np.array(b)

    def start(self):
        """Uniform rows; p and q a little above what the constraints need."""
        x = np.full(self.n, 1 / self.n_topics)
        for j, (v, w) in enumerate(self.pairs if self.kind == "l1" else ()):
            difference = self.row(x, v) - self.row(x, w)
            p, q = self.slack_places(j)
            x[p] = np.maximum(difference, 0) + 0.05
            x[q] = np.maximum(-difference, 0) + 0.05
        return x

    def logs(self):
        """The weights of the logarithms: Q for the rows, 0 for p and q."""
        weights = np.zeros(self.n)
        for v in self.free:
            weights[self.place(v)] = self.counts[v]
        return weights

    def derivatives(self, x):
        """Gradient and Hessian of minus the couplings."""
        grad, hess = np.zeros(self.n), np.zeros((self.n, self.n))
        for j, (v, w) in enumerate(self.pairs):
            if self.kind == "l1":
                grad[np.concatenate(self.slack_places(j))] -= self.lam[v, w]
            else:
                self._add_pair(x, v, w, grad, hess)
        return grad, hess

    def _add_pair(self, x, v, w, grad, hess):
        lam = self.lam[v, w]
        d_a, d_b, d_aa, d_bb, d_ab = _smooth_parts(self.row(x, v), self.row(x, w), self.kind)
        at_a, at_b = self.place(v), self.place(w)
        if at_a is not None:
            grad[at_a] -= lam * d_a
            hess[at_a, at_a] -= lam * d_aa
        if at_b is not None:
            grad[at_b] -= lam * d_b
            hess[at_b, at_b] -= lam * d_bb
        if at_a is not None and at_b is not None:
            hess[at_a, at_b] -= lam * d_ab
            hess[at_b, at_a] -= lam * d_ab


def _smooth_parts(a, b, kind):
    """Elementwise derivatives of D(a, b): by a, by b, by aa, by bb, by ab."""
    if kind == "l2":
        one = np.ones_like(a)
        return a - b, b - a, one, one, -one
    log = np.log(a / b)
    return log + 1 - b / a, -log + 1 - a / b, 1 / a + b / a**2, 1 / b + a / b**2, -1 / a - 1 / b


def coupled_groups(lam, present):
    """The present views in groups that are linked by couplings; the problem is a sum over them."""
    groups = [{int(v)} for v in np.flatnonzero(present)]
    for v, w in coupled_pairs(lam, present):
        one = next(g for g in groups if v in g)
        other = next(g for g in groups if w in g)
        if one is not other:
            groups.remove(other)
            one |= other
    return [sorted(g) for g in groups]


def _solve_group(counts, lam, kind, fixed):
    """One group of coupled views, all present: (rows, gap)."""
    document = _Document(counts, lam, kind, np.ones(len(counts), dtype=bool), fixed)
    if not document.free:
        return np.array([fixed[v] for v in range(len(counts))]), 0.0
    scale = max(1.0, counts[document.free].sum() + lam.max())
    x, gap = interior_point.maximize(
        document.logs(),
        document.derivatives,
        *document.constraints(),
        document.start(),
        TOLERANCE * scale,
        logarithmic=kind == "skl",
    )
    if gap > REQUIRED * scale:
        raise RuntimeError(f"certificate {gap:.1e} of the H-step, scale {scale:.1e}")
    return np.array([document.row(x, v) for v in range(len(counts))]), gap


def _solve_group_without_dead_topics(counts, lam, kind, fixed):
    """As `_solve_group`; for skl a topic without counts in any view is 0 in all of them.

    Merging such a topic into another lowers no log term and, by the log-sum inequality, raises no
    sKL, so 0 is optimal; it has to be set by hand because sKL has no derivative at (0, 0).
    """
    alive = counts.sum(axis=0) > 0
    if kind != "skl" or fixed or not alive.any():
        return _solve_group(counts, lam, kind, fixed)
    rows = np.zeros(counts.shape)
    rows[:, alive], gap = _solve_group(counts[:, alive], lam, kind, fixed)
    return rows, gap


def solve_document(counts, lam, kind, present=None, fixed=None):
    """The maximizer of `document_value` over the present views that are not in `fixed`.

    counts (V, K); fixed {view: row}. Returns (rows, gap): rows (V, K) with NaN for absent views,
    gap an upper bound of the shortfall in the objective (the KKT certificate). Each group of
    coupled views is solved to TOLERANCE x max(1, counts + lam); above REQUIRED x that it is an
    error. Where the maximizer is not unique (a view with no counts and no coupling, l1 with zero
    counts) one of them is returned.
    """
    counts, lam = np.asarray(counts, dtype=float), pair_weights(lam, len(counts))
    present = np.ones(len(counts), dtype=bool) if present is None else np.asarray(present)
    fixed = {v: np.asarray(row, dtype=float) for v, row in (fixed or {}).items() if present[v]}
    if kind == "skl" and any(np.any(row <= 0) for row in fixed.values()):
        raise ValueError("skl is infinite at a fixed mixture with a zero")
    rows, total_gap = np.full(counts.shape, np.nan), 0.0
    for group in coupled_groups(lam, present):
        group_fixed = {i: fixed[v] for i, v in enumerate(group) if v in fixed}
        rows[group], gap = _solve_group_without_dead_topics(
            counts[group], lam[np.ix_(group, group)], kind, group_fixed
        )
        total_gap += gap
    return rows, total_gap


def joint_step(counts, lam, kind, present=None):
    """All present views of one document at once: the exact maximizer of `document_value`.

    max over h_v in the simplex of sum_v sum_k Q_vk log h_vk - sum_{v<w} lam_vw D(h_v, h_w). Jointly
    concave for all three divergences. Rows of absent views are NaN.
    """
    return solve_document(counts, lam, kind, present)[0]


def h_step(counts, others, lam, kind):
    """003 Eq. 10, one view: max_h sum_k Q_k log h_k - sum_m lam_m D(h, g_m); others (n, K).

    lam is a number or one per other view.
    """
    n = len(others)
    matrix = np.zeros((n + 1, n + 1))
    matrix[0, 1:] = matrix[1:, 0] = lam
    stacked = np.vstack([counts, np.zeros((n, len(counts)))])
    fixed = {m + 1: g for m, g in enumerate(others)}
    return solve_document(stacked, matrix, kind, fixed=fixed)[0][0]


def fill_absent(rows, lam, kind, present):
    """Rows of absent views: the H-step at Q = 0 from the present ones (uniform if there is none).

    One view present: its copy; l2: the weighted mean.
    """
    rows, lam = np.array(rows, dtype=float), pair_weights(lam, len(rows))
    seen = np.flatnonzero(present)
    for v in np.flatnonzero(~np.asarray(present)):
        if len(seen) == 0:
            rows[v] = 1 / rows.shape[1]
        else:
            rows[v] = h_step(np.zeros(rows.shape[1]), rows[seen], lam[v, seen], kind)
    return rows


# --- the fit ---------------------------------------------------------------------------------


def m_step_document(counts, rows, lam, kind, present, step):
    """New rows (V, K) of one document from fixed counts; absent views keep their rows.

    step="joint": all views at once. step="view": the views in order, each by (10) with the others
    fixed at their latest values, as in the paper. A group of coupled views without any counts
    keeps its rows.
    """
    counts, rows = np.asarray(counts, dtype=float), np.array(rows, dtype=float)
    lam = pair_weights(lam, len(rows))
    for group in coupled_groups(lam, present):
        if counts[group].sum() > 0:
            within = np.ix_(group, group)
            for free in (
                [range(len(group))] if step == "joint" else [[i] for i in range(len(group))]
            ):
                fixed = {i: rows[v] for i, v in enumerate(group) if i not in free}
                rows[group] = solve_document(counts[group], lam[within], kind, fixed=fixed)[0]
    return rows


def divergence_coplsa(
    Xs,
    thetas,
    p_w_zs,
    n_iter,
    lam,
    kind,
    weights=None,
    present=None,
    pinned=None,
    step="joint",
):
    """003's alternating scheme, one inner step each; states (thetas, p_w_zs), lists over views.

    Per iteration: p_v(w|z) of all views by (4); a second E-step with them gives Q_v (5), times the
    weight a_v; then p_v(z|d) of all views, document by document, by `m_step_document`. Pinned
    documents (all their views) do not move. Monotone for both steps.
    """
    n_docs, n_views = len(thetas[0]), len(Xs)
    weights, present = view_weights(weights, n_views), all_present(present, n_docs, n_views)
    lams = np.broadcast_to(np.asarray(lam, dtype=float), (n_docs, n_views, n_views))
    pinned = np.zeros(n_docs, dtype=bool) if pinned is None else np.asarray(pinned, dtype=bool)
    seen = [rows_of_present(X, present[:, v]) for v, X in enumerate(Xs)]
    values = [objective(Xs, thetas, p_w_zs, lam, kind, weights, present)]
    states = []
    for _ in range(n_iter):
        p_w_zs = [
            plsa.m_step_emissions(plsa.expected_counts(X, theta, p), p)
            for X, theta, p in zip(seen, thetas, p_w_zs, strict=True)
        ]
        counts = np.array(
            [weights[v] * plsa.theta_counts(seen[v], thetas[v], p_w_zs[v]) for v in range(n_views)]
        )
        new = np.array(thetas, dtype=float)
        for d in np.flatnonzero(~pinned):
            new[:, d] = m_step_document(counts[:, d], new[:, d], lams[d], kind, present[d], step)
        thetas = list(new)
        states.append((thetas, p_w_zs))
        values.append(objective(Xs, thetas, p_w_zs, lam, kind, weights, present))
    return states, values
