"""Documents folded in by each view alone, and documents resampled from the model.

In models with one mixture for all views `view_doc_topic_` is the same array for every view, and in
all of them what a view says of a training document depends on the others. So each view is folded in
by itself, by its counts alone: without the pull of neighbors, which are training documents, the
document itself among them. A document of the fit is folded in under topics without it (`left_out`).

A document resampled from the model has the mixture of all views together and, in each view, as
many tokens as the document has:

    z ~ p(z|d),  w ~ p(w|z),  n(d) times.

Sparse weights such as tf-idf, which are no counts, are replaced by n(d) = (sum x)^2 / sum x^2
tokens of equal weight (Kish's effective sample size). Dense measurements are not resampled.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.reporting.terms import term_shares
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.views.density import is_dense_real

if TYPE_CHECKING:
    from coview.reporting.left_out import LeftOut

BLOCK = 4_000_000  # entries of drawn documents that are held at a time
SMOOTHING = 0.01  # share of the corpus distribution in every topic, as in `coview.scores`


@dataclass(frozen=True)
class Folded:
    """Documents under the topics of a model, by all views together and by each alone.

    Attributes
    ----------
    model : fitted model
        Without smoothing over neighbors.
    views : Views
        With the columns of the model.
    counts : dict of csr_array of shape (documents, terms)
        What the model works on, scaled.
    known : ndarray of bool of shape (documents, views)
        Which documents have a count in which view.
    joint : ndarray of shape (documents, topics)
        Mixtures by all views together.
    alone : dict of ndarray of shape (documents, topics)
        Mixtures by each view alone, NaN where it is not known.
    left_out : dict of LeftOut
        By view, if the documents are those of the fit: topics are then without each document.
    """

    model: Any
    views: Views
    counts: dict[str, sp.csr_array]
    known: np.ndarray
    joint: np.ndarray
    alone: dict[str, np.ndarray]
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The views, in the order of the model."""
        return self.views.names

    def log_likelihoods(self, name: str, mixtures: np.ndarray) -> np.ndarray:
        """Return what `log_likelihoods` has of the documents in one view under these mixtures."""
        if name in self.left_out:
            return self.left_out[name].log_likelihoods(mixtures)
        return log_likelihoods(self.model, name, self.counts[name], mixtures)

    def is_dense(self, name: str) -> bool:
        """Return whether a view holds dense measurements."""
        return name in self.model.scaling_ or is_dense_real(self.counts[name])


def fold_views(model: Any, views: Views, *, of_fit: bool = False) -> Folded:
    """Fold documents in, by all views together and by each view alone.

    Documents of the fit (`of_fit`) are folded in by each view as if they had not been in it.
    """
    from coview.reporting.left_out import LeftOut

    plain = without_neighbors(model)
    counts = plain.as_counts(views)
    known = np.stack([np.diff(m.indptr) > 0 for m in counts.values()], axis=1)
    joint = plain.fold_in(views).doc_topic
    left_out = {n: LeftOut.of(plain, n, m) for n, m in counts.items()} if of_fit else {}
    alone = {}
    for v, name in enumerate(views.names):
        if of_fit:
            found = left_out[name].mixtures()
        else:
            found = joint if views.n_views == 1 else _fold_quietly(plain, views.select(name))
        alone[name] = np.where(known[:, v, None], found, np.nan)
    return Folded(plain, views, counts, known, joint, alone, left_out)


