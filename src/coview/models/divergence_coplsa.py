r"""DivergenceCoPLSA: a mixture for each view, held together by a divergence (Wang et al., 2016).

Model. Document d has a mixture p(z|d,v) for each view v; topic z of one view and topic z of another
are the same theme:

    p(w | d, v) = sum_z  p(w | z, v)  p(z | d, v)

Objective (to be maximized): (7) without its constants, with a weight alpha_v for each view,

    sum_v alpha_v sum_{d,w} n_v(d,w) log p(w|d,v)
        - sum_d lam_d sum_{v<u} D( p(.|d,v), p(.|d,u) )                               (8)

over the pairs of views that document d has. D is the symmetric Kullback-Leibler divergence ("skl",
KL + KL), half the squared Euclidean distance ("l2") or the sum of absolute differences ("l1").

Updates, in turn. The topics by the usual step (4); then, with the expected counts Q of a new
E-step (5), the mixtures of all views of a document together:

    max  sum_v sum_z Q_v(z) log p(z|d,v)  -  lam_d sum_{v<u} D( p(.|d,v), p(.|d,u) )    (10)

The paper maximizes (10) one view at a time, by a root in one variable, (11) to (14). That is slow
when lam is large, and for l1 it can stop at points that are not stationary; `step="paper"` does it,
the views in their order, each with the others at their latest values, and leaves such points by the
joint step (`step="literal"` does not). By default (10) is solved for
all views of a document at once, for any number of views, so each step is exact and the objective
never falls.

The paper's documents are normalized to one token a view and have one lam. Here lam_d is `strength`
times the document's weighted tokens, averaged over its views: on normalized documents this is
the paper's lambda, and doubling all counts changes nothing. `strength_scale="absolute"` takes
`strength` as lambda itself.

In the code: (4) is `em.emissions.Topics.m_step`; the penalty in (8) and the step (10) are
`em.penalties.divergence.DivergenceAgreement`, with `divergence_by_view` for (11) to (14);
`_schedule` is the order of the updates.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from coview.em.emissions import Emission
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.em.step import Update
from coview.models._shared import (
    check_pair_strength,
    free_topics,
    mixture_of_each_view,
    pair_strengths,
    share_with_pairs,
)
from coview.models._strength import PenalizedModel
from coview.params import check_choice, check_int


class DivergenceCoPLSA(PenalizedModel):
    """A mixture for each view of a document, kept close by a divergence.

    Parameters
    ----------
    divergence : {"skl", "l2", "l1"}, default="skl"
        The divergence between the mixtures of two views: symmetric Kullback-Leibler, half the
        squared Euclidean distance, or the sum of absolute differences.
    strength : float, dict of float, or "auto", default=1.0
        Weight of the divergence. A dict has one for each pair of views, by a tuple of their names
        or a text as "en,de" (pairs that it leaves out have none), and needs `step="paper"`. "auto"
        chooses one for all without labels: see :func:`coview.strength_path`. With "l1" on the
        scale of masses, values of 1 and more make the mixtures of all views equal, as in LinkPLSA.
    strength_scale : {"mass", "absolute"}, default="mass"
        "mass": 1.0 weighs as much as the document's weighted tokens in a view, so the scale of the
        counts does not matter; "absolute": the paper's lambda.
    step : {"joint", "paper", "literal"}, default="joint"
        M-step of the mixtures: of all views of a document at once, or of one view after the other
        as in the paper, which is slower and may take far more iterations. None lowers the
        objective. With "l1" the paper's step may be unable to move, far from any maximum: "paper"
        then takes the joint step in these documents, with a warning, "literal" does not.
    inner_steps : int, default=1
        Steps of the topics, and then of the mixtures, within an iteration. The paper iterates each
        to convergence, which takes 5 to 10.
    %(common_parameters)s

    Attributes
    ----------
    view_doc_topic_ : dict of ndarray of shape (documents, n_components)
        p(z|d,v) of each view; for a view that the document lacks, filled in from the others.
    doc_topic_ : ndarray of shape (documents, n_components)
        Their weighted mean over the views the document has.
    strength_ : float or dict of float
        The strength that was used, given or chosen.
    strength_path_ : StrengthPath or None
        How it was chosen, with `strength="auto"`.
    %(common_attributes)s

    See Also
    --------
    LinkPLSA : the limit of infinite strength.

    Notes
    -----
    `as_published` is for documents normalized to one token a view, which is yours to do
    (`sklearn.preprocessing.normalize` with norm="l1"). The paper chooses lambda by cross-validation
    and gives no value; it also leaves open the start and when to stop. Topics and mixtures take ten
    steps each, where it says that 5 to 10 suffice to converge.

    References
    ----------
    X. Wang, M.-C. Chang, Y. Ying, S. Lyu. Co-regularized PLSA for multi-modal learning. AAAI 2016.

    Examples
    --------
    >>> from coview import DivergenceCoPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], missing=0.2, random_state=0)
    >>> model = DivergenceCoPLSA(3, divergence="l2", random_state=0).fit(views)
    >>> model.view_doc_topic_["view_1"].shape
    (100, 3)
    """

    _usual_strength = 1.0
    _published: Mapping[str, Any] = {
        "strength_scale": "absolute",
        "step": "paper",
        "inner_steps": 10,
    }
    _streams = True

    def __init__(
        self,
        n_components: int = 10,
        *,
        divergence: str = "skl",
        strength: float | dict[Any, float] | Literal["auto"] = 1.0,
        strength_scale: str = "mass",
        step: Literal["joint", "paper", "literal"] = "joint",
        inner_steps: int = 1,
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
        self.divergence = divergence
        self.strength = strength
        self.strength_scale = strength_scale
        self.step = step
        self.inner_steps = inner_steps

    @property
    def _schedule(self) -> tuple[Update, ...]:  # type: ignore[override]
        in_turn: tuple[Update, ...] = ("emissions", "thetas")
        return tuple(update for update in in_turn for _ in range(self.inner_steps))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("divergence", self.divergence, ["skl", "l2", "l1"])
        check_pair_strength(self.strength, self.strength_scale)
        check_choice("step", self.step, ["joint", "paper", "literal"])
        check_int("inner_steps", self.inner_steps, 1)
        if isinstance(self.strength, Mapping) and self.step == "joint":
            raise ValueError(
                "strength by pairs of views needs step='paper': the joint step has one for all."
            )

    def _ensemble_share(self, data: Prepared) -> float:
        return share_with_pairs(self.strength, self.ensemble, super()._ensemble_share(data))

    def _n_slots(self, data: Prepared) -> int:
        return len(data.names)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        penalty = self._penalty(data, data.strength)
        return mixture_of_each_view(data, free_topics(start, data), start, penalty)

    def _fold_in_problem(
        self, data: Prepared, emissions: Iterable[Emission], start: Start
    ) -> Problem:
        # the penalty couples the views of one document, so it holds for new documents, too
        strength = getattr(self, "strength_", self.strength)  # early model files have the latter
        return mixture_of_each_view(data, emissions, start, self._penalty(data, strength))

    def _penalty(self, data: Prepared, given: Any) -> DivergenceAgreement:
        strength, pairs = self._pair_strengths(given, data)
        lam = self._strengths(strength, data)
        return DivergenceAgreement(self.divergence, lam, self.step, pairs)

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        """Fill in the mixtures of absent views, which no step has done without strength."""
        if self._pair_strengths(data.strength, data)[0] == 0:
            assert isinstance(problem.penalty, DivergenceAgreement)
            fixed = np.zeros(data.n_docs, bool) if data.pinned is None else data.pinned
            problem.penalty.fill(problem.mixtures, data.present, fixed)
        return problem

    def _pair_strengths(self, given: Any, data: Prepared) -> tuple[float, np.ndarray | None]:
        """Return the largest strength and the shares of pairs; new documents may lack views."""
        if not isinstance(given, Mapping):
            return float(given), None
        names = list(getattr(self, "view_names_", data.names))
        names = names if set(data.names) < set(names) else list(data.names)
        strength, pairs = pair_strengths(given, names)
        here = [names.index(n) for n in data.names]
        return strength, None if pairs is None else pairs[np.ix_(here, here)]

    def _strengths(self, strength: float, data: Prepared) -> np.ndarray:
        """Return lam_d of each document."""
        if self.strength_scale == "absolute":
            return np.full(data.n_docs, strength)
        return strength * data.mass / np.maximum(data.present.sum(axis=1), 1)
