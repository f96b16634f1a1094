"""Index files: a sealed file (`coview.store`) with vectors, ids, centers, classifiers and lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.models import topic_model
from coview.retrieval.approximate import InvertedLists
from coview.retrieval.combined import Combined
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import ALL_METRICS, TOPICS_AND_WORDS
from coview.retrieval.spaces import ComparisonSpace, TopicsToClasses, ViewOrAll
from coview.retrieval.words import WordIndex
from coview.store import (
    DamagedFile,
    fingerprint,
    pack_texts,
    read_sealed,
    renamed,
    unpack_texts,
    write_sealed,
)

KIND = "search index"
# names that differ in early files of format 1, {old: new}
_OLD_NAMES = {"kind": "metric", "lists.centres": "lists.centers"}


@dataclass(frozen=True)
class IndexContents:
    """All that an index file holds.

    Attributes
    ----------
    model : str
        Fingerprint of the model's topics.
    metric : str
    in_view : str or None
    probes : float
    n_topics : int
    gallery : Gallery
    space : ComparisonSpace
    lists : InvertedLists or None
        None for exact search.
    combined : Combined or None
        None unless documents are compared by topics and words.
    """

    model: str
    metric: str
    in_view: ViewOrAll
    probes: float
    n_topics: int
    gallery: Gallery
    space: ComparisonSpace
    lists: InvertedLists | None
    combined: Combined | None = None


def model_fingerprint(model: Any) -> str:
    """Return a hash of the model's topics: two models with equal ones have the same."""
    names = model.view_names_
    return fingerprint((model.components_[name] for name in names), *names)


# -- writing ---------------------------------------------------------------------------------------


def save_index(index: IndexContents, path: str | os.PathLike[str]) -> None:
    """Write an index file."""
    gallery, space = index.gallery, index.space
    if len(gallery.rows) < len(gallery.vectors):  # only what can be an answer
        gallery = gallery.in_order(gallery.rows)
    tensors = {"vectors": gallery.vectors}
    if gallery.positions is not None:
        tensors["positions"] = gallery.positions
    ids = gallery.row_ids()
    if ids is not None:
        tensors["ids.text"], tensors["ids.ends"] = pack_texts(map(str, ids))
    views = list(space.centers or space.classifiers)
    for i, view in enumerate(views):
        tensors |= _space_arrays(i, space.centers.get(view), space.classifiers.get(view))
    if index.lists is not None:
        tensors |= {"lists.centers": index.lists.centers, "lists.ends": index.lists.ends}
    words = {} if index.combined is None else index.combined.words.widths
    tensors |= {} if index.combined is None else _combined_arrays(index.combined)
    header = {
        "model": index.model,
        "metric": index.metric,
        "in_view": index.in_view,
        "probes": index.probes,
        "n_topics": index.n_topics,
        "of_training": gallery.of_training,
        "keys": views,
        "classes": space.classes,
        **({"words": list(words.items())} if words else {}),
    }
    write_sealed(path, KIND, header, tensors)


def _space_arrays(
    i: int, center: np.ndarray | None, classifier: TopicsToClasses | None
) -> dict[str, np.ndarray]:
    arrays = {} if center is None else {f"center.{i}": center}
    if classifier is not None:
        arrays |= {f"coef.{i}": classifier.coef, f"intercept.{i}": classifier.intercept}
    return arrays


def _combined_arrays(combined: Combined) -> dict[str, np.ndarray]:
    by_term = combined.words.by_term
    return {
        "expected": combined.expected,
        "words.weights": by_term.data,
        "words.rows": by_term.indices.astype(np.int64),
        "words.starts": by_term.indptr.astype(np.int64),
    }


# -- reading ---------------------------------------------------------------------------------------