def _fold_quietly(model: Any, views: Views) -> np.ndarray:
    """Return mixtures, without the warnings that all views together have given already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.fold_in(views).doc_topic


def without_neighbors(model: Any) -> Any:
    """Return a copy of a model that folds documents in by their counts alone."""
    plain = copy(model)
    if hasattr(plain, "smooth_new"):
        plain.smooth_new = False
    return plain


def log_likelihoods(
    model: Any, name: str, counts: sp.csr_array, mixtures: np.ndarray
) -> np.ndarray:
    """Return log-likelihood, that by the frequencies of terms alone, and tokens: (documents, 3).

    Terms that never occurred in training are left out. Mixtures may have rows of NaN where there
    are no counts.
    """
    from coview.kernels.likelihood import document_log_likelihoods

    by_term = np.ascontiguousarray(model.components_[name].T)
    usual = term_shares(model, name)
    theta = np.ascontiguousarray(token_mixtures(model, mixtures, name), by_term.dtype)
    theta /= np.maximum(theta.sum(axis=1, keepdims=True), np.finfo(theta.dtype).tiny)
    out = np.empty((len(theta), 3))
    parts = counts.indptr, counts.indices, counts.data
    document_log_likelihoods(*parts, theta, by_term, usual, SMOOTHING, out)
    return out


# -- documents drawn from the model ----------------------------------------------------------------


def drawn_blocks(folded: Folded, names: Sequence[str], rows: np.ndarray) -> list[np.ndarray]:
    """Return `rows` in parts whose drawn documents have about `BLOCK` entries at most.

    A drawn document may have an entry for each of its tokens, up to one for each term.
    """
    entries = np.zeros(len(rows))
    for name in names:
        lengths, _ = token_lengths(sp.csr_array(folded.counts[name][rows]))
        entries += np.minimum(lengths, folded.model.components_[name].shape[1])
    part = np.cumsum(entries) // BLOCK
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)


def resample(folded: Folded, name: str, rows: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """Return documents drawn from the model in one view, as long as those in `rows`."""
    lengths, weights = token_lengths(sp.csr_array(folded.counts[name][rows]))
    mixtures = token_mixtures(folded.model, folded.joint[rows], name)
    drawn = draw_documents(lengths, mixtures, folded.model.components_[name], rng)
    drawn.data *= np.repeat(weights, np.diff(drawn.indptr))
    return drawn


def fold_in_counts(model: Any, name: str, counts: sp.csr_array) -> np.ndarray:
    """Return mixtures of counts in one view, which have the columns of the model."""
    return _fold_quietly(model, Views({name: counts}))


def token_lengths(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return how many tokens each document is resampled with, and the weight of each token.

    >>> token_lengths(sp.csr_array([[2.0, 1.0], [0.5, 0.5]]))
    (array([2, 2]), array([1.5, 0.5]))
    """
    total = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
    if not (counts.data != np.rint(counts.data)).any():
        return total.astype(np.int64), np.ones(len(total))
    squares = np.asarray(counts.power(2).sum(axis=1, dtype=np.float64)).ravel()
    effective = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    lengths = np.maximum(np.rint(effective), total > 0).astype(np.int64)
    return lengths, total / np.maximum(lengths, 1)


def draw_documents(
    lengths: np.ndarray, mixtures: np.ndarray, p_w_z: np.ndarray, rng: np.random.Generator
) -> sp.csr_array:
    """Return documents of these lengths, drawn from mixtures (documents, topics) of topics p(w|z).

    >>> mixtures, rng = np.array([[0.0, 1.0], [0.5, 0.5]]), np.random.default_rng(0)
    >>> draw_documents(np.array([3, 0]), mixtures, np.eye(2), rng).toarray()
    array([[0., 3.],
           [0., 0.]])
    """
    exact = _exact(mixtures)
    n_terms = p_w_z.shape[1]
    long = lengths > n_terms  # a count for each term is less than an entry for each token
    of_topics = rng.multinomial(np.where(long, 0, lengths), exact)
    documents, words, counts = [], [], []
    for z in np.flatnonzero(of_topics.any(axis=0)):
        tokens = np.repeat(np.arange(len(lengths)), of_topics[:, z])
        cumulative = np.cumsum(p_w_z[z], dtype=np.float64)
        picked = np.searchsorted(cumulative, rng.random(len(tokens)) * cumulative[-1], "right")
        documents.append(tokens)
        words.append(np.minimum(picked, n_terms - 1))
        counts.append(np.ones(len(tokens)))
    for doc in np.flatnonzero(long):
        drawn = rng.multinomial(lengths[doc], _exact(exact[[doc]] @ p_w_z)[0])
        words.append(np.flatnonzero(drawn))
        counts.append(drawn[words[-1]].astype(np.float64))
        documents.append(np.full(len(words[-1]), doc))
    shape = len(lengths), n_terms
    if not documents:
        return sp.csr_array(shape)
    places = np.concatenate(documents), np.concatenate(words)
    return sp.csr_array((np.concatenate(counts), places), shape=shape)  # adds up repeated places


def token_mixtures(model: Any, mixtures: np.ndarray, name: str) -> np.ndarray:
    """Return the mixtures of the tokens in one view: topics may have more of them there."""
    shares = getattr(model, "view_shares_", None)  # p(v|z) of VotedPLSA
    if shares is None:
        return mixtures
    own = mixtures * shares[:, model.view_names_.index(name)]
    return np.where(own.sum(axis=1, keepdims=True) > 0, own, mixtures)


def _exact(mixtures: np.ndarray) -> np.ndarray:
    """Return mixtures in double precision whose rows sum to one, as NumPy wants them."""
    exact = mixtures.astype(np.float64)
    exact /= exact.sum(axis=1, keepdims=True)
    return exact
