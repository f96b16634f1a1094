"""Index files: a sealed file (`coview.store`) with vectors, ids, centers, classifiers and lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.models import topic_model
from coview.retrieval.approximate import InvertedLists
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import METRICS
from coview.retrieval.spaces import ComparisonSpace, TopicsToClasses, ViewOrAll
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
    """

    model: str
    metric: str
    in_view: ViewOrAll
    probes: float
    n_topics: int
    gallery: Gallery
    space: ComparisonSpace
    lists: InvertedLists | None


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
    header = {
        "model": index.model,
        "metric": index.metric,
        "in_view": index.in_view,
        "probes": index.probes,
        "n_topics": index.n_topics,
        "of_training": gallery.of_training,
        "keys": views,
        "classes": space.classes,
    }
    write_sealed(path, KIND, header, tensors)


def _space_arrays(
    i: int, center: np.ndarray | None, classifier: TopicsToClasses | None
) -> dict[str, np.ndarray]:
    arrays = {} if center is None else {f"center.{i}": center}
    if classifier is not None:
        arrays |= {f"coef.{i}": classifier.coef, f"intercept.{i}": classifier.intercept}
    return arrays


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
            metric=METRICS[METRICS.index(header["metric"])],
            in_view=header["in_view"],
            probes=header["probes"],
            n_topics=header["n_topics"],
            gallery=gallery,
            space=_read_space(header, tensors),
            lists=_read_lists(tensors, gallery.vectors),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DamagedFile(f"{path} is no index that coview understands: {error}") from error


def _read_gallery(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Gallery:
    vectors = tensors["vectors"]
    width = len(header["classes"]) or header["n_topics"]
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


def _check(holds: bool | np.bool, what: str) -> None:
    """Refuse arrays that do not fit together: the kernels do not check bounds."""
    if not holds:
        raise ValueError(f"its {what} do not fit the rest")
