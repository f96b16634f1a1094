"""Documents behind the words of topics, by explicit loops: what one pass over the data counts."""

import math


def term_documents(counts, mixtures, dense):
    """n(w,z): the sum of p(z|d)^2 over documents with the term; of values in a dense view."""
    n_topics, n_terms = len(mixtures[0]), len(counts[0])
    found = [[0.0] * n_terms for _ in range(n_topics)]
    for row, mixture in zip(counts, mixtures, strict=True):
        for w, count in enumerate(row):
            for z, share in enumerate(mixture):
                if count > 0:
                    found[z][w] += share**2 * (float(count) if dense else 1.0)
    return found


def topic_documents(present, mixtures):
    """The sum of p(z|d)^2 over documents that have the view."""
    found = [0.0] * len(mixtures[0])
    for has, mixture in zip(present, mixtures, strict=True):
        for z, share in enumerate(mixture):
            found[z] += share**2 if has else 0.0
    return found


def ranked(documents, topic, needed, rounding):
    """Terms that enough documents of a topic have, by n(w,z) / sqrt(N(w) + needed), then column."""
    scores = []
    for w in range(len(documents[0])):
        behind = documents[topic][w]
        everywhere = sum(row[w] for row in documents)
        if behind > 0 and behind >= needed - rounding:
            scores.append((-behind / math.sqrt(everywhere + needed), w))
    return [w for _, w in sorted(scores)]
