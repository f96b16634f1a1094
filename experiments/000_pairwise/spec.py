"""Paper 000: clustering with views that agree on similarities, CoPLSA (Jiang et al., 2012)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.paper import Column, Figure, Paper, Table, published

from coview.compare import Data, Entry, Plan, Results
from coview.plot import SensitivityDisplay

REUTERS = Data("reuters1200")
TWO, THREE = ("en", "sp"), ("en", "sp", "fr")
BEST = "sp"  # the paper's best view, fixed before anything was run
STRENGTHS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
NO_DATA = "not measured: data not available"
ORACLE, HONEST = "PLSA, best view by the labels", "PLSA, best view without labels"

LITERAL = {n: f"CoPLSA({n}), to the letter" for n in (2, 3)}
LONG = {n: f"CoPLSA({n}), up to 1000 iterations" for n in (2, 3)}
UNTIL_REST = {"max_iter": 1000, "reference_view": BEST}

# The paper gives its views equal weights. K-means, PLSA of one view and CCA know no weights.
EQUAL = {"view_weights": "balanced"}
WEIGHTED = ("voted", "pairwise", "link")


# -- models ----------------------------------------------------------------------------------------


def _published(start: Mapping[str, Any], k_means: Mapping[str, Any]) -> list[Entry]:
    """Return the rows of Table 1."""
    return [
        Entry("kmeans", "K-means+BOVF", k_means, views=[BEST]),
        Entry("kmeans", "K-means+CTVF", k_means, views=TWO),
        Entry("plsa", "PLSA+BOVF", start, views=[BEST]),
        Entry("plsa", "PLSA+CTVF", start, views=TWO, concat=True),
        Entry("cca", "CCAMC", k_means, views=TWO),
        Entry("voted", "VPLSA", start, views=TWO),
        Entry("coreg-pairwise", "PCoSC", {"view": BEST}, views=TWO),
        Entry("pairwise", "CoPLSA(2)", {**start, "reference_view": BEST}, views=TWO),
        Entry("pairwise", "CoPLSA(3)", {**start, "reference_view": BEST}, views=THREE),
    ]


def _ours(start: Mapping[str, Any]) -> list[Entry]:
    """Return what the paper does not have: other views, the mean of views, strong baselines."""
    return [
        Entry("plsa", "PLSA, English", start, views=["en"]),
        Entry("plsa", "PLSA, French", start, views=["fr"]),
        Entry("plsa-best", HONEST, start, views=THREE),
        Entry("plsa-concat", "PLSA, three views concatenated", start, views=THREE),
        Entry("pairwise", "CoPLSA(2), mean of views", start, views=TWO),
        Entry("pairwise", "CoPLSA(3), mean of views", start, views=THREE),
        Entry("link", "LinkPLSA(2)", start, views=TWO),
        Entry("link", "LinkPLSA(3)", start, views=THREE),
        Entry("spectral", "Spectral(2)", views=TWO),
        Entry("spectral", "Spectral(3)", views=THREE),
    ]


# -- plans -----------------------------------------------------------------------------------------


def plans(quick: bool) -> dict[str, Plan]:
    """Return the plans: random starts as in the paper, our starts, the strengths of Fig. 2."""
    random, raw = {"init": "random"}, {"features": "raw", "n_init": 1}
    extra = [
        Entry("pairwise", LITERAL[2], published("pairwise", reference_view=BEST), views=TWO),
        Entry("pairwise", LITERAL[3], published("pairwise", reference_view=BEST), views=THREE),
        Entry("pairwise", LONG[2], {**random, **UNTIL_REST}, views=TWO),
        Entry("pairwise", LONG[3], {**random, **UNTIL_REST}, views=THREE),
    ]
    from_random = [*_published(random, raw), *_ours(random), *extra]
    return {
        "random": _plan([_equal(entry) for entry in from_random], 1 if quick else 20),
        "ours": _plan([*_published({}, {}), *_ours({})], 1 if quick else 10),
        "strength": _strengths([1.0] if quick else STRENGTHS, 1 if quick else 10),
    }


def _equal(entry: Entry) -> Entry:
    """Give the views equal weights, unless the entry says which."""
    params = {**EQUAL, **entry.params} if entry.name in WEIGHTED else entry.params
    return replace(entry, params=params)


def _plan(models: Sequence[Entry], seeds: int) -> Plan:
    return Plan([REUTERS], models, seeds=seeds)


def _strengths(strengths: Sequence[float], seeds: int) -> Plan:
    params = {"init": "random", "reference_view": BEST, **EQUAL}
    entry = Entry("pairwise", "CoPLSA(2)", params, grid={"strength": strengths}, views=TWO)
    return Plan([REUTERS], [entry], seeds=seeds)


def best_by_labels(results: Results) -> Results:
    """Add an oracle: the one of three views whose PLSA has the best mean accuracy."""
    single = ("PLSA+BOVF", "PLSA, English", "PLSA, French")
    found: list = []
    for plan in ("random", "ours"):
        own = results.where(plan=plan, label=single).best_of(single, ORACLE)
        found += own.where(label=ORACLE).runs
    return replace(results, runs=(*results.runs, *found))


# -- tables ----------------------------------------------------------------------------------------

VARIANTS = {"random start": {"plan": "random"}, "our start": {"plan": "ours"}}
ALSO = (*LONG.values(), *LITERAL.values(), *(entry.label for entry in _ours({})), ORACLE)


def _table(metric: str, title: str) -> Table:
    columns = [
        Column("Reuters Multilingual", {"dataset": "reuters1200"}, metric, title="Reuters"),
        Column("NUS-Wide Object", {"dataset": "nus-wide"}, metric),
        Column("Corel5K", {"dataset": "corel5k"}, metric),
    ]
    return Table(
        "Table 1",
        f"Table 1, {title}",
        columns,
        VARIANTS,
        also=ALSO,
        model="CoPLSA(2)",
        n_published=20,
        missing={"NUS-Wide Object": NO_DATA, "Corel5K": NO_DATA},
        digits=1,
        note="Published: 1,876 of the 18,758 English stories of the Reuters collection; ours: "
        "reuters1200, another sample of it with other weights. Rows without a number of views are "
        "on English and Spanish. `PCoSC` and `Spectral` do not depend on the start.",
    )


def _strength_table(metric: str, title: str) -> Table:
    columns = [
        Column(f"strength {s:g}", {"plan": "strength", "strength": s}, metric, title=f"{s:g}")
        for s in STRENGTHS
    ]
    return Table(
        "Fig. 2 as a table",
        f"Fig. 2 as a table, {title} by strength",
        columns,
        also=("CoPLSA(2)",),
        digits=1,
        note="Random start, English and Spanish, read off the Spanish view. At 1 the agreement "
        "weighs as much as all the tokens; 0 is a PLSA for each view. The default is 1.",
    )


def draw_strengths(results: Results, path: Path) -> None:
    """Draw Fig. 2: accuracy and NMI against the strength."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10.0, 2.9))
    own = results.where(plan="strength")
    for ax, metric in zip(axes, ("accuracy", "nmi_max"), strict=True):
        display = SensitivityDisplay.from_results(own, x="strength", metric=metric, ax=ax)
    figure.subplots_adjust(wspace=0.45)
    display.save(path, dpi=80)
    pyplot.close(figure)


PAPER = Paper(
    title="CoPLSA with pairwise agreement",
    reference=(
        "Y. Jiang, J. Liu, Z. Li, P. Li, H. Lu. Co-regularized PLSA for multi-view clustering. "
        "ACCV 2012. Table 1 and Fig. 2."
    ),
    plans=plans,
    tables=[
        _table("accuracy", "accuracy"),
        _table("nmi_max", "NMI (max)"),
        _strength_table("accuracy", "accuracy"),
        _strength_table("nmi_max", "NMI (max)"),
    ],
    figures=[
        Figure(
            "fig2.png",
            "Fig. 2: CoPLSA(2) against its strength, from random starts, Spanish view.",
            draw_strengths,
        )
    ],
    metrics=("accuracy", "nmi_max"),
    derive=best_by_labels,
)
