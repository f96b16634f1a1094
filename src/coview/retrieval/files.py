"""Index files: a sealed file (`coview.store`) with vectors, ids, centers, classifiers and lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.loaded import ROUNDING, check_array, check_shares, check_value, understood
from coview.models import fitted_model
from coview.retrieval.approximate import InvertedLists
from coview.retrieval.combined import Combined
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import ALL_METRICS, TOPICS_AND_WORDS
from coview.retrieval.spaces import ComparisonSpace, TopicsToClasses, ViewOrAll
from coview.retrieval.words import WordIndex
from coview.store import (
    fingerprint,
    pack_texts,
    read_sealed,
    renamed,
    unpack_texts,
    write_sealed,
)
from coview.wording import quoted

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
    with understood(path, KIND):
        index = _read_index(header, tensors)
    if model is not None and model_fingerprint(fitted_model(model)) != index.model:
        raise ValueError(
            f"The index {os.fspath(path)} was made with another model than the one given: their "
            "topics differ. Make the index again: SearchIndex(model, ...)."
        )
    if model is not None and index.combined is not None:
        with understood(path, KIND):
            _check_widths(index.combined.words.widths, model)
    return index


def _check_widths(widths: dict[str, int], model: Any) -> None:
    """Refuse words of other columns than the views of the model have."""
    for view, width in widths.items():
        if view not in model.components_ or model.components_[view].shape[1] != width:
            raise ValueError(f"its words of view {quoted(view)} are not those of the model")


def _read_index(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> IndexContents:
    """Return the contents of an index, if they fit together: the kernels do not check bounds."""
    check_value(header["n_topics"], "number of topics", int, low=1)
    check_value(header["keys"], "list of views", list)
    check_value(header["classes"], "list of classes", list)
    gallery = _read_gallery(header, tensors)
    index = IndexContents(
        model=check_value(header["model"], "fingerprint", str),
        metric=ALL_METRICS[ALL_METRICS.index(header["metric"])],
        in_view=check_value(header["in_view"], "view", str, type(None)),
        probes=check_value(header["probes"], "share of lists", int, float, low=0, high=1),
        n_topics=header["n_topics"],
        gallery=gallery,
        space=_read_space(header, tensors),
        lists=_read_lists(tensors, gallery.vectors),
        combined=_read_combined(header, tensors, len(gallery.vectors)),
    )
    needed = index.space.centers if index.metric == "correlation" else header["keys"]
    if index.in_view not in needed and (header["keys"] or index.metric == "correlation"):
        raise ValueError("it lacks the center or the classes of the view that is searched")
    return index


def _read_gallery(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Gallery:
    width = len(header["classes"]) or header["n_topics"]
    if header["metric"] == TOPICS_AND_WORDS:
        vectors = _check_side_by_side(tensors["vectors"], header["n_topics"])
    else:
        vectors = check_shares(tensors["vectors"], "vectors", (None, width))
    n_rows, ids, positions = len(vectors), None, tensors.get("positions")
    if not n_rows:
        raise ValueError("it has no vectors")
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


def _read_lists(tensors: dict[str, np.ndarray], vectors: np.ndarray) -> InvertedLists | None:
    if "lists.ends" not in tensors:
        return None
    ends = check_array(tensors["lists.ends"], "lists", (None,), "i", dtype=np.int64, low=0)
    if not len(ends) or ends[-1] != len(vectors) or (ends[1:] < ends[:-1]).any():
        raise ValueError("its lists do not fit its vectors")
    shape = (len(ends), vectors.shape[1])
    return InvertedLists(check_array(tensors["lists.centers"], "lists", shape), ends)


# -- topics and words ------------------------------------------------------------------------------


def _check_side_by_side(vectors: Any, n_topics: int) -> np.ndarray:
    """Return vectors made by `side_by_side`: roots of mixtures, and evidence of length 1 or 0."""
    check_array(vectors, "vectors", (None, 2 * n_topics), dtype=np.float32)
    roots = check_array(vectors[:, :n_topics], "vectors", low=0)
    check_shares(roots.astype(np.float64) ** 2, "vectors")
    lengths = np.linalg.norm(vectors[:, n_topics:].astype(np.float64), axis=1)
    if not ((lengths == 0) | (np.abs(lengths - 1) < ROUNDING)).all():
        raise ValueError("its vectors have evidence of another length than 1")
    return vectors


def _read_combined(
    header: dict[str, Any], tensors: dict[str, np.ndarray], n_docs: int
) -> Combined | None:
    if header["metric"] != TOPICS_AND_WORDS:
        return None
    if header["classes"]:
        raise ValueError("it compares words, and has classes")
    shape = header["n_topics"], header["n_topics"]
    expected = check_array(tensors["expected"], "expected evidence", shape, dtype=np.float64)
    widths = _read_widths(header)
    return Combined(WordIndex(_read_words(tensors, n_docs, sum(widths.values())), widths), expected)


def _read_widths(header: dict[str, Any]) -> dict[str, int]:
    """Return the views whose words are searched, and how many terms each has."""
    pairs = check_value(header["words"], "list of views with words", list)
    widths = {
        check_value(view, "view", str): check_value(width, "number of terms", int, low=1)
        for view, width in pairs
    }
    if not widths or len(widths) < len(pairs) or header["in_view"] not in (None, *widths):
        raise ValueError("its words are not of the view that is searched")
    return widths


def _read_words(tensors: dict[str, np.ndarray], n_docs: int, n_terms: int) -> sp.csc_array:
    """Return the weights of terms in documents, with sorted documents for each term."""
    starts = check_array(
        tensors["words.starts"], "words", (n_terms + 1,), "i", dtype=np.int64, low=0
    )
    rows = check_array(
        tensors["words.rows"], "words", (None,), "i", dtype=np.int64, low=0, below=n_docs
    )
    weights = check_array(
        *(tensors["words.weights"], "words", (len(rows),)),
        dtype=np.float32,
        low=0,
        below=1 + ROUNDING,
    )
    if starts[0] != 0 or starts[-1] != len(rows) or (starts[1:] < starts[:-1]).any():
        raise ValueError("its words have other terms than documents")
    not_after = np.flatnonzero(rows[1:] <= rows[:-1]) + 1
    if not np.isin(not_after, starts).all():
        raise ValueError("its words have the same document twice, or out of order")
    return sp.csc_array((weights, rows, starts), shape=(n_docs, n_terms))
