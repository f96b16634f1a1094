"""Parts of the ensemble that can be switched off: some families, and links as graphs.

No option of coview does that; here the functions that `coview.ensemble.consensus` calls are
replaced for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from coview.ensemble import consensus, spaces


@contextmanager
def without_families(word: str) -> Iterator[None]:
    """Leave out the families with this word at the start or the end of their names.

    So it is where the clusters of halves of the features are compared, too.
    """

    def others(*args: Any) -> Iterator[tuple[str, np.ndarray]]:
        for name, space in spaces.families(*args):
            if not name.startswith(word) and not name.endswith(word):
                yield name, space

    with patch.object(consensus, "families", others):
        yield


@contextmanager
def without_links() -> Iterator[None]:
    """Take links as features alone, with a graph of neighbors like any other view."""
    with patch.object(consensus, "is_links", lambda matrix: False):
        yield


WITHOUT: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "fused": partial(without_families, "fused"),
    "by features": partial(without_families, "by features"),
    "by embedding": partial(without_families, "by embedding"),
    "smoothed": partial(without_families, "smoothed"),
    "spectral": partial(without_families, "spectral"),
    "diffusion": partial(without_families, "diffusion"),
    "links as graphs": without_links,
}
