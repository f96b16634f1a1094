"""`auto`: choose a model for the data, fit it, and say why.

The choice uses nothing that a user could not give by hand: it ends in one line of Python, and in
one command, that fit the same model to the bit.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import learn_scaling, scaled
from coview.ensemble.copies import near_copies
from coview.ensemble.features import view_features
from coview.ensemble.reliability import ViewReliability, documents_with_counts
from coview.ensemble.spaces import is_links
from coview.models import model_class, topic_model
from coview.params import check_choice, check_int
from coview.views.container import Views
from coview.views.density import DENSE, has_negatives, is_dense, is_dense_real, is_sparse_counts
from coview.wording import listing, plural, quoted

if TYPE_CHECKING:
    from coview.selection.topics import TopicSelection

DENSE_ENSEMBLE = 0.2  # share of the ensemble's view where a single view is dense
FEWEST_COMPARED = 20  # documents; below it there is nothing to compare
UNSEEN = ("n_jobs", "verbose")  # parameters that do not change a result
NOISE = 0.1  # a view that is trusted less tells next to nothing
BY_CHANCE = 0.1  # replicability below which clusters are hardly more than chance
MOST_NAMED = 12  # views, families and copies that a sentence lists
SHORT_LIST = 5  # views that the first screen lists
WIDTH = 88  # of printed sentences


def auto(
    views: Any,
    n_components: int | None = None,
    labels: Any = None,
    random_state: Any = 0,
    *,
    detail: str = "fine",
    verbose: bool = True,
) -> Any:
    """Choose a model for the data, fit it, and say why.

    Parameters
    ----------
    views : Views, dict of matrices, list of matrices, or one matrix
        As in `fit` of the models.
    n_components : int, optional
        Number of topics. By default the number of classes if there are labels, otherwise what
        :func:`coview.select_topics` suggests. Many topics get a tree, `topic_tree_`, in which
        they are part of coarser ones.
    labels : array-like of shape (documents,), optional
        The class of each document, for a classifier; None, NaN, -1 or an empty text if it is not
        known. Numbers or texts; the classifier answers in the same. Labels that `views` carry are
        not used unless they are given here.
    random_state : int, Generator, RandomState or None, default=0
        As in the models.
    detail : {"fine", "coarse"}, default="fine"
        Which end of the supported numbers of topics to take.
    verbose : bool, default=True
        Say on standard error what was chosen, in at most six lines. All reasons are in `why_`.

    Returns
    -------
    fitted model, or TopicClassifier if there are labels
        Its attribute `why_` holds the reasons: `sentences`, `numbers`, `python` and `command`.

    Examples
    --------
    >>> import coview
    >>> from coview.datasets import make_views
    >>> views = make_views(200, 4, [60, 60], random_state=0)
    >>> model = coview.auto(views, 4, verbose=False)
    >>> print(model.why_.python)
    coview.LinkPLSA(4, random_state=0).fit(views)
    """
    choice = choose(views, n_components, labels, {"random_state": random_state}, detail=detail)
    fitted = choice.estimator().fit(views, *([labels] if choice.classify else []))
    choice.finish(fitted, views)
    if verbose:
        print("\n".join(choice.summary(fitted)), file=sys.stderr)
    return fitted


# -- the reasons -----------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Why:
    """Why a model is as it is, in words and numbers, and how to fit it by hand.

    Attributes
    ----------
    sentences : tuple of str
        The reasons.
    numbers : dict
        What they rest on, as plain data: of each view, of the clusterings, of the fit.
    python : str
        The line that fits the same model, to the bit, to the same `views` (and `labels`).
    command : str
        The command that does.
    """

    sentences: tuple[str, ...]
    numbers: dict[str, Any]
    python: str
    command: str

    def __str__(self) -> str:
        kept = (s.replace(" %", "\xa0%") for s in self.sentences)  # no line begins with a percent
        lines = (fill(s, WIDTH, initial_indent="- ", subsequent_indent="  ") for s in kept)
        reasons = "\n".join(lines).replace("\xa0%", " %")
        return (
            f"{reasons}\nThe same by hand, in Python:\n  {self.python}\n"
            f"and on the command line:\n  {self.command}"
        )

    __repr__ = __str__  # what an interactive session shows

    def as_data(self) -> dict[str, Any]:
        """Return all of it as plain data, for JSON."""
        return {**asdict(self), "sentences": list(self.sentences)}


# -- the choice ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A model that was chosen but not fitted.

    Attributes
    ----------
    model_name : str
        Its short name.
    model : model, not fitted
    chosen : dict
        Its parameters that are neither the defaults nor given by the user.
    classify : bool
        Whether it is to be fitted as a classifier.
    facts : Facts
        What the data hold.
    about_topics : str
        Why it has this number of topics.
    sentences : tuple of str
        The reasons that are known before the fit.
    selection : TopicSelection or None
        The numbers of topics that were compared.
    """

    model_name: str
    model: Any
    chosen: dict[str, Any]
    classify: bool
    facts: Facts
    about_topics: str
    sentences: tuple[str, ...]
    selection: TopicSelection | None = None

    def estimator(self) -> Any:
        """Return what is to be fitted."""
        from coview.classifier import TopicClassifier

        return TopicClassifier(self.model) if self.classify else self.model

    def finish(self, fitted: Any, views: Any, command: str | None = None) -> None:
        """Give a fitted model its reasons, and the tree of its topics.

        `command` is the command that does the same, where the files of the data are known.
        """
        model = topic_model(fitted)
        if not self.classify:
            from coview.tree import grow_tree

            grow_tree(model, views, None if self.selection is None else self.selection.levels)
        given = _given(self.model) | {"random_state": int(model.random_state_used_)}
        found = (
            *_about_trust(_trust(fitted)),
            *_about_clusterings(model.trace_.ensemble),
            _about_start(self._start(model), len(model.trace_.candidates), model.n_iter_),
        )
        fitted.why_ = Why(
            (*self.sentences, *found),
            _numbers(self.facts, fitted) | {"start": self._start(model)},
            _python_line(type(model).__name__, model.n_components, given, self.classify),
            command or _command(self.model_name, model.n_components, given, self.classify),
        )

    def summary(self, fitted: Any, command: bool = False) -> list[str]:
        """Return what was chosen in at most six lines, for the first screen."""
        views = [_in_short(view, self.facts.n_docs) for view in self.facts.views[:SHORT_LIST]]
        more = len(self.facts.views) - len(views)
        number = self.about_topics
        if self.selection is not None and command:
            number = f"{self.selection.in_short('--topics ')}."
        lines = [
            f"{plural(self.facts.n_docs, 'document')}: {'; '.join(views)}"
            f"{f'; and {more} more' if more else ''}.",
            f"{type(topic_model(fitted)).__name__} with {number}",
        ]
        trust = _trust(fitted)
        if trust is not None:
            lines.append(f"Views by how far they can be trusted: {_listed(trust, SHORT_LIST)}.")
        lines += [
            f"{quoted(a)} and {quoted(b)} may be copies." for a, b, _ in self.facts.copies[:1]
        ]
        by_hand, why = (
            (fitted.why_.command, "--why") if command else (fitted.why_.python, "model.why_")
        )
        return [*lines, f"The same by hand: {by_hand}", f"All reasons: {why}"]

    def _start(self, model: Any) -> str:
        """Return the name of the start."""
        tried = [(found, name) for name, found in model.trace_.candidates if np.isfinite(found)]
        if tried:
            return max(tried)[1]
        if model.init != "auto":
            return str(model.init)
        if model.trace_.ensemble is not None:
            return "consensus"
        if model.n_components == 1 or not (self.classify or model.seeds):
            return "random"
        return "guess" if self.classify else "seeds"


