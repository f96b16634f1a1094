"""Likelihood of documents that a model has not seen, and how many words it does not know.

Unsmoothed PLSA gives minus infinity to a word that no topic of the document has, so a little of
the corpus distribution is mixed into every topic; words that never occurred in training are left
out, and their share is reported.
"""

import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coview.data.prepare import Prepared
from coview.data.validate import DataWarning


def smoothed(p_w_z: np.ndarray, term_counts: np.ndarray, smoothing: float) -> np.ndarray:
    """p(w|z) with a share `smoothing` of the corpus distribution."""
    corpus = term_counts / term_counts.sum()
    return ((1 - smoothing) * p_w_z + smoothing * corpus).astype(p_w_z.dtype)


def without_unseen(data: Prepared, term_counts: dict[str, np.ndarray]) -> Prepared:
    """The data without terms that never occurred in training; warns with their share."""
    seen = [m @ sp.diags_array((term_counts[n] > 0).astype(m.dtype)) for n, m in _named(data)]
    kept = []
    for name, before, after in zip(data.names, data.matrices, seen, strict=True):
        after = sp.csr_array(after)
        after.eliminate_zeros()
        lost = 1 - after.sum(dtype=np.float64) / max(before.sum(dtype=np.float64), 1e-300)
        if lost > 1e-12 and before.nnz:
            warnings.warn(
                f"View {name!r}: {lost:.2%} of the counts are of terms that never occurred in "
                "training; they are left out.",
                DataWarning,
                stacklevel=4,
            )
        kept.append(after)
    return replace(data, matrices=tuple(kept))


def split_tokens(data: Prepared, share: float, seed: int) -> tuple[Prepared, Prepared]:
    """Each document's tokens at random in two parts, the second with `share` of them.

    Whole counts are split token by token; other weights keep each non-zero in one piece.
    """
    rng = np.random.default_rng(seed)
    pairs = [_split(m, share, rng) for m in data.matrices]
    first, second = (tuple(p[i] for p in pairs) for i in (0, 1))
    return replace(data, matrices=first), replace(data, matrices=second)


def _split(matrix, share, rng):
    if (matrix.data == np.rint(matrix.data)).all():
        held = rng.binomial(matrix.data.astype(np.int64), share).astype(matrix.dtype)
    else:
        held = np.where(rng.random(matrix.nnz) < share, matrix.data, 0).astype(matrix.dtype)
    parts = []
    for values in (matrix.data - held, held):
        part = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
        part.eliminate_zeros()
        parts.append(part)
    return parts


def _named(data):
    return zip(data.names, data.matrices, strict=True)
