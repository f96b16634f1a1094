"""Where topics stand on the map: near each other if they share words and documents.

Topics are placed by classical multidimensional scaling of their Hellinger distances, the mean over
the views, which always gives the same picture for the same model. The page puts a document at the
barycenter of its topics with the weights p(z|d)^4, so that it can place queries, documents that
lack a view, and each view of a document alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def place_topics(components: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the places of topics (topics, 2) in [-1, 1], from p(w|z) of each view.

    >>> place_topics({"words": np.array([[1.0, 0.0], [0.0, 1.0]])})[:, 0].round(3).tolist()
    [-1.0, 1.0]
    """
    similarity = np.mean([_shared(p_w_z) for p_w_z in components.values()], axis=0)
    places = _spread(_two_dimensions(np.maximum(2.0 - 2.0 * similarity, 0.0)))
    largest = np.abs(places).max(initial=0.0)
    # + 0 makes -0.0 a plain 0
    return (places / largest if largest > 0 else places).astype(np.float32) + np.float32(0)


def _shared(p_w_z: np.ndarray) -> np.ndarray:
    roots = np.sqrt(np.asarray(p_w_z, np.float64))
    lengths = np.linalg.norm(roots, axis=1, keepdims=True)
    roots = np.divide(roots, lengths, out=np.zeros_like(roots), where=lengths > 0)
    return roots @ roots.T


def _two_dimensions(squared: np.ndarray) -> np.ndarray:
    """Return the coordinates that explain squared distances best; the signs are made unique."""
    n = len(squared)
    places = np.zeros((n, 2))
    if n < 2:
        return places
    center = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ squared @ center)
    for axis, k in enumerate(np.argsort(-values)[: min(2, n)]):
        along = vectors[:, k] * np.sqrt(max(values[k], 0.0))
        first = along[np.argmax(np.abs(along) > 1e-9 * max(np.abs(along).max(), 1e-300))]
        places[:, axis] = along if first <= 0 else -along
    return places


def _spread(places: np.ndarray, share: float = 0.6) -> np.ndarray:
    """Move places apart where they crowd: partly by their ranks along each axis."""
    n = len(places)
    if n < 3:
        return places
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0) * 2.0 / (n - 1) - 1.0
    span = np.abs(places).max(axis=0)
    scaled = np.divide(places, span, out=np.zeros_like(places), where=span > 0)
    return np.where(span > 0, share * ranks + (1 - share) * scaled, 0.0)


def place_documents(mixtures: np.ndarray, topic_places: np.ndarray) -> np.ndarray:
    """Return the places of documents (documents, 2): among their topics, weights p(z|d)^4.

    >>> place_documents(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[-1.0, 0.0], [1.0, 0.0]]))
    array([[ 0.,  0.],
           [-1.,  0.]])
    """
    weights = np.asarray(mixtures, np.float64) ** 4
    return weights @ np.asarray(topic_places, np.float64) / weights.sum(axis=1, keepdims=True)
