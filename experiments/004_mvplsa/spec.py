"""Paper 004: classes from a few labels, and clusters, with MVPLSA (Zhuang et al., 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np
from experiments.paper import Column, Figure, Paper, Table

from coview.compare import Results, Run

_models = import_module("experiments.004_mvplsa.models")
_data = import_module("experiments.004_mvplsa.data")
_plans = import_module("experiments.004_mvplsa.plans")
_figures = import_module("experiments.004_mvplsa.figures")

SAMPLINGS = {
    "uniform": {"plan": ["uniform", "uniform, posts", "uniform, dear", "uniform, links"]},
    "stratified": {
        "plan": ["stratified", "stratified, posts", "stratified, dear", "stratified, links"]
    },
}


def _classification(name: str, number: int) -> Table:
    own = [name, f"{name}, listed"]
    columns = [
        Column(f"{name} r={rate:.2f}", {"dataset": own, "rate": rate}, title=f"{100 * rate:.0f} %")
        for rate in _plans.RATES
    ]
    ours = ["LinkPLSA", _plans.SPREADING, _plans.DEFAULTS]
    ours += [_plans.LETTER, _plans.LISTED] if name in _plans.WEBKB else []
    return Table(
        f"Table {number}",
        f"Table {number}, {name}",
        columns,
        SAMPLINGS,
        also=ours if number == 3 else (),
        model="MVPLSA",
        n_published=20,
    )


ALL = ", all documents"


def _of_pages(rates: Sequence[float], **where: str) -> list[Column]:
    """Return columns of Cornell and Washington side by side."""
    return [
        Column(
            f"{name} r={rate:.2f}",
            {"dataset": name, "rate": rate, **where},
            title=f"{name}, {100 * rate:.0f} %",
        )
        for name in _plans.WEBKB
        for rate in rates
    ]


def _all_documents() -> Table:
    return Table(
        "Table 3",
        "Table 3, Cornell and Washington, with the labeled documents counted",
        _of_pages(_plans.RATES),
        {sampling: {"plan": f"{sampling}{ALL}"} for sampling in SAMPLINGS},
        only=("MVPLSA",),
        also=(_plans.LETTER, "LinkPLSA"),
        model="MVPLSA",
        n_published=20,
        note="The paper's Eq. 19 divides by the number of documents and does not set the labeled "
        "ones apart. To the letter they count, as right. The other tables leave them out.",
    )


def _clustering(metric: str, title: str) -> Table:
    return Table(
        "Figure 2",
        f"Figure 2, {title}",
        [Column(name, {"dataset": name, "plan": "clusters"}, metric) for name in _plans.DATA],
        also=("LinkPLSA", "Spectral"),
        model="MVPLSA",
    )


def _feature_topics(name: str) -> Table:
    chosen = {"dataset": name, "plan": "feature topics"}
    columns = [
        Column(f"{name} Y={y}", {**chosen, "n_feature_topics": y}, title=f"Y = {y}")
        for y in _plans.TOPICS[name]
    ]
    return Table("Figure 3", f"Figure 3, {name}, 5 % labels", columns)


def _what_matters() -> Table:
    found = {name: [name] for name in (*_plans.WEBKB, "NewsGv2")}
    for data, name, _ in _plans.other_data():
        found[name].append(data.label)
    rows = [*_plans.CHANGES, *dict.fromkeys(label for _, _, label in _plans.other_data())]
    return Table(
        "what matters",
        "What matters, 3 % labels, uniform",
        [Column(n, {"dataset": own, "plan": "what matters"}) for n, own in found.items()],
        also=rows,
        note="MVPLSA with one thing changed at a time; how the main tables were run is the first "
        "row. This is not a search for the best setting: no other table uses what it shows.",
    )


def _more_labels() -> Table:
    return Table(
        "more labels",
        "More labels than in the paper, uniform",
        _of_pages(_plans.MORE_RATES, plan="more labels"),
        also=("MVPLSA", "LinkPLSA", "NBC_V1", "NBC_E"),
        note="What these data allow MVPLSA when labels no longer lack.",
    )


TABLES = [
    *(_classification(name, 3) for name in _plans.DATA),
    _all_documents(),
    *(_classification(name, 4) for name in _plans.DATA),
    Table(
        "Table 5",
        "Table 5: a view of NewsGv4 cut into four, 1 % labels",
        [Column(f"View {i}", {"dataset": f"View {i}"}) for i in (1, 2, 3, 4)],
        {"uniform": {"plan": "parts of a view"}},
        also=("LinkPLSA",),
        model="MVPLSA",
    ),
    _clustering("nmi_mean", "NMI (mean)"),
    _clustering("pairwise_f", "pairwise F"),
    *(_feature_topics(name) for name in _plans.TOPICS),
    _what_matters(),
    _more_labels(),
]


def derive(results: Results) -> Results:
    """Add rows that are made from others."""
    return _k_means_rows(_with_all_documents(results))


def _with_all_documents(results: Results) -> Results:
    """Add runs on the pages with the labeled documents counted as right."""
    labels = ("MVPLSA", _plans.LETTER, "LinkPLSA")
    own = results.where(plan=list(SAMPLINGS), dataset=list(_plans.WEBKB), label=labels)
    runs = [_counting_all(run) for run in own.runs if not run.error]
    return replace(results, runs=(*results.runs, *runs))


def _counting_all(run: Run) -> Run:
    share = run.values[""]["labeled"] / run.documents
    accuracy = share + (1 - share) * run.values[""]["accuracy"]
    settings = {**run.settings, "plan": f"{run.settings['plan']}{ALL}"}
    return replace(run, settings=settings, values={"": {"accuracy": accuracy}})


def _k_means_rows(results: Results) -> Results:
    """Add the best view, chosen with the labels, and the mean of the views, seed by seed."""
    views = [label for label in results.labels if label.startswith("Kmeans_V")]
    return _mean_of(results, views).best_of(views, "Kmeans_Best", metric="nmi_mean")


def _mean_of(results: Results, views: list[str]) -> Results:
    found: dict[tuple, list] = {}
    for run in results.where(label=views).runs:
        if not run.error:
            found.setdefault((run.dataset, run.seed), []).append(run)
    means = [
        replace(
            runs[0],
            label="Kmeans_Avg",
            settings={n: v for n, v in runs[0].settings.items() if n != "views"},
            values={
                "": {m: float(np.mean([r.values[""][m] for r in runs])) for m in runs[0].values[""]}
            },
        )
        for runs in found.values()
    ]
    return replace(results, runs=(*results.runs, *means))


PAPER = Paper(
    title="MVPLSA",
    reference=(
        "F. Zhuang, G. Karypis, X. Ning, Q. He, Z. Shi. Multi-view learning via probabilistic "
        "latent semantic analysis. Information Sciences, 2012. Tables 3 to 5, Figures 2 and 3."
    ),
    plans=_plans.plans,
    tables=TABLES,
    metrics=("accuracy", "nmi_mean", "pairwise_f"),
    models={
        "cotraining-view": _models.cotraining_view,
        "label-spreading": _models.label_spreading,
    },
    data={"newsgv4-parts": _data.newsgv4_split},
    derive=derive,
    figures=[
        Figure(
            "label_rates.png",
            "Accuracy against the share of labels, drawn uniformly with at least one of each class",
            _figures.label_rates,
        ),
        Figure(
            "feature_topics.png",
            "Figure 3: accuracy against the number of feature topics, 5 % labels",
            _figures.feature_topics,
        ),
    ],
)
