"""Annotation: the terms that a model expects in one view of a document, given its other views.

p(w|d) = sum_z p(z|d) p(w|z): the mixture of the views that are given, times the topics of the view
that is asked for. The mixture is the one that `transform` returns:

* where all views share a mixture (`LinkPLSA`, `MVPLSA`, `PLSA`, `DualPLSA`), that of the document;
* where each view has its own (`PairwiseCoPLSA`, `DivergenceCoPLSA`, `VotedPLSA`), the weighted mean
  over the views given: the view asked for has none of its own to go by;
* in graph models (`LTM`, `MGGM`), smoothed over the neighbors among the training documents;
* in a `TopicClassifier`, the probabilities of the classes.

Topics are `components_`; in models with feature topics these are sum_y p(y|z) p(w|y).

Where the model keeps what a search needs (`keep_search`), p(w|d) is half that and half what the
terms of the other views call for, sum_w' f(w'|d) t(w|w') with the table of `retrieval.translation`,
the mean over the views that are given. A table counts only where documents that were held back are
found by it, and not for a mixture given as such, whose terms are not known.

The mixture of a view that says little is as sure of itself as that of any other. With a trust t < 1
p(w|d) is t times the sum above plus 1 - t times p(w), the share of the term in all training
documents; docs/annotation.md has what that gives.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from coview.documents import is_one_document
from coview.extras import need_pandas
from coview.models import topic_model
from coview.params import check_int, check_real
from coview.retrieval.evidence import KINDS
from coview.retrieval.gallery import check_view, known_ids, training_mixture
from coview.retrieval.query import Doc, as_mixtures, read_one
from coview.retrieval.translation import term_shares
from coview.runners.native import one_native_thread
from coview.term_names import shown_term
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.wording import listing, plural, printable, quoted

BLOCK_CELLS = 2**22  # documents x terms that are computed at once
CALLED = 0.5  # share of what terms call for in p(w|d); the rest is what topics call for


class PredictedTerm(NamedTuple):
    """A term with its probability p(w|d)."""

    term: str
    probability: float


class PredictedTerms(Sequence):
    """The terms predicted for one document, most probable first: a sequence of `PredictedTerm`.

    Parameters
    ----------
    view : str
        The view of the terms.
    columns : ndarray of int of shape (terms,)
        Their columns in the view.
    terms : sequence of str
        Their names; their columns if the view has no names.
    probabilities : ndarray of shape (terms,)
        p(w|d), over all terms of the view: the ones that are shown do not sum to one.
    document : str or int, default=0
        The id of the document, or its row.

    Examples
    --------
    >>> found = PredictedTerms("de", np.array([3, 1]), ["tor", "spiel"], np.array([0.5, 0.25]))
    >>> found.terms, found[0].probability
    (['tor', 'spiel'], 0.5)
    >>> print(found)
    0.5000  tor
    0.2500  spiel
    """

    def __init__(
        self,
        view: str,
        columns: np.ndarray,
        terms: Sequence[str],
        probabilities: np.ndarray,
        document: str | int = 0,
    ):
        self.view = view
        self.columns = columns
        self.terms = list(terms)
        self.probabilities = probabilities
        self.document = document

    def __len__(self) -> int:
        return len(self.terms)

    @overload
    def __getitem__(self, at: int) -> PredictedTerm: ...
    @overload
    def __getitem__(self, at: slice) -> PredictedTerms: ...
    def __getitem__(self, at: int | slice) -> PredictedTerm | PredictedTerms:
        if isinstance(at, slice):
            parts = self.columns[at], self.terms[at], self.probabilities[at]
            return PredictedTerms(self.view, *parts, self.document)
        return PredictedTerm(self.terms[at], float(self.probabilities[at]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PredictedTerms) and self.to_rows() == other.to_rows()

    __hash__ = None  # type: ignore[assignment]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict for each term, of values that JSON and data frames take."""
        return [
            {"document": self.document, "rank": rank, "term": term, "probability": probability}
            for rank, (term, probability) in enumerate(self, 1)
        ]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the columns document, rank, term and probability."""
        return _frame([self])

    def __str__(self) -> str:
        lines = [f"{probability:.4f}  {printable(term)}" for term, probability in self]
        return "\n".join(lines) or "no terms"

    def __repr__(self) -> str:
        return f"<PredictedTerms in {quoted(self.view)}: {len(self)}>\n{self}"


def predict_terms(
    model: Any,
    X: Any,
    *,
    in_view: str,
    top: int = 10,
    skip_known: bool = True,
    trust: float | str = "auto",
    as_frame: bool = False,
) -> Any:
    """Predict the terms of documents in a view: see `BaseViewsModel.predict_terms`.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    X, in_view, top, skip_known, trust, as_frame
        As in the method.
    """
    check_is_fitted(model)
    inner = topic_model(model)
    check_int("top", top, 1)
    _check_in_view(inner, in_view)
    one, mixtures, views, known = _mixtures(model, inner, X)
    counts = views[in_view] if skip_known and views is not None and in_view in views.names else None
    trusts = _trusts(inner, views, trust, len(mixtures))
    called = _calls(inner, in_view, X, views)
    best = _best(_terms_given(inner, in_view, mixtures, trusts, called), top, counts)
    documents = _documents(X, views, len(mixtures))
    found = [
        PredictedTerms(in_view, *_named(inner, in_view, columns, p, told), document)
        for (columns, p), told, document in zip(best, known, documents, strict=True)
    ]
    if as_frame:
        return _frame(found)
    return found[0] if one else found


def _check_in_view(model: Any, in_view: str) -> None:
    if in_view is None:
        raise ValueError(f"Say in which view: in_view= one of {listing(model.view_names_)}.")
    check_view(model, in_view)
    if not model.components_[in_view].any():
        raise ValueError(
            f"No training document had a count in view {quoted(in_view)}: the model knows no term "
            "of it."
        )


def _mixtures(model: Any, inner: Any, X: Any) -> tuple[bool, np.ndarray, Views | None, np.ndarray]:
    """Return whether X is one document; mixtures, counts if given, and which have known terms."""
    if isinstance(X, Doc):
        return True, training_mixture(inner, X), None, np.ones(1, bool)
    given = as_mixtures(X, inner.doc_topic_.shape[1], inner)
    if given is not None:
        return np.ndim(X) == 1, given, None, np.ones(len(given), bool)
    one = is_one_document(inner, X)
    views = read_one(inner, X) if one else inner.as_views(X)
    found = model.fold_in(views)
    if found.empty.any():
        why = inner.why_empty(X, found.empty)
        warnings.warn(
            f"{plural(int(found.empty.sum()), 'document')} of {len(views):,} without a feature "
            f"that the model knows{why and f' (the first: {why})'}: no terms are predicted for "
            "them.",
            DataWarning,
            stacklevel=5,
        )
    return one, found.doc_topic, views, ~found.empty


def _trusts(model: Any, views: Views | None, trust: float | str, n_docs: int) -> np.ndarray:
    """Return how far the mixture of each document can be trusted, by its most reliable view."""
    if trust != "auto":
        if isinstance(trust, str):
            raise ValueError(f"trust must be a number from 0 to 1, or 'auto'; got {trust!r}.")
        return np.full(n_docs, check_real("trust", trust, 0, 1))
    by_name = trust_in_views(model)
    if views is None:
        return np.ones(n_docs)
    by_view = np.array([by_name[name] for name in views.names])
    return np.where(views.present, by_view, 0.0).max(axis=1)


def trust_in_views(model: Any) -> dict[str, float]:
    """Return how far the mixture of each view alone can be trusted: 1 for the most reliable."""
    reliability = model.view_reliability_
    if reliability is None or not max(reliability.values()) > 0:
        return dict.fromkeys(model.view_names_, 1.0)
    best = max(reliability.values())
    return {name: reliability[name] / best for name in model.view_names_}


def _calls(
    model: Any, in_view: str, X: Any, views: Views | None
) -> list[tuple[sp.csr_array, sp.csr_array]]:
    """Return f(w'|d) of each view whose terms call for those of another, and the table t(w|w')."""
    evidence = getattr(model, "search_", None)
    if evidence is None:
        return []
    if isinstance(X, Doc):
        row = known_ids(model).row_of(X.id)
        wanted = [v for v in evidence.counts if X.view in (None, v)]
        counts = {v: sp.csr_array(evidence.counts[v][[row]]) for v in wanted}
    else:
        counts = {} if views is None else model.as_counts(views)
    translation = KINDS.index("translation")
    return [
        (term_shares(rows), evidence.tables[view, in_view])
        for view, rows in counts.items()
        if (view, in_view) in evidence.tables
        and evidence.pairs[in_view, view].weights[translation] > 0
    ]


def _called(calls: list[tuple[sp.csr_array, sp.csr_array]], part: slice) -> np.ndarray:
    """Return what the terms of some documents call for, rows of sum 1, or 0 for nothing."""
    total = np.zeros(1)
    for shares, table in calls:
        rows = (shares[part] @ table).toarray().astype(np.float64)
        sums = rows.sum(axis=1, keepdims=True)
        total = total + np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    return total / np.maximum(total.sum(axis=-1, keepdims=True), 1.0)


def _terms_given(
    model: Any,
    view: str,
    mixtures: np.ndarray,
    trusts: np.ndarray,
    calls: list[tuple[sp.csr_array, sp.csr_array]],
) -> Iterator[np.ndarray]:
    """Yield p(w|d) of one document after the other; equal terms have equal bits."""
    topics = model.components_[view].astype(np.float64)
    p_w = model.term_counts_[view] / model.term_counts_[view].sum(dtype=np.float64)
    step = max(1, BLOCK_CELLS // topics.shape[1])
    for start in range(0, len(mixtures), step):
        part = slice(start, start + step)
        with one_native_thread("blas"):
            p_w_d = mixtures[part].astype(np.float64) @ topics
        t, called = trusts[part, None], _called(calls, part)
        p_w_d = t * p_w_d + (1 - t) * p_w
        share = CALLED * called.sum(axis=-1, keepdims=True)
        yield from ((1 - share) * p_w_d + CALLED * called).astype(np.float32)


def _best(
    p_w_d: Iterator[np.ndarray], top: int, known: sp.csr_array | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the columns of the most probable terms of each document, and their probabilities."""
    for row, p in enumerate(p_w_d):
        if known is not None:
            p[known.indices[known.indptr[row] : known.indptr[row + 1]]] = 0
        columns = _largest(p, top)
        yield columns, p[columns].astype(np.float64)


def _largest(values: np.ndarray, top: int) -> np.ndarray:
    """Return the places of the largest positive values, the first of equal ones first."""
    places = np.flatnonzero(values > 0)
    if len(places) > top:
        least = np.partition(values[places], -top)[-top]
        places = places[values[places] >= least]
    return places[np.argsort(-values[places], kind="stable")][:top]


def _named(
    model: Any, view: str, columns: np.ndarray, p: np.ndarray, told: bool
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return columns, names and probabilities; none of a document that the model cannot tell."""
    if not told:
        columns, p = columns[:0], p[:0]
    return columns, [shown_term(model, view, c) for c in columns], p


def _documents(X: Any, views: Views | None, n_docs: int) -> Sequence[str | int]:
    if isinstance(X, Doc):
        return [X.id]
    if views is not None and views.ids is not None:
        return [str(name) for name in views.ids]
    return range(n_docs)


def _frame(found: Sequence[PredictedTerms]) -> Any:
    rows = [row for terms in found for row in terms.to_rows()]
    frame = need_pandas("take the terms as they are (as_frame=False)").DataFrame
    return frame(rows, columns=["document", "rank", "term", "probability"])
