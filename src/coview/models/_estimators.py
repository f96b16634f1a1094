r"""Other mixture models in the two stages of VotedPLSA, such as latent Dirichlet allocation.

Stage one needs shares of topics from an estimator, nothing else. Stage two has to start from the
documents that were assigned by vote, and to keep p(c|d) = 1 for them in every iteration.

Latent Dirichlet allocation (LDA) has priors alpha of p(c|d) and eta of p(w|c). Its variational EM
has Dirichlet distributions of topics with parameters lambda,

    lambda(c,w)  =  eta  +  sum_d n(d,w) q(c|d,w)                                          (1)

where q(c|d,w) follows from lambda in the E-step. A document pre-assigned to c has q(c|d,w) = 1 for
all of its words, so that its part of (1) never changes:

    lambda(c,w)  =  [ eta + sum_{d in c} n(d,w) ]  +  sum_{other d} n(d,w) q(c|d,w)        (2)

This is LDA of the other documents with the bracket as prior of the topics. scikit-learn's LDA takes
one number as the prior, but its `partial_fit` adds whatever is in `topic_word_prior_`, by
broadcasting; with all documents in one batch and a learning rate of 1 it is (2) to the letter. The
start is the bracket, and for a cluster without documents the perturbed corpus distribution.

Any other estimator is fitted to all documents, and its topics are matched with the clusters by the
Hungarian method: to the cluster whose documents have most of it. It neither starts from the
documents assigned by vote nor holds them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.special import psi

from coview.em.prepared import Prepared
from coview.em.starts import Start, mixture_start, weighted_side_by_side

TopicsAndShares = tuple[np.ndarray, np.ndarray]  # (topics, terms), (documents, topics)


def with_seed(estimator: Any, seed: int) -> Any:
    """Set the seed of an estimator, and of its parts, wherever it is None."""
    free = {
        name: seed % 2**32  # scikit-learn takes seeds below 2**32
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return estimator.set_params(**free)


def shares_method(estimator: Any) -> str | None:
    """Return the method of an estimator that gives shares of topics, None if there is none."""
    return next((m for m in ("predict_proba", "transform") if hasattr(estimator, m)), None)


def topic_shares(estimator: Any, matrix: Any, role: str, data_name: str) -> np.ndarray:
    """Return the share of each topic in each document, by a fitted estimator.

    `role` and `data_name` are for the message: what the estimator is for, and what the matrix is.
    """
    method = shares_method(estimator)
    assert method is not None
    shares = np.asarray(getattr(estimator, method)(matrix))
    expected = shares.ndim == 2 and len(shares) == matrix.shape[0]
    if not expected or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(
            f"{method} of the {role} {estimator!r} must return shares of topics for the "
            f"{matrix.shape[0]:,} documents of {data_name}, finite and not negative; found "
            f"an array of shape {shares.shape}"
            + (f" with values from {shares.min():.3g}." if expected else ".")
        )
    return shares


# -- stage two -------------------------------------------------------------------------------------


def check_second_stage(estimator: Any, n_topics: int, seeds: Any) -> None:
    """Check the estimator of stage two."""
    if not hasattr(estimator, "fit") or shares_method(estimator) is None:
        raise ValueError(
            "second_stage must be an estimator with fit, and transform or predict_proba to shares "
            f"of topics, such as LatentDirichletAllocation({n_topics}); got {estimator!r}."
        )
    own = getattr(estimator, "n_components", n_topics)
    if own != n_topics:
        raise ValueError(
            f"second_stage has n_components={own!r}, the model {n_topics}: they must be equal, "
            "since its topics are the clusters."
        )
    if seeds is not None:
        raise ValueError(
            "seeds act in the M-steps of PLSA, which second_stage replaces: give one of the two."
        )


def second_stage_start(estimator: Any, start: Start, data: Prepared) -> Start:
    """Fit the estimator to all views side by side; return its topics and mixtures.

    `start` is where PLSA would begin; its topics sum to one over all views, and so do those that
    are returned. Documents assigned by vote, `data.labels`, keep their clusters.
    """
    from sklearn.decomposition import LatentDirichletAllocation

    whole = weighted_side_by_side(data, np.float64)
    labels = np.full(data.n_docs, -1) if data.labels is None else data.labels
    if isinstance(estimator, LatentDirichletAllocation):
        topics, shares = lda_with_pins(estimator, whole, labels, np.hstack(start.p_w_z))
    else:
        topics, shares = _matched(estimator, whole, labels, len(start.p_w_z[0]))
    # a term that never occurs has probability 0 in every topic, as in all models
    corpus = np.asarray(whole.sum(axis=0)).ravel()
    topics = _rows_to_one(np.where(corpus > 0, topics, 0), corpus).astype(data.dtype)
    ends = np.cumsum([m.shape[1] for m in data.matrices])[:-1]
    found = mixture_start("second_stage", _rows_to_one(shares, np.ones(len(topics))), data)
    return replace(found, p_w_z=tuple(np.split(topics, ends, axis=1)))


def lda_with_pins(
    lda: Any, whole: sp.csr_array, labels: np.ndarray, spare: np.ndarray
) -> TopicsAndShares:
    """Fit scikit-learn's LDA with pinned documents; return lambda and the shares of documents.

    Parameters
    ----------
    lda : LatentDirichletAllocation
        With learning_method="batch" all documents make one batch, as in its `fit`. It ends after
        `max_iter` iterations, whatever its `evaluate_every`.
    whole : csr_array of shape (documents, terms)
    labels : ndarray of int of shape (documents,)
        The cluster of each pinned document, -1 for the others.
    spare : ndarray of shape (topics, terms)
        Distributions from which clusters without pinned words start.

    Returns
    -------
    lambda : ndarray of shape (topics, terms)
    shares : ndarray of shape (documents, topics)
        p(c|d), 1 for the cluster of a pinned document.
    """
    pinned, free = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    shares = np.zeros((len(labels), len(spare)))
    shares[pinned, labels[pinned]] = 1
    fixed = (whole.T @ shares).T  # the words of the pinned documents; the others have no shares yet
    lda.set_params(total_samples=max(len(free), 1))
    if lda.learning_method == "batch":
        lda.set_params(learning_decay=0.0, batch_size=max(len(free), 1))
    lda.partial_fit(whole[:1])  # makes the attributes that are set in the next lines
    lda.topic_word_prior_ = lda.topic_word_prior_ + fixed  # the bracket of (2)
    idle = fixed.sum(axis=1, keepdims=True) == 0
    lda.components_ = lda.topic_word_prior_ + idle * spare * (whole.sum() / len(spare))
    total = lda.components_.sum(axis=1, keepdims=True)
    lda.exp_dirichlet_component_ = np.exp(psi(lda.components_) - psi(total))
    lda.n_batch_iter_ = 1
    if len(free):
        for _ in range(lda.max_iter):
            lda.partial_fit(whole[free])
        shares[free] = lda.transform(whole[free])
    return lda.components_, shares


def _matched(
    estimator: Any, whole: sp.csr_array, labels: np.ndarray, n_topics: int
) -> TopicsAndShares:
    """Fit any estimator to all documents; return its topics and shares in the clusters' order."""
    estimator.fit(whole)
    topics = np.asarray(getattr(estimator, "components_", None), dtype=float)
    if topics.shape != (n_topics, whole.shape[1]) or not (topics >= 0).all():
        raise ValueError(
            f"second_stage {estimator!r} must have components_ that are not negative, the weights "
            f"of {whole.shape[1]:,} terms in {n_topics} topics; found an array of shape "
            f"{topics.shape}."
        )
    shares = topic_shares(estimator, whole, "second_stage", "all views side by side")
    pinned = np.flatnonzero(labels >= 0)
    meet = np.zeros((n_topics, n_topics))  # cluster, topic
    np.add.at(meet, labels[pinned], shares[pinned])
    order = linear_sum_assignment(meet, maximize=True)[1]
    return topics[order], shares[:, order]


def _rows_to_one(rows: np.ndarray, default: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; a row of zeros becomes the default, scaled."""
    sums = rows.sum(axis=1, keepdims=True)
    rows = np.where(sums > 0, rows, default)
    return rows / rows.sum(axis=1, keepdims=True)
