r"""MGGM: clusters of several views, smoothed over a learned mix of graphs (Wang et al., 2017).

Model. That of MVPLSA: one mixture p(z|d) for all views, feature topics y in each view,

    p(w | d, v) = sum_z sum_y  p(w | y, v)  p(y | z, v)  p(z | d)

Objective (to be maximized). Each view has a graph of nearest neighbors with Laplacian L_v; the
graphs are mixed with weights mu_v,

    sum_v alpha_v sum_{d,w} n_v(d,w) log p(w|d,v)
        -  lam Tr(H' L H),    L = sum_v mu_v L_v                                       (4, 7, 11)

Updates, from one E-step (12). p(w|y,v) and p(y|z,v) as in MVPLSA (14). The mixtures H, with the
expected counts V = n(d,z) and Omega = diag of their row sums,

    (Omega + lam L) H = V                                                              (15)

Then the weights of the graphs, from the new mixtures, with T_v = Tr(H' L_v H) and exponent l,

    mu_v = T_v^(1/(l-1)) / ( sum_u T_u^(l/(l-1)) )^(1/l)                                (10)

so that graphs that agree with the clusters count more. Literally, these weights sum to less than
one unless one graph takes all, which weakens the graph term; `normalize_graph_weights=True` makes
them sum to one. A change of mu changes the objective itself: values before and after it are not
compared, and `fit` stops when the objective at fixed weights has come to rest.

Small traces win, whatever the reason: the graph of a view that few documents have, or one that
joins equal documents only, has a trace near 0 and takes all weight without smoothing anything.
`fit` warns where that has happened.

The paper starts from ConcatLTM, which is `init="ltm"` here; the default tries several starts.
Labels are read off by k-means on the mixtures. Start, read-out and stopping carry most of the
result.

Where the code is: (14) is `FactoredTopics.m_step`; (15), (10) and (11)
`em.smoothness.GraphSmoothness`.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coview.base import BaseViewsModel
from coview.em.emissions import factored_emissions
from coview.em.penalties.graph_smoothness import GraphSmoothness
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start, label_start
from coview.graphs.adjacency import check_graph
from coview.models.dual_plsa import factor_attributes
from coview.models.ltm import LTM, graph_strength, neighbor_graph
from coview.params import by_view, check_choice, check_int, check_real
from coview.runners.threads import effective_threads
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.wording import plural, quoted

SMOOTH = 0.1  # times as rough as any other graph, or less: the winner is one by a wide margin
SMALL_PART = 20  # documents: a graph of parts with fewer says little about clusters


class MGGM(BaseViewsModel):
    """Clusters shared by several views, smoothed over a learned mix of the views' graphs.

    Parameters
    ----------
    n_components : int, default=10
        Topics, which are the clusters of documents.
    n_feature_topics : int or dict of int, default=20
        Feature topics of each view.
    strength : float, default=2.0
        Weight of the graph.
    strength_scale : {"mass", "absolute"}, default="mass"
        "mass": at 1.0 the neighbors of an average document together weigh as much as its weighted
        tokens, so the scale of the counts plays no part; "absolute": the papers' lambda.
    n_neighbors : int, default=5
        Nearest neighbors of each document in the graph: by Euclidean distance in dense views, by
        the cosine of tf-idf weights in sparse ones.
    graphs : dict of sparse matrices of shape (documents, documents) or None, default=None
        Graphs of your own for some or all views, by name; a name that is no view adds a graph.
        Views without one get nearest neighbors.
    exponent : float, default=0.95
        The paper's lambda_2, in (0, 1): near 1 the graph that fits best takes all weight, near 0
        all graphs weigh the same.
    normalize_graph_weights : bool, default=False
        Make the weights sum to one.
    step : {"paper", "safe"}, default="paper"
        The paper's step, or one that never lowers the objective (at fixed graph weights).
    assign : {"argmax", "kmeans"}, default="kmeans"
        Smoothed mixtures are soft: k-means on them finds the clusters where the largest share
        may not.
    init, n_init, max_iter, tol, view_weights, scaling, dtype, random_state, n_jobs, verbose
        As in every model: see :class:`coview.base.BaseViewsModel`.

    Attributes
    ----------
    graph_weights_ : dict of float
        mu of each graph; a view that no two documents have has none.
    feature_topics_, topic_links_ : dict of ndarray
        p(w|y) and p(y|z) of each view.
    components_, doc_topic_, view_doc_topic_, labels_, objective_, n_iter_, trace_, ...
        As in every model: see :class:`coview.base.BaseViewsModel`.

    See Also
    --------
    MVPLSA : without graphs.
    LTM : one view.

    References
    ----------
    S. Wang, E. K. Wang, X. Li, Y. Ye, R. Y. K. Lau, X. Du. Multi-view learning via multiple graph
    regularized generative model. Knowledge-Based Systems, 2017.

    Examples
    --------
    >>> from coview import MGGM
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], random_state=0)
    >>> model = MGGM(3, random_state=0).fit(views)
    >>> sorted(model.graph_weights_)
    ['view_0', 'view_1']
    """

    def __init__(
        self,
        n_components: int = 10,
        n_feature_topics: int | dict[str, int] = 20,
        *,
        strength: float = 2.0,
        strength_scale: str = "mass",
        n_neighbors: int = 5,
        graphs: Any = None,
        exponent: float = 0.95,
        normalize_graph_weights: bool = False,
        step: str = "paper",
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        view_weights: Any = "balanced",
        scaling: str | None = "auto",
        assign: str = "kmeans",
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            view_weights=view_weights,
            scaling=scaling,
            assign=assign,
            dtype=dtype,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_feature_topics = n_feature_topics
        self.strength = strength
        self.strength_scale = strength_scale
        self.n_neighbors = n_neighbors
        self.graphs = graphs
        self.exponent = exponent
        self.normalize_graph_weights = normalize_graph_weights
        self.step = step

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("strength", self.strength)
        check_choice("strength_scale", self.strength_scale, ["mass", "absolute"])
        check_int("n_neighbors", self.n_neighbors, 1)
        numbers = self.n_feature_topics
        for number in numbers.values() if isinstance(numbers, dict) else [numbers]:
            check_int("n_feature_topics", number, 1)
        if not isinstance(self.graphs, Mapping | None):
            raise ValueError(
                "graphs must be a dict of matrices by the names of the views, or None; got "
                f"{type(self.graphs).__name__}."
            )
        check_real("exponent", self.exponent, 1e-6, 1 - 1e-6)
        check_choice("step", self.step, ["paper", "safe"])
        check_choice("normalize_graph_weights", self.normalize_graph_weights, [True, False])

    def _prepare_training(self, views: Views, labels, rng: np.random.Generator):
        data, learned = super()._prepare_training(views, labels, rng)
        return replace(data, coupling=self._graphs(data)), learned

    def _graphs(self, data: Prepared) -> dict[str, sp.csr_array]:
        """The graph of each view, given or of nearest neighbors, and any others given."""
        given = {n: check_graph(g, data.n_docs, n) for n, g in (self.graphs or {}).items()}
        own = {
            n: given.pop(n) if n in given else neighbor_graph(data, v, self.n_neighbors)
            for v, n in enumerate(data.names)
            if n in given or data.matrices[v].nnz  # without counts all are alike
        }
        # a view that no two documents have lends no edge; its graph would take all the weight
        joining = {n: graph for n, graph in (own | given).items() if graph.nnz}
        return joining or own

    def _starts(self, data: Prepared, views: Views, rng: np.random.Generator):
        if isinstance(self.init, str) and self.init == "ltm":
            return [("ltm", lambda: self._ltm_start(data, rng))]
        return super()._starts(data, views, rng)

    def _ltm_start(self, data: Prepared, rng: np.random.Generator) -> Start:
        """From the clusters of ConcatLTM, each view brought to its weight first."""
        views = zip(data.names, data.matrices, data.weights, strict=True)
        together = Views({n: w * m for n, m, w in views}, present=data.present).concat()
        ltm = LTM(
            self.n_components,
            strength=self.strength,
            strength_scale=self.strength_scale,
            n_neighbors=self.n_neighbors,
            # clusters of k-means have other numbers than the labels
            init="kmeans" if data.labels is None else "naive_bayes",
            max_iter=30,  # as many as Cai et al. give each of their restarts
            tol=0.0,
            scaling=None,
            random_state=rng,
            n_jobs=self.n_jobs,
        ).fit(together, labels=data.labels)
        return label_start("ltm", ltm.labels_, self.n_components, data)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        numbers = by_view("n_feature_topics", self.n_feature_topics, data.names)
        emissions = factored_emissions(start.p_w_z, numbers, rng, data.dtype)
        slots = (0,) * len(data.names)
        return Problem.of(data, emissions, (start.theta,), slots, self._penalty(data))

    def _penalty(self, data: Prepared) -> GraphSmoothness:
        graphs = tuple(data.coupling.values())
        return GraphSmoothness(
            graphs,
            graph_strength(self.strength, self.strength_scale, data, graphs),
            exponent=self.exponent,
            normalize_weights=self.normalize_graph_weights,
            safeguard=self.step == "safe",
            n_threads=effective_threads(self.n_jobs),
        )

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        assert isinstance(problem.penalty, GraphSmoothness)
        _warn_of_an_idle_graph(problem.penalty, problem.mixtures[0], tuple(data.coupling))
        return problem

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        assert isinstance(problem.penalty, GraphSmoothness)
        named = dict(zip(data.coupling, map(float, problem.penalty.weights), strict=True))
        return {"graph_weights_": named, **factor_attributes(problem, data)}


def _warn_of_an_idle_graph(penalty: GraphSmoothness, theta: np.ndarray, names) -> None:
    """Say so where all weight is with a graph that is smooth because it joins next to nothing.

    A graph whose parts are the clusters is as smooth, and rightly so; hence the look at its parts.
    """
    traces, best = penalty.traces(theta), int(np.argmax(penalty.weights))
    others = np.delete(traces, best)
    if penalty.strength == 0 or not len(others) or traces[best] >= SMOOTH * others.min():
        return
    n_small, size = _in_small_parts(penalty.graphs[best], *theta.shape)
    if 2 * n_small < len(theta):
        return
    share = penalty.weights[best] / sum(penalty.weights)
    warnings.warn(
        f"The graph {quoted(names[best])} has {share:.0%} of the weight, since its roughness is "
        f"{traces[best]:.3g} and that of the others at least {others.min():.3g}. But "
        f"{n_small:,} of {plural(len(theta), 'document')} are alone or in parts of fewer than "
        f"{size} there: it smooths next to nothing, and keeps the others from it. Give a denser "
        "graph in its place (graphs=, n_neighbors=), or lower exponent, which spreads the weight.",
        DataWarning,
        stacklevel=6,
    )


def _in_small_parts(graph: sp.csr_array, n_docs: int, n_topics: int) -> tuple[int, int]:
    """How many documents are in parts much smaller than a cluster, and what that means."""
    part = connected_components(graph, directed=False)[1]
    small = min(SMALL_PART, max(2, n_docs // (2 * n_topics)))
    return int((np.bincount(part)[part] < small).sum()), small
