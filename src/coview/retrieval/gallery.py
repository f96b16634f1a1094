"""The gallery: the documents that are searched, as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from coview.documents import read_documents
from coview.retrieval.query import Doc, known_counts
from coview.retrieval.spaces import ComparisonSpace, ViewOrAll, training_mixtures
from coview.views.container import Views
from coview.wording import listing, quoted

FOLD_IN = 1 << 16  # documents folded in at a time: their matrices are copied on the way


class OtherDocuments(ValueError):
    """The training views given are not the documents that the model was fitted to."""


@dataclass(frozen=True)
class Gallery:
    """The documents that are searched: their vectors, and which documents they are.

    Attributes
    ----------
    vectors : ndarray of shape (m, dimensions)
        For training documents in topic space the model's own array, not a copy.
    rows : ndarray of int64
        The rows of `vectors` that can be answers.
    positions : ndarray of int64 of shape (m,), or None
        The number of the document in each row; None: the number of the row.
    ids : ndarray of str, or None
        Names of the documents, by number; with `ids_by_row` by row.
    ids_by_row : bool
    views : Views or None
        The counts of the documents by number, if they are known.
    of_training : bool
        Whether these are the training documents of the model.
    """

    vectors: np.ndarray
    rows: np.ndarray
    positions: np.ndarray | None = None
    ids: np.ndarray | None = None
    ids_by_row: bool = False
    views: Views | None = None
    of_training: bool = True

    def position(self, rows: Any) -> Any:
        """Return the numbers of the documents at rows."""
        return rows if self.positions is None else self.positions[rows]

    def id(self, row: int) -> str | None:
        """Return the id of the document at a row, if it has one."""
        if self.ids is None:
            return None
        return str(self.ids[row if self.ids_by_row else self.position(row)])

    def row_of(self, document: str | int) -> int | None:
        """Return the row of a document by its id (str) or number (int), None if there is none."""
        if isinstance(document, str):
            found = np.flatnonzero(self.ids == document if self.ids is not None else [])
            if not len(found) or self.ids_by_row:
                return int(found[0]) if len(found) else None
            document = int(found[0])
        if self.positions is None:
            return document if 0 <= document < len(self.vectors) else None
        rows = np.flatnonzero(self.positions == document)
        return int(rows[0]) if len(rows) else None

    def in_order(self, order: np.ndarray) -> Gallery:
        """Return a copy with the rows of `order` and no others, in that order."""
        ids = self.ids[order] if self.ids is not None and self.ids_by_row else self.ids
        return replace(
            self,
            vectors=self.vectors[order],
            rows=np.arange(len(order)),
            positions=self.position(order),
            ids=ids,
        )

    def row_ids(self) -> np.ndarray | None:
        """Return the ids row by row, None if there are none."""
        if self.ids is None or self.ids_by_row:
            return self.ids
        return self.ids[self.position(np.arange(len(self.vectors)))]


def training_gallery(
    model: Any, in_view: ViewOrAll, space: ComparisonSpace, training: Views | None = None
) -> Gallery:
    """Return the training documents that have a view (None: any view).

    `training` are their counts, if they are at hand: see `check_training_views`.
    """
    mixtures, present = next((m, p) for view, m, p in training_mixtures(model) if view == in_view)
    rows = np.flatnonzero(present)
    if not len(rows):
        raise ValueError(f"There is nothing to search: {_none_has(in_view, 'training document')}.")
    searched = None if training is None else _answer_views(model, in_view, training)
    return Gallery(space.vectors(mixtures, in_view), rows, ids=model.doc_ids_, views=searched)


def check_training_views(model: Any, views: Any) -> Views:
    """Return the training documents as views of the model; refuse other documents."""
    given = _answer_views(model, None, views)
    aligned = model.as_views(given)
    n_docs = len(model.doc_topic_)
    if len(aligned) != n_docs:
        _refuse_training_views(f"they have {len(aligned):,} documents, it was fitted to {n_docs:,}")
    ids, known_ids = given.ids, model.doc_ids_
    if ids is not None and known_ids is not None and not np.array_equal(ids, known_ids):
        _refuse_training_views("their ids differ from its doc_ids_, or have another order")
    for name, counts in model.as_counts(aligned).items():
        own, known = counts.sum(axis=0, dtype=np.float64), model.term_counts_[name]
        if not np.allclose(own, known, rtol=1e-3, atol=1e-3 * known.max(initial=0.0)):
            _refuse_training_views(f"the counts of the terms of view {quoted(name)} differ")
    return aligned


def _refuse_training_views(reason: str) -> NoReturn:
    raise OtherDocuments(
        f"training_views must be the documents that the model was fitted to: {reason}. Other "
        "documents are searched with views=...."
    )


def new_gallery(model: Any, in_view: ViewOrAll, views: Any, space: ComparisonSpace) -> Gallery:
    """Return new documents, folded in with `in_view` alone: no query has seen its answer."""
    given = _answer_views(model, in_view, views)
    aligned = model.as_views(given)
    positions = np.flatnonzero(known_counts(model, aligned) > 0)
    if not len(positions):
        reason = f"{_none_has(in_view, 'document')} with a term that the model knows"
        raise ValueError(f"There is nothing to search: {reason}.")
    width = model.doc_topic_.shape[1]
    mixtures = np.empty((len(positions), width), model.doc_topic_.dtype)
    for begin in range(0, len(positions), FOLD_IN):
        part = slice(begin, begin + FOLD_IN)
        mixtures[part] = model.fold_in(aligned[positions[part]]).doc_topic
    vectors, rows = space.vectors(mixtures, in_view), np.arange(len(positions))
    return Gallery(vectors, rows, positions, given.ids, views=aligned, of_training=False)


def kept_documents(
    model: Any, in_view: ViewOrAll, counts: Mapping[str, sp.csr_array]
) -> tuple[Gallery, dict[str, sp.csr_array]]:
    """Return the training documents that can be answers, and their counts in the views searched."""
    searched = {view: matrix for view, matrix in counts.items() if in_view in (None, view)}
    has = [np.diff(matrix.indptr) > 0 for matrix in searched.values()]
    rows = np.flatnonzero(np.any(has, axis=0)) if has else np.empty(0, np.int64)
    if not len(rows):
        raise ValueError(f"There is nothing to search: {_none_has(in_view, 'training document')}.")
    return _rows_of(rows, searched, model.doc_ids_, True)


def new_documents(
    model: Any, in_view: ViewOrAll, views: Any
) -> tuple[Gallery, dict[str, sp.csr_array]]:
    """Return new documents that can be answers, and their counts in the views searched."""
    given = _answer_views(model, in_view, views)
    aligned = model.as_views(given)
    rows = np.flatnonzero(known_counts(model, aligned) > 0)
    if not len(rows):
        reason = f"{_none_has(in_view, 'document')} with a term that the model knows"
        raise ValueError(f"There is nothing to search: {reason}.")
    return _rows_of(rows, model.as_counts(aligned), given.ids, False)


def _rows_of(
    rows: np.ndarray, counts: Mapping[str, sp.csr_array], ids: np.ndarray | None, of_training: bool
) -> tuple[Gallery, dict[str, sp.csr_array]]:
    nothing = np.empty((len(rows), 0), np.float32)
    gallery = Gallery(nothing, np.arange(len(rows)), rows, ids, of_training=of_training)
    return gallery, {view: sp.csr_array(matrix[rows]) for view, matrix in counts.items()}


def known_ids(model: Any) -> Gallery:
    """Return all training documents by their ids and numbers, none of which can be an answer."""
    return Gallery(model.doc_topic_, np.arange(0), ids=model.doc_ids_)


def _none_has(in_view: ViewOrAll, noun: str) -> str:
    return f"no {noun} has " + ("a view" if in_view is None else f"view {quoted(in_view)}")


def _answer_views(model: Any, in_view: ViewOrAll, views: Any) -> Views:
    """Return the views that answers are folded in with."""
    views = read_documents(model, views)
    wanted = [n for n in model.view_names_ if n in views.names and in_view in (None, n)]
    if not wanted:
        missing = "any view of the model" if in_view is None else f"view {quoted(in_view)}"
        raise ValueError(
            f"The views to be searched lack {missing}: they are {listing(views.names)}, the "
            f"model's are {listing(model.view_names_)}."
        )
    return views.select(*wanted)


def check_view(model: Any, name: ViewOrAll) -> None:
    """Refuse a view that the model does not know."""
    if name is not None and name not in model.view_names_:
        raise ValueError(
            f"in_view must be a view of the model ({listing(model.view_names_)}) or None for all "
            f"views together; got {name!r}."
        )


def training_mixture(
    model: Any, doc: Doc, by_number: bool = True, among: str = "the training documents"
) -> np.ndarray:
    """Return the mixture of a training document, of one view if `doc` names it, as (1, topics).

    Parameters
    ----------
    model : fitted model
    doc : Doc
    by_number : bool, default=True
        Whether a number stands for a training document.
    among : str
        Where the document was looked for, for the message.
    """
    check_view(model, doc.view)
    documents = known_ids(model)
    row = documents.row_of(doc.id)
    if row is None or not (by_number or isinstance(doc.id, str)):
        known = "" if documents.ids is not None else " (the training documents have no ids)"
        raise ValueError(f"There is no document {doc.id!r} among {among}{known}.")
    if doc.view is None:
        return model.doc_topic_[[row]]
    if not model.present_[row, model.view_names_.index(doc.view)]:
        raise ValueError(f"Document {doc.id!r} has no view {quoted(doc.view)} to search with.")
    return model.view_doc_topic_[doc.view][[row]]
