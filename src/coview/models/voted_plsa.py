r"""VotedPLSA: documents on which the views agree start a clustering of all (Kim et al., 2010).

Stage one. A PLSA for each view assigns every document to a topic of the view; the tuple of the V
topics is the document's voting pattern. The C most frequent patterns are the cluster signatures,
without those that match a more frequent one: they would split one group in two. Topics of different
views need not correspond: patterns are only compared with patterns.

A document with at least V - 1 votes in common with a signature (both votes when V = 2) is assigned
to its cluster beforehand; of several signatures the one with most votes in common, then the larger
group. A document that lacks views is assigned when it has at least two votes, all in agreement.

Stage two. PLSA with C topics on the concatenated views,

    p(w | d) = sum_c  p(w | c)  p(c | d)

in which pre-assigned documents keep p(c|d) = 1 for their cluster and the others are placed by EM,
which never lowers the likelihood. p(w|c) starts from the words of the documents assigned to c, with
1 % of the corpus distribution, without which a word unseen there would keep probability 0;
a cluster without documents starts from the perturbed corpus distribution. The paper numbers no
equations.

The paper notes that any mixture model may take the place of PLSA, such as LDA: in stage one that is
`voter`, in stage two `second_stage`, which holds the pre-assigned documents as PLSA does if it is
scikit-learn's LatentDirichletAllocation (`models._estimators` says how). Or in both stages
`doc_topic_prior` and `topic_word_prior` make PLSA the LDA with these priors, estimated by maximum a
posteriori.

In the code: `_vote` is stage one, `signatures` and `preassign` are the rule; stage two is the EM of
all models with the pre-assigned documents as pins. The concatenated p(w|c) is kept by view: its
share p(v|c) in `view_shares_` and p(w|c,v) in `components_`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from coview.base import BaseViewsModel
from coview.em.emissions import Topics
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.scaling import real_views
from coview.em.seeds import order_by_seeds
from coview.em.starts import NamedStart, Start, label_start, pinned_start, random_start
from coview.em.step import Update
from coview.models._estimators import (
    check_second_stage,
    second_stage_start,
    shares_method,
    topic_shares,
    with_seed,
)
from coview.models._shared import OTHER_MODELS, free_topics, one_mixture
from coview.models.plsa import PLSA
from coview.params import check_choice, seed_of_run
from coview.views.container import Views

Signature = tuple[tuple[int, ...], int]  # a voting pattern, and how many documents have it


class VotedPLSA(BaseViewsModel):
    """PLSA on all views, started from the documents on which a PLSA of each view agrees.

    Parameters
    ----------
    n_components : int, default=10
        Topics of each view, and clusters of documents.
    voter : estimator or None, default=None
        The estimator that clusters each view, with `fit` and `predict_proba` for sparse matrices,
        or with `transform` to shares of topics, as scikit-learn's LatentDirichletAllocation.
        None: a PLSA with this model's parameters. Where its `random_state` is None, it gets the
        seed of the fit.
    second_stage : estimator or None, default=None
        The estimator that clusters the documents from all views side by side, each times its
        weight; None: PLSA. With scikit-learn's LatentDirichletAllocation(n_components), documents
        assigned by vote are held in its iterations as in PLSA's. Any other estimator, with `fit`,
        `components_` and `transform` or `predict_proba` to shares of topics, cannot hold them: it
        is fitted to all documents, its topics are matched with the clusters by these documents,
        and they keep their cluster afterward. `components_` and `doc_topic_` are its topics and
        shares; `objective_` is their log-likelihood, and `max_iter` and `tol` are for the voters
        alone. New documents are folded in by EM under these topics, as in every model, so that a
        saved model needs no estimator. Seeds as in `voter`.
    signatures : {"greedy", "frequent"}, default="greedy"
        Which patterns become clusters: the most frequent ones ("frequent"), or ("greedy") those
        without the ones that match a more frequent pattern.
    %(common_parameters)s

    Attributes
    ----------
    signatures_ : list of tuple of int
        The voting pattern of each cluster: a vote for each of `voters_`.
    preassigned_ : ndarray of int of shape (documents,)
        The cluster of documents assigned by vote, -1 for the others.
    coverage_ : float
        The share of documents assigned by vote.
    view_shares_ : ndarray of shape (n_components, views)
        p(v|c), the share of each view in a cluster's words.
    voters_ : dict of estimator
        The fitted estimator of each view that has counts.
    %(common_attributes)s

    Notes
    -----
    `as_published` takes the most frequent patterns as signatures, and PLSA from random topics in
    both stages. The paper leaves open which of several signatures claims a document, what becomes
    of words that no document assigned by vote has, and when to stop.

    References
    ----------
    Y.-M. Kim, M.-R. Amini, C. Goutte, P. Gallinari. Multi-view clustering of multilingual
    documents. SIGIR 2010.

    Examples
    --------
    >>> from coview import VotedPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40, 30], random_state=0)
    >>> model = VotedPLSA(3, random_state=0).fit(views)
    >>> len(model.signatures_), model.coverage_ > 0.5
    (3, True)
    """

    _published: Mapping[str, Any] = {"signatures": "frequent"}

    def __init__(
        self,
        n_components: int = 10,
        *,
        voter: Any = None,
        second_stage: Any = None,
        signatures: str = "greedy",
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
        self.voter = voter
        self.second_stage = second_stage
        self.signatures = signatures

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("signatures", self.signatures, ["greedy", "frequent"])
        if self.voter is not None and not shares_method(self.voter):
            raise ValueError(f"voter must have predict_proba or transform; got {self.voter!r}.")
        if self.second_stage is not None:
            check_second_stage(self.second_stage, self.n_components, self.seeds)

    def _needs_all_documents(self, names: Sequence[str]) -> str:
        return OTHER_MODELS

    def _prepare_training(
        self, views: Views, labels: Any, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        data, learned = super()._prepare_training(views, labels, rng)
        # the seed of the fit: voters equal the PLSA that a user would fit to each view with it
        votes, voters = self._vote(data, real_views(learned["scaling_"]), seed_of_run(rng))
        chosen = signatures(votes, self.n_components, self.signatures)
        assigned = preassign(votes, chosen)
        if data.labels is not None:
            assigned = _numbered_as(data.labels, assigned, self.n_components)
        elif data.seeds is not None:
            assigned = _numbered_by_seeds(data, assigned, self.n_components)
        learned |= {
            "voters_": voters,
            "signatures_": [pattern for pattern, _ in chosen],
            "preassigned_": assigned,
            "coverage_": float((assigned >= 0).mean()),
        }
        given = data.labels
        pins = assigned if given is None else np.where(given >= 0, given, assigned)
        return replace(data, labels=pins if (pins >= 0).any() else None), learned

    def _vote(
        self, data: Prepared, real: list[str], seed: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the topic of each document in each view, -1 where it lacks the view, and voters.

        Views without a single count have no column: they cannot vote, and need not agree.
        """
        filled = [v for v, matrix in enumerate(data.matrices) if matrix.nnz]
        votes, voters = np.full((data.n_docs, len(filled)), -1), {}
        for column, v in enumerate(filled):
            name, matrix = data.names[v], data.matrices[v]
            rows = np.flatnonzero(data.present[:, v])
            voter = voters[name] = self._voter(name in real, seed).fit(matrix[rows])
            # the mixtures of the fit, where the voter keeps them; otherwise it sees them once more
            if hasattr(voter, "doc_topic_"):
                shares = voter.doc_topic_
            else:
                shares = topic_shares(voter, matrix[rows], "voter", f"view {name!r}")
            votes[rows, column] = shares.argmax(axis=1)
        return votes, voters

    def _voter(self, real: bool, seed: int) -> Any:
        if self.voter is not None:
            return with_seed(clone(self.voter), seed)
        names = PLSA().get_params()
        kept = names.keys() - {"view_weights", "ensemble"}  # of several views
        params = {k: value for k, value in self.get_params(deep=False).items() if k in kept}
        if not isinstance(params["init"], str) or params["init"] in ("naive_bayes", "seeds"):
            params["init"] = "auto"  # mixtures and labels are of clusters, not of a view's topics
        if real:  # scaled already: with all features to [0, 1] it would be another view
            params["scaling"] = None
        own = {"seeds": None, "random_state": seed, "verbose": 0}
        return PLSA(**{**params, **own})

    def _starts_from_ensemble(self, data: Prepared) -> bool:
        return False  # but from the vote

    def _starts(
        self, data: Prepared, views: Views, rng: np.random.Generator, restart: int
    ) -> Sequence[NamedStart]:
        start = pinned_start(random_start(data, self.n_components, rng), data)
        if self.second_stage is None:
            return [("vote", lambda: start)]
        estimator = with_seed(clone(self.second_stage), seed_of_run(rng))
        return [("second_stage", lambda: second_stage_start(estimator, start, data))]

    @property
    def _schedule(self) -> tuple[Update, ...]:  # type: ignore[override]
        return ("both",) if self.second_stage is None else ("nothing",)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        return one_mixture(data, free_topics(start, data), start, concatenated=True)

    def _fold_in_topics(self, components: Mapping[str, np.ndarray], data: Prepared) -> list[Topics]:
        # p(w|c) = p(v|c) p(w|c,v)
        shares = dict(zip(self.view_names_, self.view_shares_.T, strict=True))
        return [
            Topics.from_rows(shares[n][:, None] * components[n], data.dtype) for n in data.names
        ]

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        whole = [e.by_term[:, : problem.n_topics].T for e in problem.emissions]
        shares = [p.sum(axis=1, keepdims=True, dtype=np.float64) for p in whole]
        components = {}
        for name, matrix, p, share in zip(data.names, data.matrices, whole, shares, strict=True):
            corpus = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel()
            usual = np.tile(corpus / max(corpus.sum(), 1e-300), (len(p), 1))
            components[name] = np.divide(p, share, out=usual, where=share > 0).astype(data.dtype)
        given = np.hstack(shares[: len(data.without_ensemble_view().names)])
        given /= np.maximum(given.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return {"components_": components, "view_shares_": given.astype(data.dtype)}


def votes_needed(n_views: int) -> int:
    """Return how many votes must agree: all but one of three or more, otherwise all."""
    return n_views - 1 if n_views >= 3 else n_views


def signatures(votes: np.ndarray, n_clusters: int, rule: str) -> list[Signature]:
    """Return the most frequent complete patterns, largest first, ties in lexicographic order."""
    complete = votes[(votes >= 0).all(axis=1)]
    patterns, sizes = np.unique(complete, axis=0, return_counts=True)
    chosen: list[Signature] = []
    for i in np.argsort(-sizes, kind="stable"):
        claimed = any(
            (patterns[i] == other).sum() >= votes_needed(votes.shape[1]) for other, _ in chosen
        )
        if len(chosen) < n_clusters and not (rule == "greedy" and claimed):
            chosen.append((tuple(map(int, patterns[i])), int(sizes[i])))
    return chosen


def preassign(votes: np.ndarray, chosen: list[Signature]) -> np.ndarray:
    """Return the cluster of each document by its votes, -1 where no signature matches.

    Of several: most votes in common, then the larger group, then the earlier signature.
    """
    n_votes = (votes >= 0).sum(axis=1)
    complete = n_votes == votes.shape[1]
    needed = np.where(complete, votes_needed(votes.shape[1]), np.maximum(n_votes, 2))
    assigned, best = np.full(len(votes), -1), np.full(len(votes), -1)
    for c, (pattern, _) in enumerate(chosen):  # in order of size, so the first of equals is larger
        common = (votes == pattern).sum(axis=1)
        better = (common >= needed) & (common > best)
        assigned[better], best[better] = c, common[better]
    return assigned


def _numbered_as(labels: np.ndarray, assigned: np.ndarray, n_clusters: int) -> np.ndarray:
    """Renumber clusters so that they agree best with the labels of the labeled documents."""
    both = (labels >= 0) & (assigned >= 0)
    meet = np.zeros((n_clusters, n_clusters))
    np.add.at(meet, (assigned[both], labels[both]), 1)
    number = linear_sum_assignment(meet, maximize=True)[1]
    return np.where(assigned >= 0, number[assigned], -1)


def _numbered_by_seeds(data: Prepared, assigned: np.ndarray, n_clusters: int) -> np.ndarray:
    """Renumber clusters so that their documents have the seed words of their topics."""
    topics = label_start("vote", assigned, n_clusters, replace(data, labels=None)).p_w_z
    number = np.argsort(order_by_seeds(topics, data))
    return np.where(assigned >= 0, number[assigned], -1)
