"""Index files: a sealed file (`coview.store`) with vectors or counts, ids, centers, classifiers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.io import Packer, Unpacker
from coview.loaded import check_array, check_shares, check_sparse, check_value, understood
from coview.model_checks import check_evidence
from coview.models import fitted_model, topic_model
from coview.retrieval.evidence import SearchEvidence
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import ALL_METRICS, EVIDENCE
from coview.retrieval.spaces import ComparisonSpace, TopicsToClasses, ViewOrAll
from coview.store import (
    fingerprint,
    pack_texts,
    read_sealed,
    renamed,
    unpack_texts,
    write_sealed,
)
from coview.wording import plural, quoted

KIND = "search index"
# names that differ in early files of format 1, {old: new}
_OLD_NAMES = {"kind": "metric"}
NO_EVIDENCE = {"$": "dict", "items": [["counts", {"$": "dict", "items": []}], ["evidence", None]]}


@dataclass(frozen=True)
class IndexContents:
    """All that an index file holds.

    Attributes
    ----------
    model : str
        Fingerprint of the model's topics.
    metric : str
    in_view : str or None
    n_topics : int
    gallery : Gallery
    space : ComparisonSpace
    counts : dict of csr_array
        The documents by view, where evidence is compared.
    evidence : SearchEvidence or None
        Where the model does not keep it.
    """

    model: str
    metric: str
    in_view: ViewOrAll
    n_topics: int
    gallery: Gallery
    space: ComparisonSpace
    counts: dict[str, sp.csr_array]
    evidence: SearchEvidence | None = None


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
    packer = Packer("evidence.", sparse=True)
    compared = packer.pack({"counts": index.counts, "evidence": index.evidence})
    tensors |= packer.tensors
    header = {
        "model": index.model,
        "metric": index.metric,
        "in_view": index.in_view,
        "n_topics": index.n_topics,
        "n_rows": len(gallery.vectors),
        "of_training": gallery.of_training,
        "keys": views,
        "classes": space.classes,
        "compared": compared,
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
    with understood(path, KIND):
        index = _read_index(header, tensors)
    if model is not None and model_fingerprint(fitted_model(model)) != index.model:
        raise ValueError(
            f"The index {os.fspath(path)} was made with another model than the one given: their "
            "topics differ. Make the index again: SearchIndex(model, ...)."
        )
    if index.metric == EVIDENCE:
        _check_compared(index, model, path)
    return index


def _check_compared(index: IndexContents, model: Any, path: str | os.PathLike[str]) -> None:
    """Refuse evidence that does not fit the model, and an index that cannot do without one."""
    if model is None:
        raise ValueError(
            f"The index {os.fspath(path)} compares terms, which the model knows: load it with "
            "SearchIndex.load(path, model=...)."
        )
    inner = topic_model(model)
    widths = {view: topics.shape[1] for view, topics in inner.components_.items()}
    with understood(path, KIND):
        for view, counts in index.counts.items():
            if view not in widths:
                raise ValueError(f"it has counts of {quoted(view)}, which is no view")
            check_sparse(
                counts, f"counts of {quoted(view)}", (len(index.gallery.rows), widths[view])
            )
        if not index.counts or index.in_view not in (None, *index.counts):
            raise ValueError("it has no counts of the view that is searched")
        if index.evidence is not None:
            check_evidence(index.evidence, widths)
        elif getattr(inner, "search_", None) is None:
            raise ValueError("it lacks the evidence, and so does the model")


def _read_index(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> IndexContents:
    """Return the contents of an index, if they fit together: the kernels do not check bounds."""
    check_value(header["n_topics"], "number of topics", int, low=1)
    check_value(header["keys"], "list of views", list)
    check_value(header["classes"], "list of classes", list)
    gallery = _read_gallery(header, tensors)
    compared = Unpacker(tensors).unpack(NO_EVIDENCE if "probes" in header else header["compared"])
    index = IndexContents(
        model=check_value(header["model"], "fingerprint", str),
        metric=ALL_METRICS[ALL_METRICS.index(header["metric"])],
        in_view=check_value(header["in_view"], "view", str, type(None)),
        n_topics=header["n_topics"],
        gallery=gallery,
        space=_read_space(header, tensors),
        counts=check_value(compared["counts"], "counts", dict),
        evidence=compared["evidence"],
    )
    needed = index.space.centers if index.metric == "correlation" else header["keys"]
    if index.in_view not in needed and (header["keys"] or index.metric == "correlation"):
        raise ValueError("it lacks the center or the classes of the view that is searched")
    return index


def _read_gallery(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Gallery:
    width = len(header["classes"]) or header["n_topics"]
    if header["metric"] == EVIDENCE:
        vectors = check_array(tensors["vectors"], "vectors", (None, 0))
    else:
        vectors = check_shares(tensors["vectors"], "vectors", (None, width))
    n_rows, ids, positions = len(vectors), None, tensors.get("positions")
    if not n_rows or n_rows != header.get("n_rows", n_rows if "probes" in header else None):
        raise ValueError(f"it has {plural(n_rows, 'vector')}, and says another number")
    if "ids.text" in tensors:
        ids = np.array(unpack_texts(tensors["ids.text"], tensors["ids.ends"]))
        check_array(ids, "ids", (n_rows,), "U")
    if positions is not None:
        check_array(positions, "positions", (n_rows,), "i", low=0)
    training = check_value(header["of_training"], "mark of training documents", bool)
    return Gallery(vectors, np.arange(n_rows), positions, ids, True, of_training=training)


def _read_space(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> ComparisonSpace:
    centers, classifiers = {}, {}
    n_topics, n_classes = header["n_topics"], len(header["classes"])
    for i, view in enumerate(header["keys"]):
        check_value(view, "view", str, type(None))
        if f"center.{i}" in tensors:
            shape = (n_classes or n_topics,)
            centers[view] = check_array(tensors[f"center.{i}"], "centers", shape)
        if n_classes:
            coef = check_array(tensors[f"coef.{i}"], "classifiers", (n_classes, n_topics))
            intercept = check_array(tensors[f"intercept.{i}"], "classifiers", (n_classes,))
            classifiers[view] = TopicsToClasses(coef, intercept)
    for name in header["classes"]:
        check_value(name, "class", str, int, float, bool)
    if bool(n_classes) != any(name.startswith("coef.") for name in tensors):
        raise ValueError("it has classes without classifiers, or classifiers without classes")
    return ComparisonSpace(centers, classifiers, header["classes"])
