"""Paper 002: clustering by a vote of the views and a PLSA of all of them (Kim et al., 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from experiments.paper import Column, Paper, Table, published

from coview.compare import Data, Entry, Plan, Results, Run

_models = import_module("experiments.002_voted.models")

REUTERS = Data("reuters1200")
LANGUAGES = {"en": "English", "gr": "German", "fr": "French", "it": "Italian", "sp": "Spanish"}
SINGLE = {view: f"PLSA, {language}" for view, language in LANGUAGES.items()}
ORACLE, HONEST = "PLSA, best view by the labels", "PLSA, best view without labels"
FIRST = "first stage of voted-PLSA"
GREEDY, FIRST_GREEDY = "voted-PLSA, greedy signatures", f"{FIRST}, greedy signatures"
LITERAL = "voted-PLSA, to the letter"
NO_DATA = "no data"
# coview's weights are learned by default; the paper has none. Models of one view know no weights.
EQUAL = {"view_weights": "balanced"}
WEIGHTED = ("voted", "first-stage", "link")


# -- models ----------------------------------------------------------------------------------------


def _clusterers(start: Mapping[str, Any]) -> list[Entry]:
    return [
        Entry("plsa-concat", "conc-PLSA", start),
        Entry("fusion-lm", "Fusion-LM", start),
        Entry("voted", "voted-PLSA", {**start, "signatures": "frequent"}),
        Entry("voted", GREEDY, {**start, "signatures": "greedy"}),
        *(Entry("plsa", label, start, views=[view]) for view, label in SINGLE.items()),
        Entry("plsa-best", HONEST, start),
        Entry("link", "LinkPLSA", start),
        Entry("spectral", "Spectral"),
        Entry("first-stage", FIRST, {**start, "signatures": "frequent"}),
        Entry("first-stage", FIRST_GREEDY, {**start, "signatures": "greedy"}),
    ]


def _equal(start: Mapping[str, Any]) -> list[Entry]:
    """Return the same with equal weights of the views."""
    return [
        replace(entry, params={**entry.params, **EQUAL}) if entry.name in WEIGHTED else entry
        for entry in _clusterers(start)
    ]


def plans(quick: bool) -> dict[str, Plan]:
    """Return the plans: random starts as in the paper, and ours."""
    letter = Entry("voted", LITERAL, published("voted"))
    return {
        "random": Plan([REUTERS], [*_equal({"init": "random"}), letter], seeds=1 if quick else 20),
        "ours": Plan([REUTERS], _clusterers({}), seeds=1 if quick else 20),
    }


# -- derived rows ----------------------------------------------------------------------------------


def derive(results: Results) -> Results:
    """Compute Table 1 from the runs of the first stage, and add the best single view."""
    runs = [_first_stage(run) if run.model == "first-stage" else run for run in results.runs]
    best: list = []
    for plan in ("random", "ours"):
        own = results.where(plan=plan, label=tuple(SINGLE.values()))
        best += own.best_of(list(SINGLE.values()), ORACLE, metric="purity").where(label=ORACLE).runs
    return replace(results, runs=(*runs, *best))


def _first_stage(run: Run) -> Run:
    """Return a run with share and purity of the documents assigned by vote: see `FirstStage`."""
    if run.error:
        return run
    share = run.values[""]["objective"]
    # A document that is a cluster of its own is pure.
    purity = (run.values[""]["purity"] - (1 - share)) / share if share else float("nan")
    return replace(run, values={"": {"preassigned": share, "purity": purity}})


# -- tables ----------------------------------------------------------------------------------------

VARIANTS = {"random start": {"plan": "random"}, "our start": {"plan": "ours"}}
WHERE = {"dataset": "reuters1200"}


def _first_stage_table(metric: str, title: str) -> Table:
    columns = [
        Column(language, {} if language == "English" else {"dataset": language}, metric)
        for language in LANGUAGES.values()
    ]
    mean = Column("mean of five languages", {"dataset": "all"}, metric)
    others = [column.name for column in (*columns, mean) if column.name != "English"]
    return Table(
        "Table 1",
        f"Table 1, {title}",
        [*columns, mean],
        VARIANTS,
        also=(FIRST_GREEDY,),
        missing=dict.fromkeys(others, NO_DATA),
        percent=False,
        note="A column holds the stories written in one language, each seen in all five. At hand "
        "are only stories written in English: the others are not measured.",
    )


def _table(metric: str, title: str) -> Table:
    return Table(
        "Table 2",
        f"Table 2, {title}",
        [Column("mean of five languages", WHERE, metric, title="stories in English")],
        VARIANTS,
        also=(LITERAL, GREEDY, *SINGLE.values(), HONEST, "LinkPLSA", "Spectral", ORACLE),
        only=("conc-PLSA", "Fusion-LM", "voted-PLSA"),
        model="voted-PLSA",
        percent=False,
        digits=3,
        note="Published are means over stories in five languages, with 10 starts each; ours are on "
        "reuters1200, all of whose stories were written in English.",
    )


PAPER = Paper(
    title="Voted PLSA",
    reference=(
        "Y.-M. Kim, M.-R. Amini, C. Goutte, P. Gallinari. Multi-view clustering of multilingual "
        "documents. SIGIR 2010. Tables 1 and 2."
    ),
    plans=plans,
    tables=[
        _first_stage_table("preassigned", "share of the documents assigned by vote"),
        _first_stage_table("purity", "precision on these"),
        _table("purity", "micro-averaged precision (purity)"),
        _table("nmi_max", "NMI (max)"),
    ],
    metrics=("purity", "nmi_max", "accuracy", "preassigned"),
    models={"first-stage": _models.FirstStage},
    derive=derive,
)
