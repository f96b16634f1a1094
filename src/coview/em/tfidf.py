"""tf-idf features of counts, the one place for them: starts, ensembles, graphs and baselines.

Square roots of counts, weighted by inverse document frequencies, rows of length one. Distances are
then Hellinger distances, which suit multinomials; and unlike logarithms, square roots keep
measurements below 1 positive.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def inverse_frequencies(matrix: sp.csr_array) -> np.ndarray:
    """Return log((1 + documents) / (1 + documents with the term)) + 1 of each term.

    >>> inverse_frequencies(sp.csr_array([[1.0, 0.0], [2.0, 0.0]])).round(2)
    array([1. , 2.1])
    """
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    n_with = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(dtype)
    return np.log((1 + matrix.shape[0]) / (1 + n_with)) + 1


def tfidf(matrix: sp.csr_array, idf: np.ndarray | None = None) -> sp.csr_array:
    """Return the features of documents; `idf` is that of the training documents, or of these.

    >>> tfidf(sp.csr_array([[4.0, 0.0], [0.0, 9.0]])).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    from sklearn.preprocessing import normalize

    idf = inverse_frequencies(matrix) if idf is None else idf
    values = np.sqrt(matrix.data, dtype=idf.dtype)
    values *= idf[matrix.indices]
    weighted = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    return sp.csr_array(normalize(weighted, copy=False))
