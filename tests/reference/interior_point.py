"""A small generic solver for concave maximisation, with a certificate of its own accuracy."""

import numpy as np


def _residuals(x, z, nu, slope, logs, A, b, mu):
    return np.concatenate([-slope - z + A.T @ nu, x * z - logs - mu, A @ x - b])


def _newton_step(x, z, nu, slope, hess, logs, A, b, mu):
    """Solve the linearised conditions for (dx, dz, dnu), scaled by sqrt(x/z)."""
    scale = np.sqrt(x / z)
    n, m = len(x), len(b)
    system = np.zeros((n + m, n + m))
    system[:n, :n] = np.eye(n) - scale[:, None] * hess * scale[None, :]
    system[:n, n:] = (A * scale).T
    system[n:, :n] = A * scale
    right = np.concatenate([scale * (slope - A.T @ nu + (logs + mu) / x), b - A @ x])
    solution = np.linalg.solve(system, right)
    dx = scale * solution[:n]
    return dx, (logs + mu - x * z - z * dx) / x, solution[n:]


def _largest_step(x, dx):
    """The largest step in (0, 1] that keeps x + s dx positive, with a margin of one per cent."""
    falling = dx < 0
    return min(1.0, 0.99 * np.min(-x[falling] / dx[falling])) if falling.any() else 1.0


def _gap(x, z, nu, slope, logs, A, b):
    """An upper bound of f(x*) - f(x), given |x* - x| <= 1 in each entry; z, nu may be anything.

    With grad = logs/x + slope and y = max(0, z - logs/x), f concave and x* >= 0 give
    f(x*) - f(x) <= grad'(x* - x) = r'(x* - x) - y'(x* - x) + nu'(b - A x), r = grad + y - A'nu,
    <= sum |r| + y'x + |nu|'|A x - b|.
    """
    y = np.maximum(0, z - logs / x)
    r = logs / x + slope + y - A.T @ nu
    return float(np.abs(r).sum() + y @ x + np.abs(nu) @ np.abs(A @ x - b))


def maximise(logs, derivatives, A, b, x, tol, max_iter=300):
    """max f(x) = sum_i logs_i log x_i + s(x) subject to A x = b, x >= 0, by interior points.

    logs >= 0; derivatives(x) returns (gradient, Hessian) of the concave s at x > 0; the start x is
    positive. Newton steps on the perturbed KKT conditions

        grad s + z = A' nu,    x_i z_i = logs_i + mu,    A x = b

    (z_i = logs_i / x_i is the derivative of the logarithm, what is above it the multiplier of
    x_i >= 0), cut so that x and z stay positive and halved until the residual falls, mu a tenth of
    the mean |x_i z_i - logs_i|. Stops at gap <= tol, or when rounding stops all progress. Returns
    (x, gap): f(x) is within gap of the maximum over all feasible points whose entries differ from
    x by at most one.
    """
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
            dx, dz, dnu = _newton_step(x, z, nu, slope, hess, logs, A, b, mu)
        except np.linalg.LinAlgError:  # constraints dependent to rounding: as far as it goes
            break
        step = min(_largest_step(x, dx), _largest_step(z, dz))
        before = np.linalg.norm(_residuals(x, z, nu, slope, logs, A, b, mu))
        for _ in range(40):
            trial = x + step * dx, z + step * dz, nu + step * dnu
            slope = derivatives(trial[0])[0]
            if (
                np.linalg.norm(_residuals(*trial, slope, logs, A, b, mu))
                <= (1 - step / 100) * before
            ):
                break
            step /= 2
        x, z, nu = trial
    return best_x, best_gap
