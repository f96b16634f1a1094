"""`as_published`: every option, every step and every fixed point is that of the paper."""

import copy
import itertools
from collections import deque

import numpy as np
import pytest
from scipy.optimize import brentq

from coview import (
    LTM,
    MGGM,
    MVPLSA,
    PLSA,
    DivergenceCoPLSA,
    DualPLSA,
    LinkPLSA,
    PairwiseCoPLSA,
    Views,
    VotedPLSA,
)
from tests.reference import (
    dual_plsa,
    link_plsa,
    ltm,
    mggm,
    mvplsa,
    pairwise_coplsa,
    plsa,
    voted_plsa,
)

# -- the choices of the papers ---------------------------------------------------------------------

OPEN = object()  # the paper does not say, or it is no matter of the model
COMMON = {
    **dict.fromkeys(["n_components", "max_iter", "tol", "dtype"], OPEN),
    **dict.fromkeys(["fold_in_max_iter", "fold_in_tol", "random_state", "n_jobs", "verbose"], OPEN),
    "init": "random",
    "seeds": None,
    "n_init": 1,
    "acceleration": None,
    "doc_topic_prior": 1.0,
    "topic_word_prior": 1.0,
    "view_weights": 1.0,
    "ensemble": 0,
    "scaling": None,
    "assign": "argmax",
}
ZHUANG = {  # 004, Algorithm 1 and 4.1.2
    "n_feature_topics": 128,
    "feature_topics_init": "random",
    "init": "mvc",
    "max_iter": 150,
    "tol": 0.0,
}
GRAPH = {
    "strength_scale": "absolute",
    "n_neighbors": 5,  # 001, 4.5
    "neighbor_metric": "euclidean",  # 001, below Eq. 5
    "smooth_new": OPEN,
    "step": "paper",  # Eq. 15
}
CHOICES = {
    PLSA: {},
    LinkPLSA: {},
    DualPLSA: ZHUANG,
    MVPLSA: ZHUANG,
    LTM: {
        **GRAPH,
        "strength": 1000.0,
        "graph": None,
        "init": "kmeans",
        "n_init": 10,
        "max_iter": 30,
        "tol": 0.0,
    },
    MGGM: {
        **GRAPH,
        "n_feature_topics": 900,
        "feature_topics_init": "random",  # Algorithm 1, line 1
        "strength": 300.0,
        "graphs": None,
        "exponent": 0.95,
        "normalize_graph_weights": False,  # Eq. 10 as printed
        "init": "ltm_mixtures",  # 4.6
    },
    VotedPLSA: {"voter": None, "second_stage": None, "signatures": "frequent"},
    PairwiseCoPLSA: {
        "strength": 0.07,
        "strength_scale": "absolute",
        "bandwidth": OPEN,
        "n_pairs": None,
        "pair_fraction": 0.05,  # 5.4
        "reference_view": OPEN,
        "step": "paper",
        "view_weights": "equal",  # Eq. 5
    },
    DivergenceCoPLSA: {
        "divergence": OPEN,
        "strength": OPEN,
        "strength_scale": "absolute",
        "step": "paper",
        "inner_steps": 10,
    },
}


@pytest.mark.parametrize("cls", CHOICES)
def test_no_option_contradicts_the_paper(cls):
    wanted = {**COMMON, **CHOICES[cls]}
    found = cls.as_published().get_params(deep=False)
    assert found.keys() == wanted.keys()  # a new option needs a word of the paper, or OPEN
    assert {n: v for n, v in found.items() if wanted[n] is not OPEN} == {
        n: v for n, v in wanted.items() if v is not OPEN
    }
    assert "`as_published`" in cls.__doc__


def test_what_is_given_takes_the_place_of_the_papers():
    model = PairwiseCoPLSA.as_published(7, strength=0.03, random_state=1)
    assert (model.n_components, model.strength, model.random_state) == (7, 0.03, 1)
    assert model.pair_fraction == 0.05


# -- steps and fixed points ------------------------------------------------------------------------

NEIGHBORS = 2
REST = 1e-9  # no share moves by more
FEW = {"n_feature_topics": 3}
CASES = {
    "plsa": (PLSA, {}),
    "link": (LinkPLSA, {}),
    "dual": (DualPLSA, FEW),
    "mvplsa": (MVPLSA, FEW),
    "ltm": (LTM, {"n_neighbors": NEIGHBORS, "n_init": 1, "strength": 3.0}),
    "mggm": (MGGM, {**FEW, "n_neighbors": NEIGHBORS, "strength": 3.0}),
    "voted": (VotedPLSA, {}),
    "pairwise": (PairwiseCoPLSA, {"pair_fraction": 1.0}),
    "skl": (DivergenceCoPLSA, {"divergence": "skl", "strength": 0.5}),
    "l2": (DivergenceCoPLSA, {"divergence": "l2", "strength": 0.5}),
}


@pytest.fixture(scope="module", params=["counts", "dense"])
def Xs(request):
    """Two views of 15 documents."""
    rng = np.random.default_rng(3)
    shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]])[np.arange(15) % 3]
    topics = [rng.dirichlet(np.full(width, 0.3), 2) for width in (8, 7)]
    if request.param == "counts":
        return [1.0 * rng.poisson(40 * shares @ p) for p in topics]
    return [rng.gamma(40 * shares @ p + 0.05) for p in topics]


