r"""MGGM: clusters of several views, smoothed over a learned mix of graphs (Wang et al., 2017).

Model. That of MVPLSA: one mixture p(z|d) for all views, feature topics y in each view,

    p(w | d, v) = sum_z sum_y  p(w | y, v)  p(y | z, v)  p(z | d)                        (1)

Objective (to be maximized). Each view has a graph of nearest neighbors (5) with Laplacian L_v; the
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

The smallest trace takes the largest weight, whatever the reason: the graph of a view that few
documents have, or one that joins equal documents only, has a trace near 0 and takes all weight
without smoothing anything. `fit` warns of that.

The paper starts from ConcatLTM, which is `init="ltm"` (its clusters, smoothed) or "ltm_mixtures"
here, with feature topics at random (`feature_topics_init`); the default tries several starts.
Labels follow from k-means on the mixtures. Start, read-out of labels and stopping decide most of
the result.

New documents join the graphs of the views that they have, as in `LTM`, with the weights mu learned
in the fit.

In the code: (14) is `em.emissions.FactoredTopics.m_step`; (7), (10), (11) and (15) are in
`em.penalties.graph_smoothness.GraphSmoothness`; (5) is `models._neighbors.neighbor_graph`; new
documents are in `models._neighbors`.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coview.em.penalties.graph_smoothness import GraphSmoothness
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import NamedStart, Start, label_start, mixture_start
from coview.graphs.adjacency import check_graph
from coview.models._neighbors import NeighborsOfNewDocuments, neighbor_graph
from coview.models._shared import (
    check_feature_topics,
    check_neighbors,
    check_strength,
    factor_attributes,
    factored_topics,
    graph_strength,
    one_mixture,
)
from coview.models.ltm import LTM
from coview.params import by_view, check_choice, check_real
from coview.runners.threads import effective_threads
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.wording import plural, quoted

SUSPICIOUS = 0.1  # a graph less rough than this share of the next one takes almost all weight
SMALL_PART = 20  # documents: a graph with parts of fewer says little about clusters


class MGGM(NeighborsOfNewDocuments):
    """Clusters shared by several views, smoothed over a learned mix of the views' graphs.

    Besides the starts of every model, `init="ltm"` starts from the clusters of ConcatLTM, as the
    paper does, and `init="ltm_mixtures"` from its mixtures.

    Parameters
    ----------
    n_feature_topics : int or dict of int, default=20
        Feature topics of each view.
    feature_topics_init : {"topics", "random"}, default="topics"
        Where feature topics begin: close to the topics of the start, or at random as in the
        papers, so that only the mixtures of the start matter.
    strength : float or "auto", default=2.0
        Weight of the graph. "auto" chooses it without labels: see :func:`coview.strength_path`.
    strength_scale : {"mass", "absolute"}, default="mass"
        "mass": at 1.0 the neighbors of an average document together weigh as much as its weighted
        tokens, so the scale of the counts does not matter; "absolute": the papers' lambda.
    n_neighbors : int, default=5
        Nearest neighbors of each document in the graph.
    neighbor_metric : {"auto", "euclidean", "tfidf"}, default="auto"
        How they are found: by the Euclidean distance of counts, as in the paper, or by the cosine
        of tf-idf weights. "auto": the former in dense views, the latter in sparse ones.
    graphs : dict of sparse matrices of shape (documents, documents) or None, default=None
        Graphs of your own for some or all views, by name; a name that is no view adds a graph.
        Views without one get nearest neighbors.
    exponent : float, default=0.95
        The paper's lambda_2, in (0, 1): near 1 the graph that fits best takes all weight, near 0
        all graphs weigh the same.
    normalize_graph_weights : bool, default=False
        Make the weights sum to one.
    smooth_new : bool, default=True
        Whether new documents (`transform`, `predict`, `score`) are smoothed over their nearest
        neighbors among the training documents, in each view that they have, as these are in the
        fit. Graphs of your own have no place for them. To find neighbors, the model keeps the
        training data (`graph_points_`), also in its file. False keeps nothing, and folds documents
        in by their counts alone.
    step : {"paper", "safe"}, default="paper"
        M-step of the mixtures: the paper's, which may lower the objective, or a safeguarded one
        that never does (at fixed graph weights).
    assign : {"argmax", "kmeans"}, default="kmeans"
        Smoothed mixtures are soft: k-means on them finds the clusters where the largest share
        may not.
    %(common_parameters)s

    Attributes
    ----------
    graph_weights_ : dict of float
        mu of each graph; a view that no two documents have has none.
    feature_topics_ : dict of ndarray of shape (n_feature_topics, terms)
        p(w|y) of each view.
    topic_links_ : dict of ndarray of shape (n_components, n_feature_topics)
        p(y|z) of each view.
    strength_ : float
        The strength that was used, given or chosen.
    strength_path_ : StrengthPath or None
        How it was chosen, with `strength="auto"`.
    graph_strength_ : float
        lambda of Eq. 15, from `strength_` and its scale.
    graph_points_ : dict of dict
        What finds the neighbors of new documents in each view that has a graph of nearest
        neighbors: the training documents, in as few bytes as possible (at most those of the data,
        for counts 3 to 5 bytes a non-zero), and how far each is from the last of its neighbors.
    %(common_attributes)s

    See Also
    --------
    MVPLSA : without graphs.
    LTM : one view.

    Notes
    -----
    `as_published` has the values for Reuters. The paper's Q, lambda_1 and lambda_2 are 500, 300,
    0.8 on DBLP; 900, 300, 0.95 on Reuters; 100, 15000, 0.95 on Handwritten; 2000, 300, 0.8 on Cora;
    1000, 0.1, 0.95 on NUS: `n_feature_topics`, `strength` and `exponent`. Left open are the scale
    of the features, the graph, strength, start and length of the ConcatLTM that it starts from
    (here MGGM's own, k-means and 30 iterations), when to stop, and how clusters are read off the
    mixtures (here the largest share).

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

    _usual_strength = 2.0
    _published: Mapping[str, Any] = {
        "n_feature_topics": 900,
        "feature_topics_init": "random",
        "strength": 300.0,
        "strength_scale": "absolute",
        "neighbor_metric": "euclidean",
        "init": "ltm_mixtures",
    }

    def __init__(
        self,
        n_components: int = 10,
        n_feature_topics: int | dict[str, int] = 20,
        *,
        feature_topics_init: Literal["topics", "random"] = "topics",
        strength: float | Literal["auto"] = 2.0,
        strength_scale: str = "mass",
        n_neighbors: int = 5,
        neighbor_metric: Literal["auto", "euclidean", "tfidf"] = "auto",
        graphs: Any = None,
        exponent: float = 0.95,
        normalize_graph_weights: bool = False,
        smooth_new: bool = True,
        step: Literal["paper", "safe"] = "paper",
        init: Any = "auto",
        seeds: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        acceleration: Literal["squarem"] | None = None,
        doc_topic_prior: float = 1.0,
        topic_word_prior: float = 1.0,
        view_weights: Any = "learn",
        ensemble: Any = "auto",
        scaling: str | None = "auto",
        assign: str = "kmeans",
        fold_in_max_iter: int = 200,
        fold_in_tol: float = 1e-4,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            init=init,
            seeds=seeds,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            acceleration=acceleration,
            doc_topic_prior=doc_topic_prior,
            topic_word_prior=topic_word_prior,
            view_weights=view_weights,
            ensemble=ensemble,
            scaling=scaling,
            assign=assign,
            fold_in_max_iter=fold_in_max_iter,
            fold_in_tol=fold_in_tol,
            dtype=dtype,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_feature_topics = n_feature_topics
        self.feature_topics_init = feature_topics_init
        self.strength = strength
        self.strength_scale = strength_scale
        self.n_neighbors = n_neighbors
        self.neighbor_metric = neighbor_metric
        self.graphs = graphs
        self.exponent = exponent
        self.normalize_graph_weights = normalize_graph_weights
        self.smooth_new = smooth_new
        self.step = step

    def _monotone_step(self) -> bool:
        return self.step == "safe"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.strength, self.strength_scale)
        check_neighbors(self.n_neighbors, self.neighbor_metric)
        check_feature_topics(self.n_feature_topics, self.feature_topics_init)
        if not isinstance(self.graphs, Mapping | None):
            raise ValueError(
                "graphs must be a dict of matrices by the names of the views, or None; got "
                f"{type(self.graphs).__name__}."
            )
        check_real("exponent", self.exponent, 1e-6, 1 - 1e-6)
        check_choice("step", self.step, ["paper", "safe"])
        check_choice("smooth_new", self.smooth_new, [True, False])
        check_choice("normalize_graph_weights", self.normalize_graph_weights, [True, False])

    def _coupled(self, data: Prepared, learned: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
        graphs, points = self._graphs(data)
        penalty = self._penalty(data, graphs)
        return replace(data, penalty=penalty), learned | self._for_new(penalty, points)

    def _penalty(self, data: Prepared, graphs: dict[str, sp.csr_array]) -> GraphSmoothness:
        return GraphSmoothness(
            tuple(graphs.values()),
            graph_strength(data.strength, self.strength_scale, data, tuple(graphs.values())),
            names=tuple(graphs),
            exponent=self.exponent,
            normalize_weights=self.normalize_graph_weights,
            safeguard=self.step == "safe",
            n_threads=effective_threads(self.n_jobs),
        )

    def _graphs(self, data: Prepared) -> tuple[dict[str, sp.csr_array], dict[str, dict[str, Any]]]:
        """Return the graph of each view, given or of nearest neighbors, and any others given.

        And the points of those of nearest neighbors.
        """
        given = self._given_graphs(data.n_docs)
        own, points = {}, {}
        for v, name in enumerate(data.names):
            if name in given:
                own[name] = given.pop(name)
            elif data.matrices[v].nnz:  # without counts there are no neighbors
                own[name], points[name] = neighbor_graph(
                    data, v, self.n_neighbors, self.neighbor_metric, self.n_jobs
                )
        # a graph without edges, as of a view that no two documents have, would take all weight
        joining = {n: graph for n, graph in (own | given).items() if graph.nnz}
        return joining or own, {n: p for n, p in points.items() if n in joining}

    def _graphs_by_view(self, names: Sequence[str]) -> dict[str, Any]:
        return dict(self.graphs or {})

    def _given_graphs(self, n_docs: int) -> dict[str, sp.csr_array]:
        return {n: check_graph(g, n_docs, n) for n, g in (self.graphs or {}).items()}

    def _with_graphs(self, graphs: dict[str, sp.csr_array]) -> dict[str, Any]:
        return {"graphs": graphs}

    def _starts(
        self, data: Prepared, views: Views, rng: np.random.Generator, restart: int
    ) -> Sequence[NamedStart]:
        if isinstance(self.init, str) and self.init in ("ltm", "ltm_mixtures"):
            name = self.init
            return [(name, lambda: self._ltm_start(name, data, rng))]
        return super()._starts(data, views, rng, restart)

    def _ltm_start(self, name: str, data: Prepared, rng: np.random.Generator) -> Start:
        """Start from clusters or mixtures of ConcatLTM, on views multiplied by their weights."""
        given = data.without_ensemble_view()
        views = zip(given.names, given.matrices, given.weights, strict=True)
        together = Views({n: w * m for n, m, w in views}, present=given.present).concat()
        ltm = LTM(
            self.n_components,
            strength=data.strength,
            strength_scale=self.strength_scale,
            n_neighbors=self.n_neighbors,
            neighbor_metric=self.neighbor_metric,
            smooth_new=False,
            # clusters of k-means would not have the numbers of the labels
            init="kmeans" if data.labels is None else "naive_bayes",
            max_iter=30,  # as many as Cai et al. give each of their restarts
            tol=0.0,
            scaling=None,
            random_state=rng,
            n_jobs=self.n_jobs,
        ).fit(together, labels=data.labels)
        if name == "ltm_mixtures":
            return mixture_start(name, ltm.doc_topic_, data)
        return label_start(name, ltm.labels_, self.n_components, data)

    def _feature_topics(self, data: Prepared) -> list[int]:
        return by_view("n_feature_topics", self.n_feature_topics, data.names)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        topics = factored_topics(
            start, self.n_feature_topics, data, rng, self.feature_topics_init
        )  # (1)
        return one_mixture(data, topics, start)

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        assert isinstance(problem.penalty, GraphSmoothness)
        _warn_of_idle_graph(problem.penalty, problem.mixtures[0])
        return problem

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        penalty = problem.penalty
        assert isinstance(penalty, GraphSmoothness)
        named = dict(zip(penalty.names, map(float, penalty.weights), strict=True))
        return {"graph_weights_": named, **factor_attributes(problem, data)}


def _warn_of_idle_graph(penalty: GraphSmoothness, theta: np.ndarray) -> None:
    """Warn if a graph has almost all weight only because it joins almost no documents.

    A graph whose parts are the clusters is as smooth, but rightly so: its parts are large.
    """
    traces, best = penalty.traces(theta), int(np.argmax(penalty.weights))
    others = np.delete(traces, best)
    if penalty.strength == 0 or not len(others) or traces[best] >= SUSPICIOUS * others.min():
        return
    n_small, size = _in_small_parts(penalty.graphs[best], *theta.shape)
    if 2 * n_small < len(theta):
        return
    share = penalty.weights[best] / sum(penalty.weights)
    warnings.warn(
        f"The graph {quoted(penalty.names[best])} has {share:.0%} of the weight, since its "
        f"roughness is {traces[best]:.3g} and that of the others at least {others.min():.3g}. But "
        f"{n_small:,} of {plural(len(theta), 'document')} are alone or in parts of fewer than "
        f"{size} there: it smooths next to nothing, and keeps the others from it. Give a denser "
        "graph in its place (graphs=, n_neighbors=), or lower exponent, which spreads the weight.",
        DataWarning,
        stacklevel=6,
    )


def _in_small_parts(graph: sp.csr_array, n_docs: int, n_topics: int) -> tuple[int, int]:
    """Return how many documents are in parts much smaller than a cluster, and that size."""
    part = connected_components(graph, directed=False)[1]
    small = min(SMALL_PART, max(2, n_docs // (2 * n_topics)))
    return int((np.bincount(part)[part] < small).sum()), small
