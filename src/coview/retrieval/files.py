"""Index files: a sealed file (`coview.store`) with vectors, ids and what it takes to compare."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from coview.models import topic_model
from coview.retrieval.approximate import Lists
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import METRICS
from coview.retrieval.spaces import Classifier, Space
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


def model_fingerprint(model: Any) -> str:
    """Tells whether two models have the same topics."""
    names = model.view_names_
    return fingerprint((model.components_[name] for name in names), *names)


# what early files of format 1 call otherwise, old: new
_OLD_NAMES = {"kind": "metric", "lists.centres": "lists.centers"}


def save_index(index: Any, path: str | os.PathLike[str]) -> None:
    """See `SearchIndex.save`."""
    gallery, space = index._gallery, index._space
    if len(gallery.rows) < len(gallery.vectors):
        gallery = gallery.in_order(gallery.rows)
    tensors = {"vectors": gallery.vectors}
    if gallery.positions is not None:
        tensors["positions"] = gallery.positions
    ids = gallery.own_ids()
    if ids is not None:
        tensors["ids.text"], tensors["ids.ends"] = pack_texts(map(str, ids))
    keys = list(space.centers or space.classifiers)
    for i, key in enumerate(keys):
        tensors |= _arrays(i, space.centers.get(key), space.classifiers.get(key))
    if index._lists is not None:
        tensors |= {"lists.centers": index._lists.centers, "lists.ends": index._lists.ends}
    header = {
        "model": index._fingerprint or model_fingerprint(index.model),
        "metric": index.metric,
        "in_view": index.in_view,
        "probes": index.probes,
        "n_topics": index.n_topics,
        "of_training": gallery.of_training,
        "keys": keys,
        "classes": space.classes,
    }
    write_sealed(path, KIND, header, tensors)


def _arrays(i, center, classifier):
    arrays = {} if center is None else {f"center.{i}": center}
    if classifier is not None:
        arrays |= {f"coef.{i}": classifier.coef, f"intercept.{i}": classifier.intercept}
    return arrays


def load_index(cls: type, path: str | os.PathLike[str], model: Any) -> Any:
    """See `SearchIndex.load`."""
    header, tensors = (renamed(part, _OLD_NAMES) for part in read_sealed(path, KIND))
    tensors = {name.replace("centre.", "center."): t for name, t in tensors.items()}
    model = topic_model(model)
    if model is not None and model_fingerprint(model) != header["model"]:
        raise ValueError(
            f"The index {os.fspath(path)} was made with another model than the one given: their "
            "topics differ. Make the index again: SearchIndex(model, ...)."
        )
    try:
        return _restored(cls, header, tensors, model)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DamagedFile(f"{path} is no index that coview understands: {error}") from error


def _restored(cls, header, tensors, model):
    index = cls.__new__(cls)
    index.model = model
    index.metric = METRICS[METRICS.index(header["metric"])]
    for name in ("in_view", "probes", "n_topics"):
        setattr(index, name, header[name])
    index.n_jobs = None
    index._gallery = _gallery(header, tensors)
    index._space = _space(header, tensors)
    index._lists = _lists(tensors, index._gallery.vectors)
    index._fingerprint = header["model"]
    return index


def _gallery(header, tensors):
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


def _check(holds, what):
    """The kernels trust what they are given."""
    if not holds:
        raise ValueError(f"its {what} do not fit the rest")


def _space(header, tensors):
    centers, classifiers = {}, {}
    n_topics, n_classes = header["n_topics"], len(header["classes"])
    for i, key in enumerate(header["keys"]):
        if f"center.{i}" in tensors:
            centers[key] = tensors[f"center.{i}"]
            _check(centers[key].shape == (n_classes or n_topics,), "centers")
        if f"coef.{i}" in tensors:
            classifiers[key] = Classifier(tensors[f"coef.{i}"], tensors[f"intercept.{i}"])
            _check(classifiers[key].coef.shape == (n_classes, n_topics), "classifiers")
    return Space(centers, classifiers, header["classes"])


def _lists(tensors, vectors):
    if "lists.ends" not in tensors:
        return None
    centers, ends = tensors["lists.centers"], tensors["lists.ends"]
    whole = ends.ndim == 1 and ends.dtype == np.int64 and ends[-1] == len(vectors)
    _check(whole and ends[0] >= 0 and (np.diff(ends) >= 0).all(), "lists")
    _check(centers.shape == (len(ends), vectors.shape[1]), "lists")
    return Lists(centers, ends)
