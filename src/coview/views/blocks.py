"""Where documents are cut into blocks and blocks grouped into shards: by the data alone.

A block is the unit of work of every runner, a shard the unit that sums are kept of and that files
hold. Both depend on how many non-zeros the documents have in the views as they are given, never on
threads, workers or memory. So the sums of a fit have one order, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

# Small enough that a hundred thousand non-zeros already make several blocks, large enough that the
# work around a block costs a few percent of a sweep.
MIN_NONZEROS, MAX_NONZEROS, USUAL_BLOCKS = 1 << 14, 1 << 20, 8
MAX_DOCS = 1 << 16  # documents within a block are numbered by 16-bit integers
MOST_SHARDS = 256

Ranges = list[tuple[int, int]]


def nonzeros_of_block(total: int) -> int:
    """Return how many non-zeros a block of data with so many in all has, about."""
    return min(max(total // USUAL_BLOCKS, MIN_NONZEROS), MAX_NONZEROS)


def row_ends(matrices: Sequence[sp.csr_array]) -> np.ndarray:
    """Return the non-zeros of all views up to the end of each document."""
    return sum(m.indptr[1:].astype(np.int64) for m in matrices)


def cut_rows(ends: np.ndarray, nonzeros: int | None = None) -> Ranges:
    """Return ranges of documents, each with about `nonzeros` entries over all views.

    Parameters
    ----------
    ends : array of int of shape (n_docs,)
        The entries up to the end of each document; may be mapped from a file.
    nonzeros : int, default=None
        None: as many as `nonzeros_of_block` says.

    Examples
    --------
    >>> import numpy as np
    >>> cut_rows(np.array([10, 20, 30, 40, 50, 60]), nonzeros=25)
    [(0, 3), (3, 6)]
    """
    if nonzeros is None:
        nonzeros = nonzeros_of_block(int(ends[-1]))
    ranges, start, before = [], 0, 0
    while start < len(ends):
        last = min(start + MAX_DOCS, len(ends))
        # a block has MAX_DOCS documents at most: no more need be looked at
        stop = start + int(np.searchsorted(ends[start:last], before + nonzeros)) + 1
        stop = min(stop, last)
        ranges.append((start, stop))
        start, before = stop, int(ends[stop - 1])
    return ranges


def group_blocks(n_blocks: int) -> Ranges:
    """Return which blocks each shard has, as ranges of their numbers.

    >>> group_blocks(3), len(group_blocks(256)), group_blocks(513)[-1]
    ([(0, 1), (1, 2), (2, 3)], 256, (510, 513))
    """
    size = -(-n_blocks // MOST_SHARDS)
    return list(pairwise([*range(0, n_blocks, size), n_blocks]))
