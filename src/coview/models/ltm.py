r"""LTM: topics that vary little between neighbors (Cai, Wang & He, 2009; as in Wang et al., 2017).

Model. PLSA of one view,

    p(w | d) = sum_z  p(w | z)  p(z | d)

Objective (to be maximized). With a graph U over the documents (nearest neighbors, or given) and
its Laplacian L, and H the mixtures p(z|d),

    sum_{d,w} n(d,w) log p(w|d)  -  lam R,    R = 1/2 sum_ij U_ij |h_i - h_j|^2 = Tr(H' L H)     (7)

Updates. The topics as in PLSA. The mixtures, with the expected counts V = n(d,z) and their row sums
Omega = diag(n(d)), by one linear system for all topics,

    (Omega + lam L) H = V                                                              (15)

which smooths the estimate of EM over the graph: rows stay on the simplex. It is the exact minimizer
of a quadratic around that estimate, not the maximizer of EM's bound, so the objective may fall;
`step="safe"` goes toward it only as far as the bound does not fall (the idea of LapPLSI: Cai et
al., 2008). Pinned documents are boundary conditions of the system.

The papers print a roughness by symmetric Kullback-Leibler divergence (3), which is infinite as soon
as one of two neighbors has a zero: it is in `trace_.roughness`. What (15) smooths, and what the
objective has, is the quadratic one.

New documents join the graph, each on its own: their row of (15) is solved with the topics and the
mixtures of the training documents held fixed,

    (n(d) + lam sum_s U_ds) h_d = n(d, .) + lam sum_s U_ds h_s                         (15)

for the training documents s that are among the nearest of d, or d nearer to s than the last of its
neighbors (5). That is EM with a Dirichlet prior, so the solution is unique.

`LTM` on `views.concat()` is the papers' ConcatLTM.

Equation numbers are those of Wang et al. (2017).

In the code: (15) and the penalty are `em.penalties.graph_smoothness.GraphSmoothness`, for new
documents `em.penalties.neighbor_pull.NeighborPull`; the graph (5) is
`models._neighbors.neighbor_graph`, for new documents `graphs.new_neighbors.NeighborSearch`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from coview.em.penalties.graph_smoothness import GraphSmoothness
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.graphs.adjacency import check_graph
from coview.models._neighbors import NeighborsOfNewDocuments, neighbor_graph
from coview.models._shared import (
    check_neighbors,
    check_strength,
    free_topics,
    graph_strength,
    one_mixture,
)
from coview.params import check_choice
from coview.runners.threads import effective_threads


class LTM(NeighborsOfNewDocuments):
    """PLSA of one view with mixtures smoothed over a graph of documents.

    Parameters
    ----------
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
    graph : sparse matrix of shape (documents, documents) or None, default=None
        A graph of your own (citations, links) instead of nearest neighbors.
    smooth_new : bool, default=True
        Whether new documents (`transform`, `predict`, `score`) are smoothed over their nearest
        neighbors among the training documents, as these are in the fit. A graph of your own has no
        place for them: with `graph` they are not. To find neighbors, the model keeps the training
        data (`graph_points_`), also in its file. False keeps nothing, and folds documents in by
        their counts alone.
    step : {"paper", "safe"}, default="paper"
        M-step of the mixtures: the paper's, which may lower the objective, or a safeguarded one
        that never does.
    assign : {"argmax", "kmeans"}, default="kmeans"
        Smoothed mixtures are soft: k-means on them finds the clusters where the largest share
        may not.
    %(common_parameters)s

    Attributes
    ----------
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
    MGGM : several views, each with a graph.

    Notes
    -----
    `as_published` has the graph of Wang et al. (2017), and otherwise what its authors' own program
    has: lambda 1000, and the best of ten starts from k-means after 30 iterations. The papers leave
    open the scale of the features, and how clusters are read off the mixtures (here the largest
    share).

    References
    ----------
    D. Cai, X. Wang, X. He. Probabilistic dyadic data analysis with local and global consistency.
    ICML 2009.

    Examples
    --------
    >>> from coview import LTM
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], random_state=0)
    >>> model = LTM(3, random_state=0).fit(views.concat())
    >>> model.doc_topic_.shape
    (100, 3)
    """

    _one_view = True
    _usual_strength = 2.0
    _published: Mapping[str, Any] = {
        "strength": 1000.0,
        "strength_scale": "absolute",
        "neighbor_metric": "euclidean",
        "init": "kmeans",
        "n_init": 10,
        "max_iter": 30,
        "tol": 0.0,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        strength: float | Literal["auto"] = 2.0,
        strength_scale: str = "mass",
        n_neighbors: int = 5,
        neighbor_metric: Literal["auto", "euclidean", "tfidf"] = "auto",
        graph: Any = None,
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
        self.strength = strength
        self.strength_scale = strength_scale
        self.n_neighbors = n_neighbors
        self.neighbor_metric = neighbor_metric
        self.graph = graph
        self.smooth_new = smooth_new
        self.step = step

    def _monotone_step(self) -> bool:
        return self.step == "safe"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.strength, self.strength_scale)
        check_neighbors(self.n_neighbors, self.neighbor_metric)
        check_choice("step", self.step, ["paper", "safe"])
        check_choice("smooth_new", self.smooth_new, [True, False])

    def _coupled(self, data: Prepared, learned: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
        points = {}
        if self.graph is None:
            graph, points[data.names[0]] = neighbor_graph(
                data, 0, self.n_neighbors, self.neighbor_metric, self.n_jobs
            )
        else:
            graph = check_graph(self.graph, data.n_docs)
        strength = graph_strength(data.strength, self.strength_scale, data, [graph])
        penalty = GraphSmoothness(
            (graph,),
            strength,
            safeguard=self.step == "safe",
            n_threads=effective_threads(self.n_jobs),
        )
        return replace(data, penalty=penalty), learned | self._for_new(penalty, points)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        return one_mixture(data, free_topics(start, data), start)

    def _graphs_by_view(self, names: Sequence[str]) -> dict[str, Any]:
        return {} if self.graph is None else {names[0]: self.graph}

    def _given_graphs(self, n_docs: int) -> dict[str, sp.csr_array]:
        return {} if self.graph is None else {"graph": check_graph(self.graph, n_docs)}

    def _with_graphs(self, graphs: dict[str, sp.csr_array]) -> dict[str, Any]:
        return {"graph": graphs.get("graph")}
