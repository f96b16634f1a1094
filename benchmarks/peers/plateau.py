"""Whether more passes still pay, judged on a few held-out documents while a fit runs; not timed.

It decides only when a run ends. What is reported is computed later, by one function for all
(`perplexity.py`), which needs numba and so does not run in every environment.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

DOCUMENTS, FOLD_IN = 200, 20
GAIN = 0.005  # of the perplexity, by doubling the passes: less than that is a plateau
START = 0.05  # what must have been gained before a plateau is believed
SMOOTHING = 0.01


class Plateau:
    """Says when perplexity has stopped falling."""

    def __init__(self, folder, at_least):
        parts = [sp.load_npz(Path(folder) / f"{name}.npz") for name in ("observed", "predicted")]
        self._observed, self._predicted = (part[:DOCUMENTS].tocoo() for part in parts)
        self._at_least = at_least
        self._seen = []  # passes, log perplexity

    def reached(self, passes, topics):
        """Return whether doubling the passes has gained next to nothing."""
        now = self._log_perplexity(topics)
        halfway = [value for p, value in self._seen if p <= passes / 2]
        self._seen.append((passes, now))
        moved = self._seen[0][1] - now > START  # from random topics all is flat at first
        enough = passes >= self._at_least and moved
        return enough and bool(halfway) and halfway[-1] - now < GAIN

    def _log_perplexity(self, topics):
        by_term = (1 - SMOOTHING) * topics.T + SMOOTHING / topics.shape[1]
        x, y = self._observed, self._predicted
        terms = by_term[x.col]
        theta = np.full((x.shape[0], topics.shape[0]), 1 / topics.shape[0])
        for _ in range(FOLD_IN):
            ratio = x.data / np.einsum("ij,ij->i", theta[x.row], terms)
            ratios = sp.csr_matrix((ratio, (x.row, np.arange(x.nnz))), shape=(x.shape[0], x.nnz))
            theta = theta * (ratios @ terms) + 0.1
            theta /= theta.sum(axis=1, keepdims=True)
        p = np.einsum("ij,ij->i", theta[y.row], by_term[y.col])
        return -float(y.data @ np.log(p)) / y.data.sum()