def walk(name, Xs, n_iter):
    """The model after n_iter iterations, or at rest, and its last states."""
    cls, params = CASES[name]
    states = deque(maxlen=3)

    def at_rest(state):
        states.append(copy.copy(state))
        last = list(states)[-2:]
        return len(last) == 2 and distance(*(found(name, s) for s in last)) < REST

    model = cls.as_published(
        2, **{**params, "max_iter": n_iter, "tol": 0.0, "dtype": "float64", "random_state": 0}
    )
    views = np.hstack(Xs) if model._one_view else Views(dict(zip("ab", Xs, strict=True)))
    model.fit(views, on_iteration=at_rest)
    return model, list(states)


def next_state(name, model, Xs, state):
    """Where the paper's step leads, by loops that share nothing with coview; a list of arrays."""
    theta, thetas = state["doc_topic_"], list(state["view_doc_topic_"].values())
    topics = list(state["components_"].values())
    X = np.hstack(Xs)
    if name == "plsa":
        return flat(plsa.joint_step(X, theta, topics[0]))
    if name == "link":
        return flat(link_plsa.link_plsa(Xs, theta, topics, 1)[0][0])
    if name == "ltm":
        graph = ltm.knn_graph(X, NEIGHBORS)
        return flat(ltm.ltm(X, theta, topics[0], 1, graph, model.strength)[0][0])
    if name == "voted":
        patterns = voted_plsa.voting_patterns([v.doc_topic_ for v in model.voters_.values()])
        chosen = voted_plsa.signatures(patterns, 2)
        pinned = voted_plsa.preassign(patterns, chosen) >= 0
        return flat(plsa.joint_step(X, theta, whole(state), pinned))
    if name == "pairwise":
        step = pairwise_coplsa.pairwise_coplsa
        tau, lam, sigma = [0.5, 0.5], model.strength, model.bandwidth
        return flat(step(Xs, thetas, topics, 1, tau, lam, sigma, step="literal")[0][0])
    if name in ("skl", "l2"):
        return flat(by_view(Xs, thetas, topics, model.strength, name))
    links = list(state["topic_links_"].values())
    features = list(state["feature_topics_"].values())
    if name == "dual":
        return flat(dual_plsa.dual_plsa(X, theta, links[0], features[0], 1)[0][0])
    if name == "mvplsa":
        return flat(mvplsa.mvplsa(Xs, theta, links, features, 1)[0][0])
    graphs = [ltm.knn_graph(X, NEIGHBORS) for X in Xs]
    mu = list(state["graph_weights_"].values())
    return flat(mggm.mggm_step(Xs, theta, links, features, graphs, mu, 3.0, 0.95))


def by_view(Xs, thetas, topics, lam, kind):
    """003: ten steps of the topics, then ten of the mixtures, one view after the other."""
    thetas = [theta.copy() for theta in thetas]
    for _ in range(10):
        counts = [plsa.expected_counts(*parts) for parts in zip(Xs, thetas, topics, strict=True)]
        topics = [plsa.m_step_emissions(n, p) for n, p in zip(counts, topics, strict=True)]
    for _ in range(10):
        counts = [plsa.theta_counts(*parts) for parts in zip(Xs, thetas, topics, strict=True)]
        for v, q in enumerate(counts):
            h = [h_step(*rows, lam, kind) for rows in zip(q, thetas[1 - v], strict=True)]
            thetas[v] = np.stack([h, 1 - np.array(h)], axis=1)
    return thetas, topics


def h_step(q, other, lam, kind):
    """003 Eq. 10 with two topics: where the derivative by the share of the first is 0."""

    def slope(h):
        apart = [h - other[0], 1 - h - other[1]]
        if kind == "skl":
            apart = [np.log(a / b) - b / a for a, b in zip((h, 1 - h), other, strict=True)]
        return q[0] / h - q[1] / (1 - h) - lam * (apart[0] - apart[1])

    low, high = 1e-15, 1 - 1e-15
    if slope(low) <= 0 or slope(high) >= 0:
        return low if slope(low) <= 0 else high
    return brentq(slope, low, high, xtol=1e-16, rtol=1e-15)


def whole(state):
    """p(w|c) over the words of all views."""
    views = zip(state["view_shares_"].T, state["components_"].values(), strict=True)
    return np.hstack([share[:, None] * p for share, p in views])


def found(name, state):
    """The same arrays of a state of coview."""
    if name == "voted":
        return flat((state["doc_topic_"], whole(state)))
    several = name in ("pairwise", "skl", "l2")
    mixtures = list(state["view_doc_topic_"].values()) if several else state["doc_topic_"]
    factors = [list(state["components_"].values())]
    if "topic_links_" in state:
        factors = [list(state[f].values()) for f in ("topic_links_", "feature_topics_")]
    own = [np.array(list(state["graph_weights_"].values()))] if name == "mggm" else []
    return flat((mixtures, *factors, *own))


def flat(parts):
    """Arrays in lists and tuples, one after the other."""
    if isinstance(parts, list | tuple):
        return [array for part in parts for array in flat(part)]
    return [np.asarray(parts)]


def distance(these, those):
    assert [a.shape for a in these] == [a.shape for a in those]
    return max(np.abs(a - b).max() for a, b in zip(these, those, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_the_papers(name, Xs):
    model, states = walk(name, Xs, 3)
    for before, after in itertools.pairwise(states):
        assert distance(found(name, before), found(name, after)) > 1e-6  # it moves
        assert distance(next_state(name, model, Xs, before), found(name, after)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_fixed_point_is_one_of_the_papers(name, Xs):
    model, states = walk(name, Xs, 20_000)
    assert model.n_iter_ < 20_000
    # mixtures of 003 rest where the next ones are not better by more than rounding
    close = 5e-8 if isinstance(model, DivergenceCoPLSA) else 1e-8
    assert distance(next_state(name, model, Xs, states[-1]), found(name, states[-1])) < close
