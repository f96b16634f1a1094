"""A small generic solver for concave maximisation, with a certificate of its own accuracy."""

import numpy as np


def _residuals(x, z, nu, grad, A, b, mu):
    return np.concatenate([-grad - z + A.T @ nu, x * z - mu, A @ x - b])


def _newton_step(x, z, nu, grad, hess, A, b, mu):
    """Solve the linearised KKT system for (dx, dz, dnu), scaled by sqrt(x/z)."""
    scale = np.sqrt(x / z)
    n, m = len(x), len(b)
    system = np.zeros((n + m, n + m))
    system[:n, :n] = np.eye(n) - scale[:, None] * hess * scale[None, :]
    system[:n, n:] = (A * scale).T
    system[n:, :n] = A * scale
    right = np.concatenate([scale * (grad - A.T @ nu + mu / x), b - A @ x])
    solution = np.linalg.solve(system, right)
    dx = scale * solution[:n]
    return dx, (mu - x * z - z * dx) / x, solution[n:]


def _largest_step(x, dx):
    """The largest step in (0, 1] that keeps x + s dx positive, with a margin of one per cent."""
    falling = dx < 0
    return min(1.0, 0.99 * np.min(-x[falling] / dx[falling])) if falling.any() else 1.0


def _gap(x, z, nu, grad, A, b):
    """An upper bound of f(x*) - f(x) for any z >= 0 and nu, given |x* - x| <= 1 in each entry.

    f concave: f(x*) - f(x) <= grad'(x* - x), and with r = grad + z - A'nu this is
    r'(x* - x) - z'x* + z'x + nu'(b - A x) <= sum |r| + z'x + |nu|'|A x - b|.
    """
    r = grad + z - A.T @ nu
    return float(np.abs(r).sum() + z @ x + np.abs(nu) @ np.abs(A @ x - b))


def maximise(derivatives, A, b, x, tol, max_iter=500):
    """max f(x) subject to A x = b, x >= 0 by a primal-dual interior-point method.

    derivatives(x) returns (gradient, Hessian) of the concave f at x > 0; the start x is positive.
    The Newton step on the perturbed KKT conditions

        grad f + z = A' nu,    x_i z_i = mu,    A x = b

    is cut so that x, z stay positive and halved until the residual falls; mu is a tenth of the
    mean of x_i z_i. Stops at gap <= tol, or when rounding stops all progress. Returns (x, gap),
    where f(x) is within gap of the maximum over all feasible points whose entries differ from x by
    at most one.
    """
    A, b, x = np.asarray(A, dtype=float), np.asarray(b, dtype=float), np.array(x, dtype=float)
    z, nu = np.ones_like(x), np.zeros(len(b))
    best_x, best_gap, idle = x, np.inf, 0
    for _ in range(max_iter):
        grad, hess = derivatives(x)
        gap = _gap(x, z, nu, grad, A, b)
        idle = 0 if gap < best_gap else idle + 1
        if gap < best_gap:
            best_x, best_gap = x, gap
        if best_gap <= tol or idle == 20:
            break
        mu = 0.1 * (x @ z) / len(x)
        try:
            dx, dz, dnu = _newton_step(x, z, nu, grad, hess, A, b, mu)
        except np.linalg.LinAlgError:  # constraints dependent to rounding: as far as it goes
            break
        step = min(_largest_step(x, dx), _largest_step(z, dz))
        before = np.linalg.norm(_residuals(x, z, nu, grad, A, b, mu))
        for _ in range(40):
            trial = x + step * dx, z + step * dz, nu + step * dnu
            after = np.linalg.norm(_residuals(*trial, derivatives(trial[0])[0], A, b, mu))
            if after <= (1 - 0.01 * step) * before:
                break
            step /= 2
        x, z, nu = trial
    return best_x, best_gap