def choose(
    views: Any,
    n_components: int | Sequence[int] | None = None,
    labels: Any = None,
    params: Mapping[str, Any] | None = None,
    *,
    detail: str = "fine",
    verbose: int = 0,
) -> Choice:
    """Choose a model for the data: what `auto` does before it fits.

    `n_components` may be several numbers to choose from, `params` are parameters of the model that
    the user has set.
    """
    views = views if isinstance(views, Views) else Views(views)
    check_choice("detail", detail, ["fine", "coarse"])
    classes, n_labeled = _classes(labels)
    classify, given = len(classes) > 0, dict(params or {})
    facts = look_at(views)
    seed = given.get("random_state")
    n_topics, about_topics, selection = _topics(
        views, n_components, len(classes), seed, detail, verbose
    )
    if classify:
        about_topics += f" {n_labeled:,} of {plural(views.n_docs, 'document')} have a label."
    name = "plsa" if views.n_views == 1 else "link"
    dense = views.n_views == 1 and facts.views[0].filled > DENSE and not classify
    chosen = {"ensemble": DENSE_ENSEMBLE} if dense and "ensemble" not in given else {}
    sentences = (
        *_about_data(facts, not classify and n_topics > 1, _learns_weights(given)),
        about_topics
        if selection is None
        else f"{about_topics} {selection.confidence.capitalize()} confidence: {selection.reason}",
        _ABOUT_MODEL[name],
        *([_ABOUT_DENSE] if chosen else []),
        *_about_parameters(given),
        *_about_labels(views, labels, len(classes)),
    )
    model = model_class(name)(n_topics, **chosen, **given)
    return Choice(name, model, chosen, classify, facts, about_topics, sentences, selection)


