"""`make_views`: generated documents with planted topics, of any size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from coview.memory import check_memory
from coview.params import by_view, check_dtype, check_int, check_positive, check_real, seed_of
from coview.views.container import Views

RandomState = int | np.random.Generator | np.random.RandomState | None

TOKENS_PER_BLOCK = 2**20  # bounds the memory used in addition to the result

# Purposes of random streams. There is one stream for each purpose, view and block of documents, so
# that a change of one argument changes only what depends on it.
MIXTURES, EMISSIONS, TOKENS, PRESENCE = range(4)


@dataclass(frozen=True)
class PlantedTopics:
    """The distributions that the documents of :func:`make_views` were drawn from.

    Attributes
    ----------
    theta : ndarray (n_docs, n_topics)
        p(z|d); its largest entry is the document's label.
    p_w_z : dict of ndarray (n_topics, n_terms)
        p(w|z) of each view.
    """

    theta: np.ndarray
    p_w_z: dict[str, np.ndarray]


@overload
def make_views(
    n_docs: int = ...,
    n_topics: int = ...,
    n_terms: int | Sequence[int] | Mapping[str, int] = ...,
    n_views: int = ...,
    *,
    doc_length: float | Mapping[str, float] = ...,
    concentration: float = ...,
    term_concentration: float = ...,
    view_noise: float | Mapping[str, float] = ...,
    missing: float | Mapping[str, float] = ...,
    random_state: RandomState = ...,
    dtype: DTypeLike = ...,
    return_truth: Literal[False] = ...,
) -> Views: ...
@overload
def make_views(
    n_docs: int = ...,
    n_topics: int = ...,
    n_terms: int | Sequence[int] | Mapping[str, int] = ...,
    n_views: int = ...,
    *,
    doc_length: float | Mapping[str, float] = ...,
    concentration: float = ...,
    term_concentration: float = ...,
    view_noise: float | Mapping[str, float] = ...,
    missing: float | Mapping[str, float] = ...,
    random_state: RandomState = ...,
    dtype: DTypeLike = ...,
    return_truth: Literal[True],
) -> tuple[Views, PlantedTopics]: ...
def make_views(
    n_docs: int = 500,
    n_topics: int = 5,
    n_terms: int | Sequence[int] | Mapping[str, int] = 200,
    n_views: int = 3,
    *,
    doc_length: float | Mapping[str, float] = 100,
    concentration: float = 0.1,
    term_concentration: float = 0.05,
    view_noise: float | Mapping[str, float] = 0.0,
    missing: float | Mapping[str, float] = 0.0,
    random_state: RandomState = 0,
    dtype: DTypeLike = np.float32,
    return_truth: bool = False,
) -> Views | tuple[Views, PlantedTopics]:
    """Generate documents with planted topics in several views.

    A document d has one mixture p(z|d) for all its views; each view has its own p(w|z). The
    number of a document's tokens in a view is Poisson (at least one), and for each token a topic
    is drawn from the mixture and a term from the topic. Time and memory are linear in the number
    of tokens: hundreds of thousands of documents take seconds.

    Parameters
    ----------
    n_docs, n_topics : int
        Number of documents and of topics.
    n_terms : int, sequence of int, or dict of int, default=200
        Terms of every view, of each view in turn, or of each view by name.
    n_views : int, default=3
        Number of views; used only if `n_terms` is a single number.
    doc_length : float or dict, default=100
        Mean number of tokens of a document in a view; a dict gives it by view.
    concentration : float, default=0.1
        Parameter of the Dirichlet distribution of p(z|d). If small, each document has one topic.
    term_concentration : float, default=0.05
        Parameter of the Dirichlet distribution of p(w|z). If small, each topic has few terms.
    view_noise : float or dict, default=0
        Share of tokens, from 0 to 1, whose topics come from a mixture of their own, drawn for
        this document and view alone. At 1 the view is independent of the labels.
    missing : float or dict, default=0
        Probability that a document lacks a view. Every document keeps at least one.
    random_state : int, None, Generator, RandomState, default=0
        The same int gives the same views.
    dtype : float32 or float64, default=float32
        Type of the counts; float32 holds every count below 16,777,216 exactly.
    return_truth : bool, default=False
        Whether to return the planted topics as well.

    Returns
    -------
    views : Views
        Named "view_0", "view_1", ... unless `n_terms` names them. `labels` are the topics with the
        largest share in each document.
    truth : PlantedTopics
        Only with `return_truth=True`: `truth.theta` and `truth.p_w_z`.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(n_docs=30, n_topics=3, n_terms={"text": 50, "image": 20})
    >>> views["text"].shape, views["image"].shape
    ((30, 50), (30, 20))
    >>> views, truth = make_views(n_docs=30, view_noise={"view_2": 0.5}, return_truth=True)
    >>> truth.theta.shape, truth.p_w_z["view_2"].shape
    ((30, 5), (5, 200))
    """
    terms = _terms_by_view(n_terms, n_views)
    lengths = _by_view("doc_length", doc_length, terms, default=100)
    noise = _by_view("view_noise", view_noise, terms, default=0.0)
    absence = _by_view("missing", missing, terms, default=0.0)
    _check(n_docs, n_topics, concentration, term_concentration, dtype)
    _check_by_view(lengths, noise, absence)

    seed = seed_of(random_state, bits=63)
    theta = _stream(seed, MIXTURES).dirichlet(np.full(n_topics, float(concentration)), n_docs)
    p_w_z = {
        view: _stream(seed, EMISSIONS, v).dirichlet(np.full(size, term_concentration), n_topics)
        for v, (view, size) in enumerate(terms.items())
    }
    present = _draw_presence(_stream(seed, PRESENCE), n_docs, list(absence.values()))
    documents = _Documents(theta, float(concentration), seed, np.dtype(dtype))
    views = Views(
        {
            view: documents.counts(v, p_w_z[view], lengths[view], noise[view], present[:, v])
            for v, view in enumerate(terms)
        },
        labels=theta.argmax(axis=1),
        label_names=[f"topic_{z}" for z in range(n_topics)],
        present=present,
    )
    return (views, PlantedTopics(theta, p_w_z)) if return_truth else views


# -- parameters ------------------------------------------------------------------------------------


def _by_view(
    name: str, value: float | Mapping[str, float], views: Mapping[str, int], default: float
) -> dict[str, float]:
    return dict(zip(views, by_view(name, value, list(views), default), strict=True))


def _terms_by_view(
    n_terms: int | Sequence[int] | Mapping[str, int], n_views: int
) -> dict[str, int]:
    if isinstance(n_terms, Mapping):
        terms = dict(n_terms)
    else:
        if not isinstance(n_terms, Sequence):
            check_int("n_views", n_views, 1)
            n_terms = [n_terms] * n_views
        width = len(str(len(n_terms) - 1))  # names in alphabetical order, however many
        terms = {f"view_{v:0{width}d}": size for v, size in enumerate(n_terms)}
    if not terms:
        raise ValueError("n_terms names no view; give a number of terms for at least one.")
    for view, size in terms.items():
        check_int(f"n_terms of view {view!r}", size, 1)
    return terms


def _check(
    n_docs: int,
    n_topics: int,
    concentration: float,
    term_concentration: float,
    dtype: DTypeLike,
) -> None:
    check_int("n_docs", n_docs, 1)
    check_int("n_topics", n_topics, 1)
    check_positive("concentration", concentration)
    check_positive("term_concentration", term_concentration)
    check_dtype(dtype)


def _check_by_view(
    lengths: dict[str, float], noise: dict[str, float], absence: dict[str, float]
) -> None:
    for view in lengths:
        check_positive(f"doc_length of view {view!r}", lengths[view])
        check_real(f"view_noise of view {view!r}", noise[view], 0, 1)
        check_real(f"missing of view {view!r}", absence[view], 0, 1)


# -- drawing ---------------------------------------------------------------------------------------


def _stream(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _draw_presence(rng: np.random.Generator, n_docs: int, absence: list[float]) -> np.ndarray:
    margin = rng.random((n_docs, len(absence))) - absence
    present = margin >= 0
    # A document that would lack all views keeps the one that came closest to being present.
    present[np.arange(n_docs), margin.argmax(axis=1)] = True
    return present


@dataclass(frozen=True)
class _Documents:
    """The mixtures of the documents, from which the counts of each view are drawn."""

    theta: np.ndarray
    concentration: float
    seed: int
    dtype: np.dtype

    def counts(
        self, view: int, p_w_z: np.ndarray, length: float, noise: float, present: np.ndarray
    ) -> sp.csr_array:
        """Draw the counts (documents x terms) of one view, block by block."""
        n_docs, n_topics = self.theta.shape
        cumulative = np.cumsum(p_w_z, axis=1)
        cumulative /= cumulative[:, -1:]  # exactly 1 at the end: no draw beyond the last term
        step = max(1, int(TOKENS_PER_BLOCK / max(length, n_topics)))
        check_memory(48.0 * length, f"Documents of {length:,.0f} tokens")
        blocks = []
        for number, start in enumerate(range(0, n_docs, step)):
            rng = _stream(self.seed, TOKENS, view, number)
            docs = slice(start, start + step)
            topic_counts = self._topic_counts(rng, self.theta[docs], length, noise)
            blocks.append(self._words(rng, topic_counts, cumulative, present[docs]))
        return sp.vstack(blocks, format="csr")

    def _topic_counts(
        self, rng: np.random.Generator, theta: np.ndarray, length: float, noise: float
    ) -> np.ndarray:
        """Draw the number of tokens of each topic in each document (documents x topics)."""
        tokens = np.maximum(rng.poisson(length, len(theta)), 1)
        astray = rng.binomial(tokens, noise)
        elsewhere = rng.dirichlet(np.full(theta.shape[1], self.concentration), len(theta))
        return rng.multinomial(tokens - astray, theta) + rng.multinomial(astray, elsewhere)

    def _words(
        self,
        rng: np.random.Generator,
        topic_counts: np.ndarray,
        cumulative: np.ndarray,
        present: np.ndarray,
    ) -> sp.csr_array:
        """Draw a term for each token and count them (documents x terms)."""
        n_docs = len(topic_counts)
        docs, words = [], []
        for z, tokens in enumerate(topic_counts.T):
            docs.append(np.repeat(np.arange(n_docs), tokens))
            words.append(np.searchsorted(cumulative[z], rng.random(tokens.sum()), side="right"))
        row, column = np.concatenate(docs), np.concatenate(words)
        # Drop absent documents only now: absence must not shift the draws of other documents.
        kept = present[row]
        row, column = row[kept], column[kept]
        ones = np.ones(len(row), dtype=self.dtype)
        block = sp.coo_array((ones, (row, column)), shape=(n_docs, cumulative.shape[1]))
        return block.tocsr()
