"""What several models share: how views share mixtures, feature topics, and graphs of documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Emission, FactoredTopics, Topics, factored_emissions
from coview.em.penalties.base import Penalty
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start, concatenated_tfidf
from coview.graphs.neighbors import knn_graph
from coview.params import by_view, check_choice, check_int, check_real
from coview.views.density import is_dense

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
    """Check the weight of a penalty and its scale."""
    check_real("strength", strength)
    check_choice("strength_scale", scale, ["mass", "absolute"])


# -- feature topics --------------------------------------------------------------------------------


def check_feature_topics(numbers: Any) -> None:
    """Check `n_feature_topics`: a number, or one by view."""
    for number in numbers.values() if isinstance(numbers, Mapping) else [numbers]:
        check_int("n_feature_topics", number, 1)


def factored_topics(
    start: Start, n_feature_topics: Any, data: Prepared, rng: np.random.Generator
) -> list[FactoredTopics]:
    """Return topics p(w|z,v) = sum_y p(w|y,v) p(y|z,v) that are close to those of a start."""
    numbers = by_view("n_feature_topics", n_feature_topics, data.names)
    return factored_emissions(start.p_w_z, numbers, rng, data.dtype)


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


def neighbor_graph(data: Prepared, v: int, n_neighbors: int) -> sp.csr_array:
    """Return the graph of nearest neighbors in one view: Eq. 5 of Wang et al. (2017)."""
    matrix = data.matrices[v]
    # the papers' Euclidean distance suits measurements; between sparse counts it mostly tells
    # short documents from long ones
    features = matrix if is_dense(matrix) else concatenated_tfidf([matrix])
    return knn_graph(features, n_neighbors, present=data.present[:, v])


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