def _learns_weights(given: Mapping[str, Any]) -> bool:
    """Return whether the weights of the views follow from how far they can be trusted."""
    weights = given.get("view_weights", "learn")
    return isinstance(weights, ViewReliability) or (isinstance(weights, str) and weights == "learn")


def _classes(labels: Any) -> tuple[np.ndarray, int]:
    """Return the classes, and how many documents have one."""
    from coview.classifier import check_targets, class_codes

    if labels is None:
        return np.empty(0), 0
    classes, codes = class_codes(check_targets(labels))
    return classes, int((codes >= 0).sum())


# -- the number of topics --------------------------------------------------------------------------


def _topics(
    views: Views,
    wanted: int | Sequence[int] | None,
    n_classes: int,
    random_state: Any,
    detail: str,
    verbose: int,
) -> tuple[int, str, TopicSelection | None]:
    """Return the number of topics, why it is this one, and the numbers that were compared."""
    if n_classes:
        if wanted not in (None, n_classes):
            raise ValueError(
                f"With labels the topics are the classes, and the labels have {n_classes}; got "
                f"n_components={wanted}. Leave it out, or fit "
                f"LinkPLSA({wanted}).fit(views, labels=...), which takes numbers of topics."
            )
        return n_classes, f"{plural(n_classes, 'topic')}: one for each class of the labels.", None
    if wanted is not None and not isinstance(wanted, Sequence):
        number = check_int("n_components", wanted, 1)
        return number, f"{plural(number, 'topic')}, as you asked.", None
    if wanted is None and views.n_docs < FEWEST_COMPARED:
        n = min(2, views.n_docs)
        few = f"{plural(n, 'topic')}: too few documents to compare numbers of topics."
        return n, few, None
    from coview.selection.topics import select_topics

    seed = random_state if isinstance(random_state, int) else 0
    found = select_topics(views, wanted, detail=detail, random_state=seed, verbose=verbose)
    if found.suggestion is None:
        raise ValueError(
            f"{found.sentence} If you want topics anyway, say how many: n_components=10, or "
            "--topics 10 on the command line."
        )
    return found.suggestion, f"{found.in_short()}.", found


# -- the data --------------------------------------------------------------------------------------

COUNTS, WEIGHTS, MEASUREMENTS, LINKS = "counts", "weights", "measurements", "links"


