"""Documents with a known number of topics, of many kinds."""

import numpy as np

from coview import Views
from coview.datasets import make_views


def counts(rng, theta, p_w_z, length):
    """Draw word counts from mixtures and topics."""
    tokens = np.maximum(rng.poisson(length, len(theta)), 2)
    p_w_d = theta @ p_w_z
    p_w_d /= p_w_d.sum(axis=1, keepdims=True)
    return np.stack([rng.multinomial(n, p) for n, p in zip(tokens, p_w_d, strict=True)])


def sizes_of(n_topics, rng, unequal):
    if not unequal:
        return np.full(n_topics, 1 / n_topics)
    return 0.8 * rng.dirichlet(np.full(n_topics, 2.0)) + 0.2 / n_topics


def texts(
    n_topics,
    seed,
    *,
    n_docs=800,
    own=0.5,
    mixed=None,
    unequal=False,
    noise=False,
    missing=0.0,
    lengths=(60, 40),
):
    """Return texts whose topics share most of their vocabulary with a Zipf background.

    `own` is the share of words that are the topic's own. Each document has one topic, or a mixture
    with the Dirichlet parameter `mixed`. The view of noise has topics of its own.
    """
    rng = np.random.default_rng([seed, n_topics])
    if mixed is None:
        z = rng.choice(n_topics, n_docs, p=sizes_of(n_topics, rng, unequal))
        theta = np.eye(n_topics)[z]
    else:
        theta = rng.dirichlet(np.full(n_topics, mixed), n_docs)
    data = {}
    for name, width, length in zip(("title", "body"), (600, 400), lengths, strict=True):
        background = rng.permutation(1 / (np.arange(width) + 3.0))
        topics = rng.dirichlet(np.full(width, 0.05), n_topics)
        p_w_z = own * topics + (1 - own) * background / background.sum()
        data[name] = counts(rng, theta, p_w_z, length)
    if noise:
        others = rng.dirichlet(np.full(n_topics, 0.1), n_docs)
        topics = rng.dirichlet(np.full(300, 0.05), n_topics)
        data["noise"] = counts(rng, others, topics, 60)
    present = rng.random((n_docs, len(data))) >= missing
    present[~present.any(axis=1), 0] = True
    for v, name in enumerate(data):
        data[name][~present[:, v]] = 0
    return Views(data, present=present, labels=theta.argmax(axis=1))


def clouds(n_topics, seed, *, n_docs=800, widths=(20, 30), unequal=False):
    """Return Gaussian clusters: dense measurements, positive and negative."""
    rng = np.random.default_rng([seed, n_topics, 7])
    z = rng.choice(n_topics, n_docs, p=sizes_of(n_topics, rng, unequal))
    data = {
        f"sensor_{v}": rng.normal(size=(n_topics, width))[z] + rng.normal(size=(n_docs, width))
        for v, width in enumerate(widths)
    }
    return Views(data, labels=z)


KINDS = {
    "mixtures in three views": lambda k, s: make_views(800, k, 200, 3, random_state=s),
    "mixtures and a view of noise": lambda k, s: make_views(
        800, k, 200, 4, view_noise={"view_3": 1.0}, random_state=s
    ),
    "mixtures, 30 % of views missing": lambda k, s: make_views(
        800, k, 200, 3, missing=0.3, random_state=s
    ),
    "texts": texts,
    "texts, unequal clusters": lambda k, s: texts(k, s, unequal=True),
    "texts, mixed a little": lambda k, s: texts(k, s, mixed=0.1, own=0.7),
    "texts, mixed a lot": lambda k, s: texts(k, s, mixed=0.3, own=0.8, lengths=(100, 80)),
    "texts and a view of noise": lambda k, s: texts(k, s, noise=True),
    "texts, 30 % of views missing": lambda k, s: texts(k, s, missing=0.3),
    "Gaussian clusters": clouds,
    "Gaussian clusters, unequal": lambda k, s: clouds(k, s, unequal=True),
}


# -- no structure ----------------------------------------------------------------------------------


def same_words(seed, n_docs=800):
    """Return texts of many lengths that all have the same words, by Zipf's law."""
    rng = np.random.default_rng([seed, 11])
    widths = {"title": 600, "body": 400}
    data = {}
    for name, width in widths.items():
        p_w = 1 / (np.arange(width) + 3.0)
        lengths = rng.lognormal(4, 0.5, (n_docs, 1))
        data[name] = rng.poisson(lengths * p_w / p_w.sum())
    return Views(data)


def one_cloud(seed, n_docs=800):
    """Return measurements without clusters, in two views."""
    rng = np.random.default_rng([seed, 12])
    return Views({name: rng.normal(size=(n_docs, width)) for name, width in (("a", 20), ("b", 30))})


def unrelated(seed, n_docs=800):
    """Return counts that are all drawn from one rate."""
    rng = np.random.default_rng([seed, 13])
    return Views({name: rng.poisson(0.4, (n_docs, 60)) for name in ("a", "b")})


NOTHING = {"the same words": same_words, "one cloud": one_cloud, "unrelated counts": unrelated}
