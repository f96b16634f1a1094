"""How to choose the strength of a penalty without labels: four criteria, measured.

    python -m experiments.defaults.strengths [--seeds 2] [--data msrcv1 ...] [--runs runs.jsonl]

Each model with a penalty is fitted at 0, 0.1, 0.3, 1, 3 and 10 times its usual strength, with all
other defaults and the number of classes as topics, to at most 400 documents; the NMI (max) of each
fit is noted. Criteria then choose one of the strengths without seeing labels:

    replicability  clusters of two random halves of the columns agree (AMI, three splits)
    neighbors      clusters of one half join nearest neighbors in the other (the same fits)
    tokens         likelihood of a fifth of the tokens, masked in a fit
    views          likelihood of the other views of held-out documents, folded in by one view alone

and the tables show the NMI at the strengths that they choose. Two more columns take replicability
and neighbors only where they are better than at the usual strength by more than the standard error
over the splits. "The best on the other data sets" leaves one out: the criterion that is best on all
others chooses there. Data sets are read from COVIEW_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview import LTM, MGGM, DivergenceCoPLSA, PairwiseCoPLSA, Views
from coview.base import BaseViewsModel
from coview.datasets import DATASETS, load_dataset
from coview.em.prepared import Prepared
from coview.held_out import label_agreement, sample_rows
from coview.metrics import nmi_max
from coview.scores import smoothed, split_tokens
from coview.strength import (
    ITERATIONS,
    STEPS,
    TOLERANCE,
    choose,
    nearest_and_best,
    splits_of,
    variant,
)

MODELS: dict[str, Any] = {
    "PairwiseCoPLSA": PairwiseCoPLSA,
    "DivergenceCoPLSA": DivergenceCoPLSA,
    "LTM": LTM,
    "MGGM": MGGM,
}
DATA = (
    *("msrcv1", "reuters1200", "ngs", "cora", "mfeat", "wikipedia"),
    *("webkb_cornell", "webkb_texas", "webkb_washington", "webkb_wisconsin"),
)
CRITERIA = ("replicability", "neighbors", "tokens", "views")
CAUTIOUS = {"replicability, if clear": "replicability", "neighbors, if clear": "neighbors"}
MOST = 400  # documents
MASKED = 0.2  # of the tokens
HELD_OUT = 0.25  # of the documents
HERE = Path(__file__).parent

Run = dict[str, Any]  # strengths, NMI at each, and for each criterion its values (strengths, draws)


# -- criteria --------------------------------------------------------------------------------------


def by_halves(model: Any, data: Prepared, strengths: np.ndarray, seed: int) -> dict[str, Any]:
    """Return replicability and assortativity at each strength, for each split."""
    found: dict[str, list] = {"replicability": [], "neighbors": []}
    for split in splits_of(model, data, np.random.default_rng(seed)):
        clusters = [split.clusters(s) for s in strengths]
        found["replicability"].append([label_agreement(one, other) for one, other in clusters])
        found["neighbors"].append([split.cohesion(pair) for pair in clusters])
    return {name: np.transpose(values).tolist() for name, values in found.items()}


def by_tokens(model: Any, data: Prepared, strengths: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the log-likelihood of masked tokens, the mean over the views of that of a token."""
    seen, held = split_tokens(data, MASKED, seed)

    def value(strength: float) -> float:
        fitted = variant(model, strength=strength).fit(as_views(seen))
        views = zip(held.names, held.matrices, strict=True)
        return float(
            np.mean([_mean_log(fitted, n, fitted.view_doc_topic_[n], m) for n, m in views])
        )

    return {"tokens": [[value(s)] for s in strengths]}


