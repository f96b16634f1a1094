"""A small generic solver for concave maximization, with a certificate of its own accuracy."""

import numpy as np


def _solve(x, z, slope_gap, right_b, hess, A):
    """The Newton system (-hess + z/x) dx + A' dnu = slope_gap, A dx = right_b; (dx, dnu).

    Solved for dx / sqrt(x/z), in which it is well scaled however small x is.
    """
    scale = np.sqrt(x / z)
    n, m = len(x), len(right_b)
    system = np.zeros((n + m, n + m))
    system[:n, :n] = np.eye(n) - scale[:, None] * hess * scale[None, :]
    system[:n, n:] = (A * scale).T
    system[n:, :n] = A * scale
    solution = np.linalg.solve(system, np.concatenate([scale * slope_gap, right_b]))
    return scale * solution[:n], solution[n:]


def _largest_step(x, dx):
    """The largest step in (0, 1] that keeps x + s dx positive, with a margin of one per cent."""
    falling = dx < 0
    return min(1.0, 0.99 * np.min(-x[falling] / dx[falling])) if falling.any() else 1.0


def _additive_step(x, z, nu, slope, hess, target, A, b):
    """Newton on the conditions in (x, z, nu), cut so that x and z stay positive."""
    dx, dnu = _solve(x, z, slope - A.T @ nu + target / x, b - A @ x, hess, A)
    dz = (target - x * z - z * dx) / x
    step = min(_largest_step(x, dx), _largest_step(z, dz))
    return x + step * dx, z + step * dz, nu + step * dnu


def _logarithmic_step(x, z, nu, slope, hess, target, A, b):
    """Newton on the conditions in (log x, log z, nu), no logarithm moving by more than 3."""
    c = np.log(target / (x * z))
    dx, dnu = _solve(x, z, slope - A.T @ nu + z * (1 + c), b - A @ x, hess, A)
    dlogx = dx / x
    dlogz = c - dlogx
    step = min(1.0, 3 / max(np.abs(dlogx).max(), np.abs(dlogz).max(), 3))
    return x * np.exp(step * dlogx), z * np.exp(step * dlogz), nu + step * dnu


def _gap(x, z, nu, slope, logs, A, b):
    """An upper bound of f(x*) - f(x), given |x* - x| <= 1 in each entry; z, nu may be anything.

    With grad = logs/x + slope and y = max(0, z - logs/x), f concave and x* >= 0 give
    f(x*) - f(x) <= grad'(x* - x) = r'(x* - x) - y'(x* - x) + nu'(b - A x), r = grad + y - A'nu,
    <= sum |r| + y'x + |nu|'|A x - b|.
    """
    y = np.maximum(0, z - logs / x)
    r = logs / x + slope + y - A.T @ nu
    return float(np.abs(r).sum() + y @ x + np.abs(nu) @ np.abs(A @ x - b))


def maximize(logs, derivatives, A, b, x, tol, logarithmic=False, max_iter=300):
    """max f(x) = sum_i logs_i log x_i + s(x) subject to A x = b, x >= 0, by interior points.

    logs >= 0; derivatives(x) returns (gradient, Hessian) of the concave s at x > 0; the start x is
    positive. Newton steps on the perturbed KKT conditions

        grad s + z = A' nu,    x_i z_i = logs_i + mu,    A x = b

    (z_i = logs_i / x_i is the derivative of the logarithm; what is above it, the multiplier of
    x_i >= 0), with mu a tenth of the mean |x_i z_i - logs_i|. Nothing is proved about the path: the
    certificate judges the end. `logarithmic` takes the steps in log x (better where s depends on
    ratios). Stops at gap <= tol, or when rounding stops all progress. Returns (x, gap): f(x) is
    within gap of the maximum over all feasible points whose entries differ from x by at most one.
    """
    newton = _logarithmic_step if logarithmic else _additive_step
    A, b, x = np.asarray(A, dtype=float), np.asarray(b, dtype=float), np.array(x, dtype=float)
    z, nu = (logs + 1) / x, np.zeros(len(b))
    best_x, best_gap, idle = x, np.inf, 0
    for _ in range(max_iter):
        slope, hess = derivatives(x)
        gap = _gap(x, z, nu, slope, logs, A, b)
        idle = 0 if gap < best_gap else idle + 1
        if gap < best_gap:
            best_x, best_gap = x, gap
        if best_gap <= tol or idle == 30:
            break
        mu = 0.1 * np.mean(np.abs(x * z - logs))
        try:
            x, z, nu = newton(x, z, nu, slope, hess, logs + mu, A, b)
        except np.linalg.LinAlgError:  # constraints dependent to rounding: as far as it goes
            break
    return best_x, best_gap
