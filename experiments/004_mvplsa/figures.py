"""Figures of paper 004: accuracy against the share of labels and the number of feature topics."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from experiments.csv_files import read_published
from experiments.paper import HERE

from coview.compare import Results, Run

_plans = import_module("experiments.004_mvplsa.plans")
SHOWN = ["MVPLSA", "NBC_E", "Label spreading", "CoTr_E"]  # in all panels in the same colors
UNIFORM = ["uniform", "uniform, posts", "uniform, dear"]


def label_rates(results: Results, path: Path) -> None:
    """Draw accuracy against the share of labeled documents, uniform sampling."""
    from coview.plot import LabelShareDisplay

    figure, axes = _panels(2, 2)
    for name, axis in zip(_plans.DATA, axes.flat, strict=True):
        own = results.where(dataset=name, plan=UNIFORM, label=SHOWN)
        if len(own):
            lines = sum((_bare(own.where(label=label)) for label in SHOWN), _published(name))
            display = LabelShareDisplay.from_results(lines, ax=axis)
        axis.set_title(name)
    figure.tight_layout()
    display.save(path, dpi=60)


def _panels(rows: int, columns: int):
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=(5.4 * columns, 3.0 * rows), squeeze=False)


def _published(name: str) -> Results:
    numbers = read_published(HERE / "004_mvplsa" / "published.csv")
    values = {
        r: numbers["Table 3", "MVPLSA", f"{name} r={r:.2f}", "accuracy"] for r in _plans.RATES
    }
    return Results(
        tuple(
            Run(name, "", "published", {}, 0, rate, {"": {"accuracy": (n.value or 0) / 100}})
            for rate, n in values.items()
        )
    )


def _bare(results: Results) -> Results:
    """Return runs without parameters and settings: one line for each label."""
    kept = ("dataset", "model", "label", "seed", "rate", "values")
    runs = [{n: getattr(run, n) for n in kept} for run in results.runs]
    return Results(tuple(Run(params={}, **run) for run in runs))


def feature_topics(results: Results, path: Path) -> None:
    """Draw Figure 3: accuracy against the number of feature topics at 5 % labels."""
    from coview.plot import SensitivityDisplay

    if not len(results.where(plan="feature topics")):
        return  # a quick run has none
    figure, axes = _panels(1, 2)
    for name, axis in zip(_plans.TOPICS, axes.flat, strict=True):
        own = results.where(dataset=name, plan="feature topics")
        if len(own):
            display = SensitivityDisplay.from_results(
                own, x="n_feature_topics", ax=axis, log_x=name == "NewsGv2"
            )
        axis.set_title(name)
    figure.tight_layout()
    display.save(path, dpi=70)
