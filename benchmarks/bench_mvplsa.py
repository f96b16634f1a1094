"""One iteration of MVPLSA against the E-step as the paper states it, O(nnz Y K).

    python benchmarks/bench_mvplsa.py [--docs 25000] [--topics 10] [--feature-topics 500]

The naive pass is compiled and stores no posterior. For each non-zero it sums over all pairs of
topic and feature topic, once for p(w|d) and once for the expected counts.
"""

import argparse
import time
import warnings

import numpy as np
from numba import njit

from coview import MVPLSA
from coview.datasets import make_views

warnings.simplefilter("ignore")


@njit
def naive_pass(indptr, indices, data, theta, p_y_z, by_term, new_theta, new_p_y_z, new_by_term):
    n_topics, n_feature_topics = p_y_z.shape
    for d in range(theta.shape[0]):
        for j in range(indptr[d], indptr[d + 1]):
            w = indices[j]
            p = 0.0
            for z in range(n_topics):
                for y in range(n_feature_topics):
                    p += theta[d, z] * p_y_z[z, y] * by_term[w, y]
            r = data[j] / p
            for z in range(n_topics):
                for y in range(n_feature_topics):
                    expected = r * theta[d, z] * p_y_z[z, y] * by_term[w, y]
                    new_theta[d, z] += expected
                    new_p_y_z[z, y] += expected
                    new_by_term[w, y] += expected


def seconds_of_a_pass(views, k, y):
    times = []
    for n in (2, 7):
        model = MVPLSA(k, y, init="random", tol=0.0, max_iter=n, random_state=0, n_jobs=1)
        start = time.perf_counter()
        model.fit(views)
        times.append(time.perf_counter() - start)
    return (times[1] - times[0]) / 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=25_000)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--feature-topics", type=int, default=500)
    args = parser.parse_args()
    views = make_views(args.docs, 50, [5000], doc_length=90, random_state=0)
    X, (k, y) = views["view_0"], (args.topics, args.feature_topics)
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.ones(k), X.shape[0])
    p_y_z = rng.dirichlet(np.ones(y), k)
    by_term = np.ascontiguousarray(rng.dirichlet(np.ones(X.shape[1]), y).T)
    factors = theta, p_y_z, by_term
    rest = (*factors, *(np.zeros_like(factor) for factor in factors))
    naive_pass(X.indptr[:3], X.indices, X.data, theta[:2], *rest[1:])  # compile
    start = time.perf_counter()
    naive_pass(X.indptr, X.indices, X.data, *rest)
    naive = time.perf_counter() - start
    seconds_of_a_pass(views[:500], k, y)
    ours = seconds_of_a_pass(views, k, y)
    print(f"{X.nnz:,} non-zeros, {k} topics, {y} feature topics, one thread")
    print(f"naive {naive:.1f} s, coview {ours:.3f} s a pass: {naive / ours:.0f} times")


if __name__ == "__main__":
    main()
