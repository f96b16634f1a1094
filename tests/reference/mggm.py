"""MGGM (001): MVPLSA whose p(c|x) is smoothed over a learned mixture of the views' graphs."""

import numpy as np

from tests.reference import ltm, mvplsa


def graph_weights(roughnesses, exponent, normalize=False):
    """001 Eq. 10, in plain arithmetic; exponent is lambda_2 in (0, 1), T_t = Tr(P' L^t P):

        mu_t = T_t^(1/(lambda_2-1)) / (sum_s T_s^(lambda_2/(lambda_2-1)))^(1/lambda_2)

    (the paper writes t for s). If m traces are 0 the limit is taken: m^(-1/lambda_2) for each of
    them, 0 for the others. The literal weights do not sum to one, contrary to Eq. 6;
    normalize=True divides by their sum.
    """
    traces = [float(t) for t in roughnesses]
    zeros = sum(t == 0 for t in traces)
    if zeros:
        mu = [zeros ** (-1 / exponent) if t == 0 else 0.0 for t in traces]
    else:
        total = sum(t ** (exponent / (exponent - 1)) for t in traces)
        mu = [t ** (1 / (exponent - 1)) / total ** (1 / exponent) for t in traces]
    mu = np.array(mu)
    return mu / mu.sum() if normalize else mu


def mixed_graph(graphs, mu):
    """001 Eq. 11: E = sum_t mu_t U^t."""
    total = np.zeros_like(np.asarray(graphs[0], dtype=float))
    for weight, U in zip(mu, graphs, strict=True):
        total += weight * U
    return total


def start_weights(graphs):
    """001 Algorithm 1, line 1: mu = 1/T each."""
    return np.full(len(graphs), 1 / len(graphs))


def objective(
    Xs, theta, p_y_zs, p_w_ys, graphs, mu, lam, measure="quadratic", weights=None, present=None
):
    """001 Eq. 4: L - lambda_1 R on E = sum mu_t U^t, R of Eq. 7 ("quadratic") or Eq. 3 ("skl")."""
    E = mixed_graph(graphs, mu)
    R = ltm.roughness(theta, E) if measure == "quadratic" else ltm.symmetric_kl_roughness(theta, E)
    penalty = lam * R if lam > 0 else 0.0
    return mvplsa.log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present) - penalty


def mggm_step(
    Xs,
    theta,
    p_y_zs,
    p_w_ys,
    graphs,
    mu,
    lam,
    exponent,
    normalize=False,
    weights=None,
    present=None,
    pinned=None,
):
    """One pass of 001 Algorithm 1, lines 5-10; returns (theta, p_y_zs, p_w_ys, mu).

    1. E-step (12) with the old parameters.
    2. p(z|c,f) and p(w|z,f) by (14).
    3. p(c|x) by (15), counts of the same E-step, graph E of the OLD mu; Omega = row sums of V.
    4. mu by (10) from the NEW p(c|x), then E by (11): first used in the next pass.
    """
    counts = mvplsa.expected_counts(Xs, theta, p_y_zs, p_w_ys, present)
    p_y_zs, p_w_ys = mvplsa.m_step_emissions(counts, p_y_zs, p_w_ys)
    V = mvplsa.theta_counts(counts, weights)
    theta = ltm.graph_solve(V, mixed_graph(graphs, mu), lam, theta, pinned)
    mu = graph_weights([ltm.roughness(theta, U) for U in graphs], exponent, normalize)
    return theta, p_y_zs, p_w_ys, mu


def mggm(
    Xs,
    theta,
    p_y_zs,
    p_w_ys,
    n_iter,
    graphs,
    lam,
    exponent,
    normalize=False,
    weights=None,
    present=None,
    pinned=None,
    mu=None,
    measure="quadratic",
):
    """001 Algorithm 1; states (theta, p_y_zs, p_w_ys, mu).

    values[i] is Eq. 4 with the weights mu of state i; values of different iterations have
    different graphs, so they are neither comparable nor monotone.
    """
    mu = start_weights(graphs) if mu is None else np.asarray(mu, dtype=float)
    state = (theta, p_y_zs, p_w_ys, mu)
    states, values = [], []
    for i in range(n_iter + 1):
        if i > 0:
            state = mggm_step(
                Xs, *state[:3], graphs, state[3], lam, exponent, normalize, weights, present, pinned
            )
            states.append(state)
        values.append(objective(Xs, *state[:3], graphs, state[3], lam, measure, weights, present))
    return states, values
