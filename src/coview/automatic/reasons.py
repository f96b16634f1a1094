"""The reasons in plain words: what the data are, what follows from it, and what the fit found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coview.automatic.facts import LINKS, MEASUREMENTS, Facts, ViewFacts
from coview.ensemble.consensus import MOST_DOCUMENTS
from coview.ensemble.reliability import SAMPLE
from coview.wording import listing, plural, quoted

NOISE = 0.1  # a view that is trusted less tells next to nothing
RARE = 0.05  # a view that fewer documents have is rare
BY_CHANCE = 0.1  # replicability below which clusters are hardly more than chance
MOST_NAMED = 12  # views, families and copies that a sentence lists

# -- before the fit --------------------------------------------------------------------------------


def about_data(facts: Facts, clustered: bool, learned: bool = True) -> Iterator[str]:
    """Yield what there is: documents and views, and what is special about some of them.

    `clustered` says whether the fit begins with clusterings of the documents, `learned` whether the
    weights of the views are learned.
    """
    shown = "; ".join(_describe(view) for view in facts.views[:MOST_NAMED])
    more = "" if len(facts.views) <= MOST_NAMED else "; and others"
    documents, views = plural(facts.n_docs, "document"), plural(len(facts.views), "view")
    yield f"The data have {documents} and {views}: {shown}{more}."
    yield from _about_absence(facts)
    yield from _about_kinds(facts, clustered)
    yield from _about_size(facts, clustered)
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


def _about_absence(facts: Facts) -> Iterator[str]:
    nobody = [v.name for v in facts.views if not v.n_docs]
    if nobody:
        yield f"No document has anything in {_view_or_views(nobody)}, with no part in the model."
    fewer = [v for v in facts.views if 0 < v.n_docs < facts.n_docs]
    if fewer:
        numbers = ", ".join(f"{quoted(v.name)} {v.n_docs:,}" for v in fewer[:MOST_NAMED])
        yield (
            f"Not all documents have all views: {numbers} of {facts.n_docs:,}. A view that a "
            "document lacks has no part in its topics."
        )
    for view in (v for v in fewer if v.n_docs < RARE * facts.n_docs):
        yield (
            f"View {quoted(view.name)} is rare ({_percent(view.n_docs / facts.n_docs)} of the "
            "documents): it can be judged by these alone, and tells nothing about the others."
        )


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


def _about_size(facts: Facts, clustered: bool) -> Iterator[str]:
    if facts.n_docs <= SAMPLE:
        return
    joined = f", and {MOST_DOCUMENTS:,} are clustered, whose clusters the others join"
    yield (
        f"With {facts.n_docs:,} documents, views are judged by {SAMPLE:,} of them"
        f"{joined if clustered and facts.n_docs > MOST_DOCUMENTS else ''}; the model is fitted to "
        "all."
    )


# -- after the fit ---------------------------------------------------------------------------------


def about_trust(trust: Mapping[str, float] | None) -> Iterator[str]:
    """Yield how far each view can be trusted, and which tell nothing."""
    if trust is None:
        return
    yield (
        "How far each view can be trusted, by what half of its features tells about the other half "
        f"and about the other views (0 to 1): {_numbers(trust)}. The weights follow from it."
    )
    for name in (n for n, t in trust.items() if t < NOISE):
        yield (
            f"View {quoted(name)} tells next to nothing about the documents (trust "
            f"{trust[name]:.2f}), so it has next to no weight; view_weights would give it one."
        )


def about_clusterings(ensemble: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what was tried in the ensemble of clusterings, and what came of it."""
    if ensemble is None:
        return
    found = dict(sorted(ensemble["replicability"].items(), key=lambda item: -item[1]))
    yield (
        f"The documents were clustered in {len(found)} ways. By how well the clusters from half of "
        "the features come back in the other half (1: all the same, 0: chance): "
        f"{_numbers(found)}. The better ones have a larger say."
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


def about_start(start: str, n_tried: int, n_iter: int) -> str:
    """Return where EM began, and how long it took."""
    where = {
        "consensus": "the clusters on which the clusterings agree",
        "naive_bayes": "the topics of the labeled documents",
        "seeds": "the documents with seed words",
        "random": "random topics",
    }.get(start, start)
    best = f", the best of {n_tried} starts" if n_tried > 1 else ""
    return f"EM began at {where}{best}, and ended after {plural(n_iter, 'iteration')}."


# -- parts of sentences ----------------------------------------------------------------------------


def _numbers(by_name: Mapping[str, float]) -> str:
    shown = [f"{quoted(n)} {value:.2f}" for n, value in list(by_name.items())[:MOST_NAMED]]
    return ", ".join([*shown, *(["..."] if len(by_name) > MOST_NAMED else [])])


def _view_or_views(names: Sequence[str]) -> str:
    return f"view{'s' if len(names) > 1 else ''} {listing(names)}"


def _percent(share: float) -> str:
    """Return a share in percent.

    >>> _percent(0.0213), _percent(0.5)
    ('2.1 %', '50 %')
    """
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