@dataclass(frozen=True)
class ViewFacts:
    """What a view holds.

    Attributes
    ----------
    name : str
    kind : {"counts", "weights", "measurements", "links"}
        Whole numbers, sparse weights, dense real numbers, or a graph of the documents.
    n_terms : int
    n_docs : int
        Documents that have anything in the view.
    filled : float
        Share of the cells that are not zero, among the documents that have the view.
    """

    name: str
    kind: str
    n_terms: int
    n_docs: int
    filled: float


@dataclass(frozen=True)
class Facts:
    """What the data hold: `views`, and `copies`, pairs of views with the correlation of them."""

    n_docs: int
    views: tuple[ViewFacts, ...]
    copies: tuple[tuple[str, str, float], ...]

    def of_kind(self, kind: str) -> list[str]:
        """Return the names of the views of this kind that any document has."""
        return [v.name for v in self.views if v.kind == kind and v.n_docs]


def look_at(views: Views) -> Facts:
    """Return what the data hold; the same for the same data."""
    has = documents_with_counts(list(views.matrices.values()), views.present)
    found = tuple(
        _view_facts(name, matrix, views.present[:, v], int(has[:, v].sum()))
        for v, (name, matrix) in enumerate(views.matrices.items())
    )
    scaling = learn_scaling(views.matrices, views.present, "auto")
    matrices = (
        scaled(name, matrix, views.present[:, v], scaling)
        for v, (name, matrix) in enumerate(views.matrices.items())
    )
    pairs = near_copies([view_features(m) for m in matrices], has)
    named = tuple((views.names[u], views.names[v], likeness) for u, v, likeness in pairs)
    return Facts(views.n_docs, found, named)


def _view_facts(name: str, matrix: sp.csr_array, present: np.ndarray, n_docs: int) -> ViewFacts:
    rows = matrix if present.all() else matrix[np.flatnonzero(present)]
    filled = rows.nnz / max(rows.shape[0] * rows.shape[1], 1)
    return ViewFacts(name, _kind(matrix, rows), matrix.shape[1], n_docs, filled)


def _kind(matrix: sp.csr_array, rows: sp.csr_array) -> str:
    if has_negatives(rows) or (rows.shape[0] > 1 and is_dense_real(rows)):
        return MEASUREMENTS  # which the models scale
    if is_links(matrix) and matrix.nnz:
        return LINKS
    return COUNTS if is_sparse_counts(rows) or is_dense(rows) else WEIGHTS


# -- the reasons before the fit --------------------------------------------------------------------

_ABOUT_MODEL = {
    "link": "LinkPLSA: all views share one mixture of topics for each document. The weights of the "
    "views are learned, and there is no penalty whose strength would have to be chosen.",
    "plsa": "PLSA, since there is one view: there are no weights and no strength to choose.",
}
_ABOUT_DENSE = (
    "More than half of the cells are not zero, which it does not fit well: so clusterings of the "
    f"documents are made one more view within the model (ensemble={DENSE_ENSEMBLE})."
)


def _about_data(facts: Facts, clustered: bool, learned: bool = True) -> Iterator[str]:
    """Yield what there is: documents and views, and what is special about some of them.

    `clustered` says whether the fit begins with clusterings of the documents, `learned` whether the
    weights of the views are learned.
    """
    shown = "; ".join(_describe(view) for view in facts.views[:MOST_NAMED])
    more = "" if len(facts.views) <= MOST_NAMED else "; and others"
    documents, views = plural(facts.n_docs, "document"), plural(len(facts.views), "view")
    yield f"The data have {documents} and {views}: {shown}{more}."
    nobody = [v.name for v in facts.views if not v.n_docs]
    if nobody:
        views = f"view{'s' if len(nobody) > 1 else ''} {listing(nobody)}"
        yield f"No document has anything in {views}, which the model leaves out."
    fewer = [v for v in facts.views if 0 < v.n_docs < facts.n_docs]
    if fewer:
        numbers = ", ".join(f"{quoted(v.name)} {v.n_docs:,}" for v in fewer[:MOST_NAMED])
        yield (
            f"Not all documents have all views: {numbers} of {facts.n_docs:,}. A view that a "
            "document lacks has no part in its topics."
        )
    yield from _about_kinds(facts, clustered)
    for one, other, likeness in facts.copies[:MOST_NAMED]:
        yield (
            f"Views {quoted(one)} and {quoted(other)} may be copies of one source: the same "
            f"documents are alike in both (correlation of the similarities {likeness:.2f}). "
            + (
                "They share the weight of one view, so that they do not outvote the others."
                if learned
                else "With the weights that you gave they can outvote the others: if they are "
                "copies, leave one out."
            )
        )