def load_index(path: str | os.PathLike[str], model: Any = None) -> IndexContents:
    """Read an index file; refuse one that was made with another model than the one given."""
    header, tensors = (renamed(part, _OLD_NAMES) for part in read_sealed(path, KIND))
    tensors = {name.replace("centre.", "center."): t for name, t in tensors.items()}
    model = topic_model(model)
    if model is not None and model_fingerprint(model) != header["model"]:
        raise ValueError(
            f"The index {os.fspath(path)} was made with another model than the one given: their "
            "topics differ. Make the index again: SearchIndex(model, ...)."
        )
    try:
        gallery = _read_gallery(header, tensors)
        return IndexContents(
            model=header["model"],
            metric=ALL_METRICS[ALL_METRICS.index(header["metric"])],
            in_view=header["in_view"],
            probes=header["probes"],
            n_topics=header["n_topics"],
            gallery=gallery,
            space=_read_space(header, tensors),
            lists=_read_lists(tensors, gallery.vectors),
            combined=_read_combined(header, tensors, len(gallery.vectors)),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DamagedFile(f"{path} is no index that coview understands: {error}") from error


def _read_gallery(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Gallery:
    vectors = tensors["vectors"]
    width = len(header["classes"]) or header["n_topics"]
    width *= 2 if header["metric"] == TOPICS_AND_WORDS else 1
    _check(vectors.dtype.kind == "f" and vectors.shape == (len(vectors), width), "vectors")
    ids = None
    if "ids.text" in tensors:
        ids = np.array(unpack_texts(tensors["ids.text"], tensors["ids.ends"]))
    rows, positions = np.arange(len(vectors)), tensors.get("positions")
    for part in (ids, positions):
        _check(part is None or len(part) == len(vectors), "ids or positions")
    return Gallery(vectors, rows, positions, ids, True, of_training=header["of_training"])


def _read_space(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> ComparisonSpace:
    centers, classifiers = {}, {}
    n_topics, n_classes = header["n_topics"], len(header["classes"])
    for i, view in enumerate(header["keys"]):
        if f"center.{i}" in tensors:
            centers[view] = tensors[f"center.{i}"]
            _check(centers[view].shape == (n_classes or n_topics,), "centers")
        if f"coef.{i}" in tensors:
            classifiers[view] = TopicsToClasses(tensors[f"coef.{i}"], tensors[f"intercept.{i}"])
            _check(classifiers[view].coef.shape == (n_classes, n_topics), "classifiers")
    return ComparisonSpace(centers, classifiers, header["classes"])


def _read_lists(tensors: dict[str, np.ndarray], vectors: np.ndarray) -> InvertedLists | None:
    if "lists.ends" not in tensors:
        return None
    centers, ends = tensors["lists.centers"], tensors["lists.ends"]
    whole = ends.ndim == 1 and ends.dtype == np.int64 and ends[-1] == len(vectors)
    _check(whole and ends[0] >= 0 and (np.diff(ends) >= 0).all(), "lists")
    _check(centers.shape == (len(ends), vectors.shape[1]), "lists")
    return InvertedLists(centers, ends)


def _read_combined(
    header: dict[str, Any], tensors: dict[str, np.ndarray], n_docs: int
) -> Combined | None:
    if header["metric"] != TOPICS_AND_WORDS:
        return None
    widths = {str(view): int(width) for view, width in header["words"]}
    expected, n_topics = tensors["expected"], header["n_topics"]
    _check(expected.shape == (n_topics, n_topics) and np.isfinite(expected).all(), "topics")
    weights, rows, starts = (tensors[f"words.{part}"] for part in ("weights", "rows", "starts"))
    _check(all(a.ndim == 1 for a in (weights, rows, starts)), "words")
    _check(rows.dtype == starts.dtype == np.int64 and weights.dtype == np.float32, "words")
    _check(len(starts) == 1 + sum(widths.values()) and starts[0] == 0, "words")
    _check(starts[-1] == len(rows) == len(weights) and (np.diff(starts) >= 0).all(), "words")
    _check(((rows >= 0) & (rows < n_docs)).all() and np.isfinite(weights).all(), "words")
    by_term = sp.csc_array((weights, rows, starts), shape=(n_docs, len(starts) - 1))
    return Combined(WordIndex(by_term, widths), expected)


def _check(holds: bool | np.bool, what: str) -> None:
    """Refuse arrays that do not fit together: the kernels do not check bounds."""
    if not holds:
        raise ValueError(f"its {what} do not fit the rest")
