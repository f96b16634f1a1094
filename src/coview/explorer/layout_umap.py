"""A second layout of documents, by UMAP, where it is installed and asked for."""

from __future__ import annotations

from importlib import import_module

import numpy as np


def umap_places(mixtures: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return places of documents (documents, 2) in [-1, 1] by UMAP; NaN without a mixture.

    Parameters
    ----------
    mixtures : ndarray of shape (documents, topics)
        Rows of NaN for documents without one.
    seed : int, default=0
    """
    try:
        umap = import_module("umap")
    except ImportError as error:
        raise ImportError(
            "A layout by UMAP needs the package 'umap-learn', which is not installed: pip install "
            "umap-learn, or leave it out; the page has the map of topics in any case."
        ) from error
    known = np.flatnonzero(~np.isnan(mixtures).any(axis=1))
    found = np.full((len(mixtures), 2), np.nan)
    near = min(15, len(known) - 1)
    if near >= 2:
        # the square roots: distances between them are Hellinger's, by which search compares, too
        reducer = umap.UMAP(n_neighbors=near, random_state=seed, n_jobs=1)
        places = reducer.fit_transform(np.sqrt(mixtures[known]))
        places = places - places.mean(axis=0)
        found[known] = places / max(np.abs(places).max(), 1e-12)
    return found.astype(np.float32)