def _describe(view: ViewFacts) -> str:
    terms = plural(view.n_terms, "document" if view.kind == LINKS else "feature")
    words = f"{view.kind} {'to' if view.kind == LINKS else 'of'} {terms}"
    return f"{quoted(view.name)} ({words}, {_percent(view.filled)} of the cells not zero)"


def _in_short(view: ViewFacts, n_docs: int) -> str:
    lacking = "" if view.n_docs == n_docs else f" in {view.n_docs:,}"
    return f"{quoted(view.name)} ({view.kind}, {view.n_terms:,} columns{lacking})"


def _about_kinds(facts: Facts, clustered: bool) -> Iterator[str]:
    links, measured = facts.of_kind(LINKS), facts.of_kind(MEASUREMENTS)
    if links:
        yield (
            f"Graphs of the documents (square, symmetric, sparse): {listing(links, MOST_NAMED)}. "
            f"{'The clusterings follow the links; the' if clustered else 'The'} model counts them "
            "like words."
        )
    if measured:
        yield (
            f"Dense measurements: {listing(measured, MOST_NAMED)}. The model scales them, and fits "
            "them less well than counts of words"
            + ("; clusterings of the documents within it make up for that." if clustered else ".")
        )


def _about_parameters(given: Mapping[str, Any]) -> list[str]:
    yours = _arguments({n: v for n, v in given.items() if n != "random_state"})
    return [f"As you asked: {yours}."] if yours else []


def _about_labels(views: Views, labels: Any, n_classes: int) -> list[str]:
    if n_classes:
        return [
            "TopicClassifier, whose topics are the classes, holds labeled documents in their "
            "classes and finds the classes of the others."
        ]
    if labels is not None:
        return ["No document has a label, so there is nothing to classify: topics are found."]
    if views.labels is not None:
        return [
            "The documents have labels, which were not used; a classifier uses them "
            "(labels=views.labels; on the command line --classify)."
        ]
    return []


# -- the reasons after the fit ---------------------------------------------------------------------


def _about_trust(trust: Mapping[str, float] | None) -> Iterator[str]:
    """Yield how far each view can be trusted, and which tell nothing."""
    if trust is None:
        return
    yield (
        "How far each view can be trusted, by what half of it tells about the other half "
        f"and about the other views (0 to 1): {_listed(trust)}. The weights follow from it."
    )
    for name in (n for n, t in trust.items() if t < NOISE):
        yield (
            f"View {quoted(name)} tells next to nothing about the documents (trust "
            f"{trust[name]:.2f}), so it has next to no weight; view_weights would give it one."
        )


