"""A view of NewsGv4 cut into four, for Table 5 of paper 004."""

from __future__ import annotations

import numpy as np

from coview.datasets import load_newsgv4
from coview.views.container import Views

PARTS = 4


def newsgv4_split(view: int = 1, parts: int = PARTS, seed: int = 0) -> Views:
    """Load one view of NewsGv4, its columns divided at random into views of the same size."""
    whole = load_newsgv4()
    matrix = whole[f"view{view}"]
    columns = np.array_split(np.random.default_rng(seed).permutation(matrix.shape[1]), parts)
    matrices = {f"part{i + 1}": matrix[:, np.sort(own)] for i, own in enumerate(columns)}
    return Views(matrices, labels=whole.labels, label_names=whole.label_names)