def by_views(model: Any, data: Prepared, strengths: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the log-likelihood of each view of new documents, folded in by each other one."""
    if len(data.names) < 2:
        return {}
    views = as_views(data)
    order = np.random.default_rng(seed).permutation(len(views))
    n_new = round(HELD_OUT * len(views))
    new, training = views[np.sort(order[:n_new])], views[np.sort(order[n_new:])]

    def value(strength: float) -> float:
        fitted = variant(model, strength=strength).fit(training)
        mixtures = {n: fitted.fold_in(new.select(n)).doc_topic for n in new.names}
        found = []
        for (v, one), (u, other) in permutations(enumerate(new.names), 2):
            both = np.flatnonzero(new.present[:, v] & new.present[:, u])
            found.append(_mean_log(fitted, other, mixtures[one][both], new[other][both]))
        return float(np.mean(found))

    return {"views": [[value(s)] for s in strengths]}


def _mean_log(fitted: Any, name: str, mixtures: np.ndarray, matrix: sp.csr_array) -> float:
    """Return the mean log-likelihood of the tokens of one view, given mixtures."""
    topics = smoothed(fitted.components_[name], fitted.term_counts_[name], 0.01)
    tokens = sp.coo_array(matrix)
    p = np.einsum("ij,ij->i", mixtures[tokens.row], topics[:, tokens.col].T, dtype=float)
    known = p > 0
    total = tokens.data[known].sum(dtype=float)
    return float(tokens.data[known] @ np.log(p[known]) / total) if total else 0.0


def as_views(data: Prepared) -> Views:
    """Return prepared data as views."""
    return Views(dict(zip(data.names, data.matrices, strict=True)), present=data.present)


# -- runs ------------------------------------------------------------------------------------------


def one_run(name: str, model_name: str, seed: int) -> Run:
    """Return NMI and criteria along the path, for one draw of the documents."""
    views = load(name)
    views = views[sample_rows(len(views), MOST, np.random.default_rng(seed))]
    cls = MODELS[model_name]
    views = views.concat() if cls._one_view else views
    n_classes = len(np.unique(views.labels[views.labels >= 0]))
    model = cls(n_classes, random_state=seed, n_jobs=1)
    strengths = cls._usual_strength * np.array(STEPS)
    begin = time.process_time()
    fits = [variant(model, strength=s).fit(views) for s in strengths]
    run: Run = {"data": name, "model": model_name, "seed": seed, "strengths": strengths.tolist()}
    run["nmi"] = [100 * nmi_max(views.labels, fitted.labels_) for fitted in fits]
    run["seconds"] = {"fits": time.process_time() - begin}
    data = _prepared(model, views, seed)
    weights = dict(zip(data.names, data.weights, strict=True))
    quick = variant(model, init="kmeans", max_iter=ITERATIONS, tol=TOLERANCE, scaling=None)
    quick.set_params(view_weights=weights)
    for judge in (by_halves, by_tokens, by_views):
        begin = time.process_time()
        run |= judge(model if judge is by_halves else quick, data, strengths, seed)
        run["seconds"][judge.__name__] = time.process_time() - begin
    return run


def _prepared(model: Any, views: Views, seed: int) -> Prepared:
    data = BaseViewsModel._prepare_training(model, views, None, np.random.default_rng(seed))[0]
    return replace(data, blocks=())


def load(name: str) -> Views:
    """Read a data set: as its loader does, where there is one (which leaves out some views)."""
    if name in DATASETS:
        return load_dataset(name)
    return Views.load(Path(os.environ["COVIEW_DATA"]) / name)


# -- choices and tables ----------------------------------------------------------------------------


def chosen(run: Run, criterion: str) -> float:
    """Return the NMI at the strength that a criterion chooses."""
    strengths, usual = np.array(run["strengths"]), MODELS[run["model"]]._usual_strength
    values = run.get(CAUTIOUS.get(criterion, criterion))
    if values is None:  # one view: there is no other to predict
        return float("nan")
    if criterion in CAUTIOUS:
        return run["nmi"][run["strengths"].index(choose(strengths, np.array(values), usual))]
    return run["nmi"][nearest_and_best(strengths, np.array(values), usual)[1]]


COLUMNS: dict[str, Callable[[Run], float]] = {
    "none (0)": lambda run: run["nmi"][0],
    "usual": lambda run: run["nmi"][STEPS.index(1.0)],
    **{c: (lambda run, c=c: chosen(run, c)) for c in (*CRITERIA, *CAUTIOUS)},
    "best, by labels": lambda run: max(run["nmi"]),
}


def table(runs: Sequence[Run], model: str) -> list[str]:
    """Return the table of one model: NMI by data set and criterion, and gains over the usual."""
    lines = [f"| data | {' | '.join(COLUMNS)} |", f"| --- |{' --- |' * len(COLUMNS)}"]
    own = [run for run in runs if run["model"] == model]
    names = [name for name in DATA if any(run["data"] == name for run in own)]
    means = np.array([_means([run for run in own if run["data"] == n]) for n in names])
    for name, row in zip(names, means, strict=True):
        lines.append(f"| {name} | {' | '.join(map(_percent, row))} |")
    lines.append(f"| **mean** | {' | '.join(map(_percent, means.mean(axis=0)))} |")
    gains = means - means[:, [list(COLUMNS).index("usual")]]
    errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else gains[0] * 0
    both = zip(gains.mean(axis=0), errors, strict=True)
    lines.append(f"| over the usual | {' | '.join(_gain(g, e) for g, e in both)} |")
    return lines


def _means(runs: Sequence[Run]) -> list[float]:
    return [float(np.mean([column(run) for run in runs])) for column in COLUMNS.values()]


def _percent(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.1f}"


def _gain(gain: float, error: float) -> str:
    return "–" if np.isnan(gain) else f"{gain:+.1f} ± {error:.1f}"


def fixed_strengths(runs: Sequence[Run]) -> list[str]:
    """Return the table of fixed strengths: gains of each model over the usual one."""
    steps = [f"{step:g} times" for step in STEPS]
    lines = [f"| model | {' | '.join(steps)} |", f"| --- |{' --- |' * len(steps)}"]
    for model in MODELS:
        own = [run for run in runs if run["model"] == model]
        names = sorted({run["data"] for run in own})
        nmi = [np.mean([r["nmi"] for r in own if r["data"] == n], axis=0) for n in names]
        gains = np.array(nmi) - np.array(nmi)[:, [STEPS.index(1.0)]]
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        cells = (_gain(g, e) for g, e in zip(gains.mean(axis=0), errors, strict=True))
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return lines


def leave_one_out(runs: Sequence[Run]) -> tuple[float, float]:
    """Return the gain of the criterion that is best on the other data sets, mean and error.

    Of all models together, over the usual strength.
    """
    names = sorted({run["data"] for run in runs})
    rules = [c for c in (*CRITERIA, *CAUTIOUS) if c != "views"]  # which LTM does not have
    gains = {rule: [_gain_on(runs, name, rule) for name in names] for rule in rules}
    found = []
    for i in range(len(names)):
        best = max(rules, key=lambda rule: sum(np.delete(gains[rule], i)))
        found.append(gains[best][i])
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found)))


def _gain_on(runs: Sequence[Run], name: str, rule: str) -> float:
    usual = COLUMNS["usual"]
    return float(np.mean([COLUMNS[rule](r) - usual(r) for r in runs if r["data"] == name]))


def all_models(runs: Sequence[Run]) -> list[str]:
    """Return the table of all models together: gains over the usual strength."""
    names = sorted({run["data"] for run in runs})
    lines = ["| criterion | over the usual strength |", "| --- | --- |"]
    for rule in COLUMNS:
        gains = np.array([_gain_on(runs, name, rule) for name in names])
        if rule == "views":
            gains = np.array([_gain_on(_of_several(runs), name, rule) for name in names])
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        lines.append(
            f"| {rule}{' (without LTM)' * (rule == 'views')} | {_gain(gains.mean(), error)} |"
        )
    lines.append(f"| the best on the other data sets | {_gain(*leave_one_out(runs))} |")
    return lines


def _of_several(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if not MODELS[run["model"]]._one_view]


def seed_spread(runs: Sequence[Run]) -> float:
    """Return the typical standard deviation over seeds of the NMI at the usual strength."""
    cells: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        cells.setdefault((run["data"], run["model"]), []).append(COLUMNS["usual"](run))
    variances = [np.var(values, ddof=1) for values in cells.values() if len(values) > 1]
    return float(np.sqrt(np.mean(variances))) if variances else float("nan")


def write_page(runs: Sequence[Run], path: Path) -> None:
    """Write the tables as markdown."""
    counts = [
        sum(r["data"] == run["data"] and r["model"] == run["model"] for r in runs) for run in runs
    ]
    seeds = (
        f"{min(counts)} to {max(counts)} seeds"
        if min(counts) < max(counts)
        else f"{max(counts)} seeds"
    )
    cost = np.mean([run["seconds"]["by_halves"] / run["seconds"]["fits"] for run in runs])
    lines = [
        "# The strength of a penalty, chosen without labels",
        "",
        "Generated by `python -m experiments.defaults.strengths`; its docstring describes it. NMI",
        f"(max) in %, {seeds}, each with another draw of at most {MOST} documents (the",
        "WebKB sets and msrcv1 are smaller). Differences to the usual strength: mean ± standard",
        "error over the data sets. The standard deviation over the seeds at the usual strength is",
        f"{seed_spread(runs):.1f} points.",
        "",
        f'The path of `strength="auto"` took {len(STEPS) * cost:.1f} times the CPU time of one fit',
        "with a given strength (mean of all runs).",
        "",
        "## All models together",
        "",
        *all_models(runs),
        "",
        "## One strength for all data sets",
        "",
        "Times the usual strength, which is 1 in the first two models and 2 in the others.",
        "",
        *fixed_strengths(runs),
    ]
    for model in MODELS:
        if any(run["model"] == model for run in runs):
            lines += ["", f"## {model}", "", *table(runs, model)]
    path.write_text("\n".join([*lines, ""]), "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--data", nargs="+", default=DATA, metavar="NAME")
    parser.add_argument("--models", nargs="+", default=tuple(MODELS), choices=MODELS)
    parser.add_argument("--runs", type=Path, help="keep finished runs here, and take them from it")
    parser.add_argument("--output", type=Path, default=HERE / "strengths.md")
    args = parser.parse_args(arguments)
    if not os.environ.get("COVIEW_DATA"):
        parser.error("Set COVIEW_DATA to the folder of the data sets.")
    known = args.runs.read_text("utf-8").splitlines() if args.runs and args.runs.exists() else []
    runs: list[Run] = [json.loads(line) for line in known]
    done = {(run["seed"], run["data"], run["model"]) for run in runs}
    for key in product(range(args.seeds), args.data, args.models):
        if key in done:
            continue
        with warnings.catch_warnings(action="ignore"):
            runs.append(one_run(key[1], key[2], key[0]))
        print(key, np.round(runs[-1]["nmi"], 1), flush=True)
        if args.runs:
            with args.runs.open("a", encoding="utf-8") as file:
                file.write(json.dumps(runs[-1]) + "\n")
        complete = {m: [r for r in runs if r["model"] == m] for m in args.models}
        if all(len({r["data"] for r in own}) > 1 for own in complete.values()):
            write_page(runs, args.output)


if __name__ == "__main__":
    main()