def _about_clusterings(ensemble: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what was tried in the ensemble of clusterings, and what came of it."""
    if ensemble is None:
        return
    found = dict(sorted(ensemble["replicability"].items(), key=lambda item: -item[1]))
    yield (
        f"The documents were clustered in {len(found)} ways. By how well the clusters from half of "
        "the features come back in the other half (1: all the same, 0: chance): "
        f"{_listed(found)}. The better ones have a larger say."
    )
    if max(found.values()) < BY_CHANCE:
        yield (
            "Even the best of them is hardly better than chance: these data may have no clear "
            "groups, or not at this number of topics."
        )
    if ensemble["share"] > 0:
        yield (
            f"These {len(ensemble['weights'])} clusterings are also one more view within the "
            f"model (ensemble={ensemble['share']:g}: its share of the weighted counts)."
        )


def _about_start(start: str, n_tried: int, n_iter: int) -> str:
    """Return where EM began, and how long it took."""
    where = {
        "consensus": "the clusters on which the clusterings agree",
        "naive_bayes": "the topics of the labeled documents",
        "seeds": "the documents with seed words",
        "random": "random topics",
    }.get(start, start)
    best = f", the best of {n_tried} starts" if n_tried > 1 else ""
    return f"EM began at {where}{best}, and ended after {plural(n_iter, 'iteration')}."


def _trust(fitted: Any) -> dict[str, float] | None:
    """Return how far each view can be trusted, where the fit has measured it."""
    return getattr(fitted, "view_trust_", None) or topic_model(fitted).view_reliability_


def _numbers(facts: Facts, fitted: Any) -> dict[str, Any]:
    """Return what the reasons rest on, as plain data."""
    model, trust = topic_model(fitted), _trust(fitted) or {}
    ensemble = model.trace_.ensemble or {}
    own: dict[str, float] = {}
    if ensemble:
        diagonal = np.diag(ensemble["reliability"]).tolist()
        own = dict(zip(ensemble["view_weights"], diagonal, strict=True))
    by_view = {
        view.name: {
            **{n: value for n, value in asdict(view).items() if n != "name"},
            "trust": trust.get(view.name),
            "reliability": own.get(view.name),
            "weight": float(model.view_weights_[view.name]),
        }
        for view in facts.views
    }
    return {
        "documents": facts.n_docs,
        "topics": int(model.n_components),
        "views": by_view,
        "copies": [list(pair) for pair in facts.copies],
        "replicability": dict(ensemble.get("replicability", {})),
        "clusterings": len(ensemble.get("weights", [])),
        "ensemble": float(ensemble.get("share", 0.0)),
        "iterations": int(model.n_iter_),
        "objective": float(model.objective_),
    }


# -- the same by hand ------------------------------------------------------------------------------


def _given(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that are not the defaults, but for its number of topics."""
    defaults = type(model)().get_params(deep=False)
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("n_components", *UNSEEN) and repr(value) != repr(defaults[name])
    }


def _arguments(given: Mapping[str, Any]) -> str:
    """Return parameters as the arguments of a call, without those that change no result."""
    return ", ".join(f"{name}={value!r}" for name, value in given.items() if name not in UNSEEN)


def _python_line(cls: str, n_topics: int, given: Mapping[str, Any], classify: bool) -> str:
    model = f"coview.{cls}({n_topics}, {_arguments(given)})"
    if classify:
        return f"coview.TopicClassifier({model}).fit(views, labels)"
    return f"{model}.fit(views)"


def _command(name: str, n_topics: int, given: Mapping[str, Any], classify: bool) -> str:
    """Return the command for views saved in a folder."""
    topics = ["--classify"] if classify else ["--topics", str(n_topics)]
    seed = ["--seed", str(given["random_state"])]
    others = [w for n, v in given.items() if n != "random_state" for w in ("--set", f"{n}={v}")]
    words = ["coview", "fit", "views/", "--model", name, *topics, *seed, *others]
    saved = "coview.Views(views, labels=labels)" if classify else "coview.Views(views)"
    return f'{shlex.join(words)}  # {saved}.save("views/")'


# -- parts of sentences ----------------------------------------------------------------------------


def _listed(by_name: Mapping[str, float], most: int = MOST_NAMED) -> str:
    shown = [f"{quoted(n)} {value:.2f}" for n, value in list(by_name.items())[:most]]
    return ", ".join([*shown, *(["..."] if len(by_name) > most else [])])


def _percent(share: float) -> str:
    """Return a share in percent.

    >>> _percent(0.0213), _percent(0.5)
    ('2.1 %', '50 %')
    """
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
