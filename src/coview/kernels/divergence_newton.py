"""Newton's method in log h for `kernels.divergence_step`: symmetric Kullback-Leibler divergence."""

from numba import njit

from coview.kernels.divergence_system import MAX_ITER, OPTIONS, factor, solve_system
from coview.kernels.elementary import exp, log, log_ratio

_LEAST = 1e-300  # what is smaller is 0: logarithms of subnormal numbers would be wrong


@njit(**OPTIONS)
def newton(kind, n, m, counts, lam, tol, h, t):
    """Turn h (n, m), a guess, into the maximizer."""
    logs, new, new_log = t.log, t.apart[0], t.apart[1]
    for v in range(n):
        for k in range(m):
            h[v, k] = h[v, k] if h[v, k] >= _LEAST else 0.0
            logs[v, k] = log(max(h[v, k], _LEAST)) if h[v, k] > 0.0 else -1e300  # without counts
    t.rhs[:] = 0.0
    best = _log_step(n, m, counts, lam, logs, 0.0, t.rhs, new, new_log)
    whole = step = 1.0
    for _ in range(MAX_ITER):
        _log_system(n, m, counts, lam, h, logs, step < whole, t)
        factor(n, m, t)
        t.multiplier[:n] = 0.0
        solve_system(kind, n, m, t)
        far = 0.0
        for v in range(n):
            for k in range(m):
                far = max(far, abs(t.rhs[v, k]))
        whole = step = min(1.0, 30.0 / far)  # a share changes by a factor of exp(30) at most
        value = _log_step(n, m, counts, lam, logs, step, t.rhs, new, new_log)
        while value < best - 1e-14 * (1.0 + lam) and step > 1e-9:  # (11a) next, see `_log_system`
            step *= 0.25
            value = _log_step(n, m, counts, lam, logs, step, t.rhs, new, new_log)
        best = value
        for v in range(n):
            for k in range(m):
                h[v, k], logs[v, k] = new[v, k], new_log[v, k]
        if far <= tol and step == 1.0:
            break


@njit(**OPTIONS)
def _log_system(n, m, counts, lam, h, logs, plain, t):
    """Set up the Newton system of (11b) at h; if `plain` of (11a), whose step always ascends."""
    excess, scale, rhs, weight, pull = t.excess, t.scale, t.rhs, t.weight, t.slack
    others = t.inverse  # lam times the shares of the other views; `factor` needs the room later
    for v in range(n):
        for k in range(m):
            pull[v, k] = 0.0
            others[v, k] = 0.0
            scale[v, k] = h[v, k]
    for v in range(n):
        for w in range(v + 1, n):
            for k in range(m):
                ratio, over = logs[v, k] - logs[w, k], h[v, k] - h[w, k]
                pull[v, k] += lam * (h[v, k] * ratio + over)
                pull[w, k] -= lam * (h[w, k] * ratio + over)
                others[v, k] += lam * h[w, k]
                others[w, k] += lam * h[v, k]
                weight[v, w, k] = lam * (h[v, k] + h[w, k])
    for v in range(n):
        eta = 0.0
        for k in range(m):
            eta += counts[v, k] - pull[v, k]
        for k in range(m):
            left, right = counts[v, k], h[v, k] * eta + pull[v, k]  # the sides of (11a)
            excess[v, k] = max(left, right, _LEAST)
            rhs[v, k] = left - right
        for k in range(0 if plain else m):
            # the sides of (11b), without log
            a = h[v, k] * eta + pull[v, k] + others[v, k]
            b = max(counts[v, k] + others[v, k], _LEAST)
            growth = max(a, b) * log_ratio(b, max(a, _LEAST), rhs[v, k])
            rhs[v, k] = growth if a > 0.0 else rhs[v, k]


@njit(**OPTIONS)
def _log_step(n, m, counts, lam, logs, step, x, new, new_log):
    """Fill new and new_log with the rows a step away, normalized; return F (10) there."""
    value = 0.0
    for v in range(n):
        total = 0.0
        for k in range(m):
            new_log[v, k] = logs[v, k] + step * x[v, k]
            new[v, k] = exp(new_log[v, k])
            total += new[v, k]
        shift, part = log(total), 1.0 / total
        for k in range(m):
            new_log[v, k] -= shift
            new[v, k] *= part
            value += counts[v, k] * new_log[v, k]
        for w in range(v):
            for k in range(m):
                value -= lam * (new[v, k] - new[w, k]) * (new_log[v, k] - new_log[w, k])
    return value
