"""What several models share: how views share mixtures, feature topics, and graphs of documents."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Emission, FactoredTopics, Topics, factored_emissions
from coview.em.penalties.base import Penalty
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.params import LARGEST_STRENGTH, by_view, check_choice, check_factor, check_int

OTHER_MODELS = (
    "or fit a model that does not compare documents with each other: PLSA, LinkPLSA, DualPLSA, "
    "MVPLSA or DivergenceCoPLSA"
)  # where documents do not fit into memory

# -- mixtures --------------------------------------------------------------------------------------


def free_topics(start: Start, data: Prepared) -> list[Topics]:
    """Return the topics p(w|z,v) of a start, each a free parameter."""
    return [Topics.from_rows(p, data.dtype) for p in start.p_w_z]


def one_mixture(
    data: Prepared, emissions: Iterable[Emission], start: Start, concatenated: bool = False
) -> Problem:
    """Make a problem in which all views share the mixture p(z|d) of a document."""
    slots = (0,) * len(data.names)
    return Problem.of(data, emissions, (start.theta,), slots, concatenated=concatenated)


def mixture_of_each_view(
    data: Prepared, emissions: Iterable[Emission], start: Start, penalty: Penalty | None = None
) -> Problem:
    """Make a problem in which each view has its own mixture p(z|d,v); only a penalty couples them.

    All mixtures of a document start alike.
    """
    views = range(len(data.names))
    thetas = (start.theta, *(start.theta.copy() for _ in views[1:]))
    return Problem.of(data, emissions, thetas, slots=views, penalty=penalty)


def check_strength(strength: Any, scale: Any) -> None:
    """Check the weight of a penalty, a number or "auto", and its scale."""
    check_choice("strength_scale", scale, ["mass", "absolute"])
    if not isinstance(strength, str):
        check_factor("strength", strength, LARGEST_STRENGTH)
    elif strength != "auto":
        raise ValueError(
            f"strength must be a finite number of at least 0, or 'auto'; got {strength!r}."
        )
    elif scale == "absolute":
        raise ValueError(
            "strength='auto' needs strength_scale='mass': the strengths it tries are shares of the "
            "documents' tokens. Give strength as a number for strength_scale='absolute'."
        )


def check_pair_strength(strength: Any, scale: Any) -> None:
    """Check the weight of a penalty between views, a number or a dict by pairs, and its scale."""
    if not isinstance(strength, Mapping):
        return check_strength(strength, scale)
    for pair, value in strength.items():
        check_factor(f"strength[{pair!r}]", value, LARGEST_STRENGTH)
    return check_strength(0.0, scale)


def pair_strengths(strength: Any, names: Sequence[str]) -> tuple[float, np.ndarray | None]:
    """Return the largest strength, and the share of it that each pair of views has (views, views).

    A pair is named by a tuple of two views or by a text with a comma between them. Pairs that a
    dict leaves out have strength 0. The shares are None where all pairs have the same strength.

    >>> pair_strengths({("a", "c"): 2.0, "b,a": 1.0}, ["a", "b", "c"])
    (2.0, array([[0. , 0.5, 1. ],
           [0.5, 0. , 0. ],
           [1. , 0. , 0. ]]))
    """
    if not isinstance(strength, Mapping):
        return float(strength), None
    places: dict[Any, tuple[int, int]] = {}
    for (v, a), (w, b) in permutations(enumerate(names), 2):
        places[a, b] = places[f"{a},{b}"] = v, w
    found = np.zeros((len(names), len(names)))
    named = set()
    for pair, value in strength.items():
        place = places.get(tuple(pair) if isinstance(pair, list) else pair)
        if place is None or frozenset(place) in named:
            problem = "is no pair of two" if place is None else "is named twice, of the"
            raise ValueError(
                f"strength has the pair {pair!r}, which {problem} views ({', '.join(names)}). Give "
                "one number, or a dict such as {('en', 'de'): 1.0} with each pair once."
            )
        named.add(frozenset(place))
        found[place] = found[place[::-1]] = value
    largest = float(found.max(initial=0.0))
    return largest, found / largest if largest > 0 else None


def share_with_pairs(strength: Any, ensemble: Any, share: float) -> float:
    """Return the weight of the ensemble's view where the views are coupled pair by pair.

    With a strength for each pair of views there is none for a view that nobody has named.
    """
    if not isinstance(strength, Mapping):
        return share
    if ensemble not in ("auto", 0):
        raise ValueError(
            "A strength for each pair of views leaves no place for the ensemble's view; give one "
            f"strength for all, or ensemble=0 instead of {ensemble!r}."
        )
    return 0.0


# -- feature topics --------------------------------------------------------------------------------


def check_feature_topics(numbers: Any, init: Any) -> None:
    """Check `n_feature_topics`, a number or one by view, and where they begin."""
    check_choice("feature_topics_init", init, ["topics", "random"])
    for number in numbers.values() if isinstance(numbers, Mapping) else [numbers]:
        check_int("n_feature_topics", number, 1)


def factored_topics(
    start: Start, n_feature_topics: Any, data: Prepared, rng: np.random.Generator, init: str
) -> list[FactoredTopics]:
    """Return topics p(w|z,v) = sum_y p(w|y,v) p(y|z,v), close to those of a start or random."""
    given = data.without_ensemble_view().names
    numbers = by_view("n_feature_topics", n_feature_topics, given)
    if data.has_ensemble_view:
        numbers = [*numbers, max(*numbers, len(start.p_w_z[0]))]
    return factored_emissions(start.p_w_z, numbers, rng, data.dtype, init)


def factor_attributes(problem: Problem, data: Prepared) -> dict[str, Any]:
    """Return the fitted factors p(w|y,v) and p(y|z,v), by view."""
    feature_topics: dict[str, np.ndarray] = {}
    links: dict[str, np.ndarray] = {}
    for name, emission in zip(data.names, problem.emissions, strict=True):
        assert isinstance(emission, FactoredTopics)
        feature_topics[name] = np.ascontiguousarray(emission.p_w_y_by_term.T)
        links[name] = emission.p_y_z
    return {"feature_topics_": feature_topics, "topic_links_": links}


# -- graphs ----------------------------------------------------------------------------------------


def check_neighbors(n_neighbors: Any, metric: Any) -> None:
    """Check the parameters of graphs of nearest neighbors."""
    check_int("n_neighbors", n_neighbors, 1)
    check_choice("neighbor_metric", metric, ["auto", "euclidean", "tfidf"])


def graph_strength(
    strength: float, scale: str, data: Prepared, graphs: Sequence[sp.csr_array]
) -> float:
    """Return lambda of Eq. 15 (Wang et al., 2017) from `strength` and its scale.

    On the scale of masses, the edges of an average document weigh `strength` times its counts.
    """
    if scale == "absolute":
        return float(strength)
    degree = sum(graph.sum() for graph in graphs) / len(graphs) / data.n_docs
    return float(strength * data.mass.mean() / degree) if degree > 0 else 0.0
