r"""PairwiseCoPLSA: views that agree on which documents are alike (Jiang et al., 2012).

Model. Document d has a mixture p(z|d,v) for each view v, and each view has topics of its own:

    p(w | d, v) = sum_z  p(w | z, v)  p(z | d, v)                                     (2)

Two documents are as alike in view v as their mixtures are close,

    S_v(i, j) = exp( -|p(.|i,v) - p(.|j,v)|^2 / sigma )                               (7)

and the views shall agree on it. Objective (to be maximized), with weights tau_v,

    sum_v tau_v sum_{d,w} n_v(d,w) log p(w|d,v)  -  lam sum_{v<u} |S_v - S_u|_F^2  (4, 6, 15)

Updates. The E-step (9) and the topics (12) are those of PLSA. The mixtures take (13), for several
views (17), with the gradient (14): literally with `step="paper"`; with `step="safe"` a shift and a
line search make sure that the objective never falls. There, a document that needed the shift goes
only half of the way, so that no share becomes zero, which it could never leave.

Sampling. The norm runs over all pairs of documents. As in the paper (Section 5.4) a sample of pairs
is drawn once a fit; here 20 pairs a document by default, so that the cost is linear
(`pair_fraction=0.05` is the paper's 5 % of all pairs: quadratic). On the scale of masses the sample
stands for all pairs. With `strength_scale="absolute"` lam is in front of the sum over the sample
itself, as in the paper: a smaller sample pulls less.

Nothing in (4) relates topic z of one view to topic z of another. After the fit the topics of all
views are matched to those of the reference view (Hungarian method on how often they meet in a
document) and renumbered, so that mixtures of different views can be compared.

In the code: (12) is `em.emissions.Topics.m_step`; (7), (13), (14) and (17) are in
`em.penalties.similarity` and `kernels.pairs`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from coview.em.emissions import Emission, Topics
from coview.em.penalties.similarity import SimilarityAgreement, n_all_pairs, sample_pairs
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.seeds import seeded_topics
from coview.em.simplex import Room
from coview.em.starts import Start
from coview.models._shared import (
    OTHER_MODELS,
    check_pair_strength,
    free_topics,
    mixture_of_each_view,
    pair_strengths,
    share_with_pairs,
)
from coview.models._strength import PenalizedModel
from coview.params import check_choice, check_int, check_real
from coview.views.container import Views

PAIRS_PER_DOCUMENT = 20


class PairwiseCoPLSA(PenalizedModel):
    """A PLSA for each view, made to agree on the similarities between documents.

    Parameters
    ----------
    strength : float, dict of float, or "auto", default=1.0
        Weight of the agreement. A dict has one for each pair of views (Section 4.2), by a tuple of
        their names or a text as "en,de"; pairs that it leaves out do not agree. "auto" chooses one
        for all without labels: see :func:`coview.strength_path`.
    strength_scale : {"mass", "absolute"}, default="mass"
        "mass": 1.0 times the weighted tokens of all documents multiplies the mean of (S_v - S_u)^2
        over all pairs, so neither the scale of the counts nor the number of documents or of sampled
        pairs matters; "absolute": the paper's lambda, the weight of each sampled pair (0.07 there,
        with `pair_fraction=0.05`), so that more pairs are a stronger agreement.
    bandwidth : float, default=1.0
        sigma of the similarity; the squared distance of two mixtures is at most 2.
    n_pairs : int or None, default=None
        Number of sampled pairs of documents; None: 20 a document.
    pair_fraction : float or None, default=None
        Instead of `n_pairs`, the share of all pairs (0.05 in the paper; the cost is quadratic).
    reference_view : str or None, default=None
        The view whose mixtures are `doc_topic_`, or the mean of the others where a document lacks
        it; None: the mean of all, matched to the first view.
    step : {"paper", "safe"}, default="safe"
        M-step of the mixtures: the paper's, which may lower the objective, or a safeguarded one
        that never does.
    %(common_parameters)s

    Attributes
    ----------
    view_labels_ : dict of ndarray of int of shape (documents,)
        The topic of each document by each view's own mixture, in the common numbering.
    strength_ : float or dict of float
        The strength that was used, given or chosen.
    strength_path_ : StrengthPath or None
        How it was chosen, with `strength="auto"`.
    %(common_attributes)s

    Notes
    -----
    `as_published` has lambda for Reuters, 0.07 (0.03 on NUS-Wide Object, 0.005 on Corel5K), 5 % of
    all pairs, and weights that sum to one. The paper leaves open sigma, what becomes of negative
    shares in (13), the start but for its being random, and when to stop. It reports the view whose
    k-means is best by the labels: `reference_view`.

    References
    ----------
    Y. Jiang, J. Liu, Z. Li, P. Li, H. Lu. Co-regularized PLSA for multi-view clustering. ACCV 2012.

    Examples
    --------
    >>> from coview import PairwiseCoPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], random_state=0)
    >>> model = PairwiseCoPLSA(3, random_state=0).fit(views)
    >>> sorted(model.view_labels_)
    ['view_0', 'view_1']
    """

    _usual_strength = 1.0
    _published: Mapping[str, Any] = {
        "strength": 0.07,
        "strength_scale": "absolute",
        "pair_fraction": 0.05,
        "step": "paper",
        "view_weights": "equal",
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        strength: float | dict[Any, float] | Literal["auto"] = 1.0,
        strength_scale: str = "mass",
        bandwidth: float = 1.0,
        n_pairs: int | None = None,
        pair_fraction: float | None = None,
        reference_view: str | None = None,
        step: Literal["paper", "safe"] = "safe",
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
        assign: str = "argmax",
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
        self.bandwidth = bandwidth
        self.n_pairs = n_pairs
        self.pair_fraction = pair_fraction
        self.reference_view = reference_view
        self.step = step

    def _monotone_step(self) -> bool:
        return self.step == "safe"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_pair_strength(self.strength, self.strength_scale)
        check_real("bandwidth", self.bandwidth, np.finfo(float).tiny)
        check_choice("step", self.step, ["paper", "safe"])
        if self.n_pairs is not None:
            check_int("n_pairs", self.n_pairs, 1)
        if self.pair_fraction is not None:
            check_real("pair_fraction", self.pair_fraction, 0.0, 1.0)
            if self.n_pairs is not None:
                raise ValueError("Give n_pairs or pair_fraction, not both.")

    def _ensemble_share(self, data: Prepared) -> float:
        return share_with_pairs(self.strength, self.ensemble, super()._ensemble_share(data))

    def _n_slots(self, data: Prepared) -> int:
        return len(data.names)

    def _needs_all_documents(self, names: Sequence[str]) -> str:
        return OTHER_MODELS

    def _prepare_training(
        self, views: Views, labels: Any, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        data, learned = super()._prepare_training(views, labels, rng)
        return replace(data, penalty=self._penalty(data, rng)), learned

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        return mixture_of_each_view(data, free_topics(start, data), start)

    def _fold_in_problem(
        self, data: Prepared, emissions: Iterable[Emission], start: Start
    ) -> Problem:
        return mixture_of_each_view(data, emissions, start)  # no pairs: nothing couples the views

    def _penalty(self, data: Prepared, rng: np.random.Generator) -> SimilarityAgreement:
        """Draw the pairs; on the scale of masses, their sum stands for that over all pairs."""
        n_all = n_all_pairs(data.n_docs)
        wanted = PAIRS_PER_DOCUMENT * data.n_docs if self.n_pairs is None else self.n_pairs
        if self.pair_fraction is not None:
            wanted = max(1, round(self.pair_fraction * n_all))
        pairs = sample_pairs(data.n_docs, min(wanted, n_all), rng)
        strength, factors = pair_strengths(data.strength, data.names)
        if self.strength_scale == "mass":
            # the mean over the pairs; the norm counts (i,j) and (j,i). The order of the products
            # decides about the last bit.
            strength = strength * n_all / max(len(pairs), 1)
            strength *= data.mass.sum() / max(2 * n_all, 1)
        return SimilarityAgreement(pairs, strength, self.bandwidth, self.step, 0.5, factors)

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        """Number the topics of all views as the reference view does; fill in absent mixtures."""
        reference = self._reference(data)
        kept = np.empty(0, int) if data.seeds is None else seeded_topics(data.seeds)
        topics: list[Emission] = []
        for v in range(len(data.names)):
            both = data.present[:, reference] & data.present[:, v]
            order = _matching(problem.mixtures[reference][both], problem.mixtures[v][both], kept)
            problem.mixtures[v][:] = problem.mixtures[v][:, order]
            topics.append(Topics.from_rows(problem.emissions[v].by_term[:, order].T, data.dtype))
        return self._fill_absent(replace(problem, emissions=tuple(topics)), data)

    def _run_labels(self, problem: Problem, data: Prepared, seed: int) -> np.ndarray:
        # topics of different views correspond only when the run is finished
        copied = replace(problem, thetas=tuple(theta.copy() for theta in problem.thetas))
        return super()._run_labels(self._finish(copied, data), data, seed)

    def _reference(self, data: Prepared) -> int:
        """Return the view whose topics keep their numbers: one with counts."""
        filled = [n for n, matrix in zip(data.names, data.matrices, strict=True) if matrix.nnz]
        wanted = self.reference_view
        return data.names.index(wanted if wanted in filled else filled[0])

    def _fill_absent(self, problem: Problem, data: Prepared) -> Problem:
        """Give each view that a document lacks the mean of the others."""
        mean = super()._consensus(problem.mixtures, problem.slots, data)
        for v, mixture in enumerate(problem.mixtures):
            absent = ~data.present[:, v]
            mixture[absent] = mean[absent]
        return problem

    def _consensus(
        self,
        mixtures: Sequence[np.ndarray],
        slots: Sequence[int],
        data: Prepared,
        room: Room = np.empty,
    ) -> np.ndarray:
        mean = super()._consensus(mixtures, slots, data, room)
        if self.reference_view is None or self.reference_view not in data.names:
            return mean
        reference = data.names.index(self.reference_view)
        return np.where(data.present[:, [reference]], mixtures[reference], mean)

    def _training_views(self, X: Any, on_disk: bool = False) -> Any:
        views = super()._training_views(X, on_disk)
        check_choice("reference_view", self.reference_view, [None, *views.names])
        return views

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        labels = [mixture.argmax(axis=1) for mixture in problem.mixtures]
        return {"view_labels_": dict(zip(data.names, labels, strict=True))}


def _matching(
    reference: np.ndarray, other: np.ndarray, kept: Sequence[int] | np.ndarray = ()
) -> np.ndarray:
    """Return which topic of `other` is topic 0, 1, ... of the reference; `kept` keep theirs."""
    if reference.shape[0] == 0:
        return np.arange(reference.shape[1])
    meet = reference.T.astype(float) @ other
    for z in kept:  # seeds have numbered them in all views
        meet[z, z] += len(reference) + 1  # more than two topics can meet in all documents
    return linear_sum_assignment(meet, maximize=True)[1]
