"""Documents of a fit under topics that were learned without them.

Document d has added its expected counts to the topics of a view,

    c(d,w,z) = n(d,w) p(z|d) p(w|z) / p(w|d),       N(z) = sum over all documents and terms,

so without it they are  p(w|z) -> [ N(z) p(w|z) - c(d,w,z) ] / [ N(z) - sum_w c(d,w,z) ].
Only the terms of the document change by more than a factor. Arrays: theta (documents, topics) are
the mixtures of the fit, by_term (terms, topics) its topics, mass (topics,) is N(z).
"""

import numpy as np
from numba import njit

# of what a topic has of a term; less is what EM had not yet added up, and says nothing
ROUNDING = 1e-3

_OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},
}


@njit(**_OPTIONS)
def add_topic_mass(indptr, indices, data, theta, by_term, mass):
    """Add the expected counts c(d,w,z) of all documents and terms to mass (topics,)."""
    n_topics = theta.shape[1]
    for d in range(theta.shape[0]):
        for j in range(indptr[d], indptr[d + 1]):
            p = 0.0
            for k in range(n_topics):
                p += theta[d, k] * by_term[indices[j], k]
            if p > 0.0:
                for k in range(n_topics):
                    mass[k] += data[j] * theta[d, k] * by_term[indices[j], k] / p


@njit(**_OPTIONS)
def _leave_out(terms, counts, mixture, by_term, mass, rows):
    """Fill rows (terms of the document, topics) with p(w|z) without the document."""
    n_topics = mixture.shape[0]
    own = np.zeros(n_topics)
    for j in range(terms.shape[0]):
        p = 0.0
        for k in range(n_topics):
            p += mixture[k] * by_term[terms[j], k]
        for k in range(n_topics):
            c = counts[j] * mixture[k] * by_term[terms[j], k] / p if p > 0.0 else 0.0
            own[k] += c
            whole = mass[k] * by_term[terms[j], k]
            rows[j, k] = whole - c if whole - c > ROUNDING * whole else 0.0
    for k in range(n_topics):
        left = mass[k] - own[k]
        for j in range(terms.shape[0]):
            # a topic of this document alone is not known without it
            rows[j, k] = rows[j, k] / left if left > ROUNDING * mass[k] else 0.0


@njit(**_OPTIONS)
def fold_in_left_out(
    first, last, indptr, indices, data, theta, by_term, mass, scale, prior, max_iter, tol, out
):
    """Fill out (documents, topics): mixtures of documents first to last, folded in without each.

    scale (topics,) multiplies p(w|z); `prior` is added to the expected counts of each topic.
    """
    n_topics = theta.shape[1]
    new = np.empty(n_topics)
    for d in range(first, last):
        start, end = indptr[d], indptr[d + 1]
        rows = np.empty((end - start, n_topics))
        _leave_out(indices[start:end], data[start:end], theta[d], by_term, mass, rows)
        rows *= scale
        mix = np.full(n_topics, 1.0 / n_topics)
        for _ in range(max_iter):
            new[:] = 0.0
            for j in range(end - start):
                p = 0.0
                for k in range(n_topics):
                    p += mix[k] * rows[j, k]
                if p > 0.0:
                    ratio = data[start + j] / p
                    for k in range(n_topics):
                        new[k] += ratio * rows[j, k]
            total = 0.0
            for k in range(n_topics):
                new[k] = max(mix[k] * new[k] + prior, 0.0)
                total += new[k]
            if not total > 0.0:
                break
            change = 0.0
            for k in range(n_topics):
                change = max(change, abs(new[k] / total - mix[k]))
                mix[k] = new[k] / total
            if change <= tol:
                break
        out[d] = mix


@njit(**_OPTIONS)
def log_likelihoods_left_out(
    first, last, indptr, indices, data, theta, by_term, mass, usual, smoothing, mixtures, out
):
    """Fill out (documents, 3) as `document_log_likelihoods` does, under topics without each."""
    n_topics = theta.shape[1]
    for d in range(first, last):
        start, end = indptr[d], indptr[d + 1]
        rows = np.empty((end - start, n_topics))
        _leave_out(indices[start:end], data[start:end], theta[d], by_term, mass, rows)
        own = corpus = n = 0.0
        for j in range(end - start):
            p_w = usual[indices[start + j]]
            if p_w > 0.0:
                p = 0.0
                for k in range(n_topics):
                    p += mixtures[d, k] * rows[j, k]
                own += data[start + j] * np.log((1.0 - smoothing) * p + smoothing * p_w)
                corpus += data[start + j] * np.log(p_w)
                n += data[start + j]
        out[d, 0], out[d, 1], out[d, 2] = own, corpus, n
