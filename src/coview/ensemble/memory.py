"""How much memory an ensemble takes, beside the views themselves: measured peaks, rounded up."""

from __future__ import annotations

from collections.abc import Sequence

import scipy.sparse as sp

from coview.ensemble.consensus import MEMBERS, MOST_DOCUMENTS, SAMPLE
from coview.ensemble.features import OVERSAMPLING, n_dimensions
from coview.views.density import is_dense_real

FAMILIES = 8
NUMBER = 4  # bytes of a feature, an embedding or a label
BLOCKS = 12 << 20  # cosines and scores that are held at a time


def making_bytes(matrices: Sequence[sp.csr_array], n_clusters: int) -> int:
    """Return the largest memory in use while an ensemble is made.

    Features of all documents stay to the end. On top of them is the largest of three: singular
    vectors of a view, families of the sample, the other documents on their way to the clusters.
    """
    n_docs, n_dims = matrices[0].shape[0], n_dimensions(n_clusters)
    n_sample = n_docs if n_docs <= MOST_DOCUMENTS else SAMPLE
    fused = NUMBER * n_dims * len(matrices)  # of a document
    features = sum(NUMBER * (_cells(m) if is_dense_real(m) else m.nnz) for m in matrices)
    terms = [m.shape[1] for m in matrices]
    # a matrix in single precision, and two copies in double where its squares are summed
    vectors = 21 * max(terms) * (n_dims + OVERSAMPLING) + NUMBER * sum(terms) * n_dims
    families = n_sample * (4 * fused + 100 * n_clusters + 2_500)
    others = 4 * (n_docs - n_sample) * fused + 2 * n_sample * fused
    return features + kept_bytes(n_docs) + max(vectors, families, others) + BLOCKS


def consensus_bytes(n_docs: int, n_clusters: int) -> int:
    """Return the memory in use while the consensus is found: indicators, and their embedding."""
    return n_docs * (40 * FAMILIES * MEMBERS + 28 * (n_clusters + OVERSAMPLING)) + BLOCKS


def kept_bytes(n_docs: int) -> int:
    """Return the memory of an ensemble that is there: a label for each document and member."""
    return NUMBER * n_docs * FAMILIES * MEMBERS


def _cells(matrix: sp.csr_array) -> int:
    return matrix.shape[0] * matrix.shape[1]
