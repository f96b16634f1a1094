"""Tables of topics, search and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.defaults.arms import STARTS
from experiments.defaults.results import Row
from experiments.defaults.tables import (
    NOT_MEASURED,
    Key,
    Mean,
    groups,
    in_order,
    markdown,
    means,
    seeds_line,
    shown,
)


def topics_section(rows: Sequence[Row]) -> str:
    """Return perplexity and CPU seconds of each start."""
    found = means(groups(rows, "topics", "perplexity"))
    if not found:
        return NOT_MEASURED
    methods = in_order((key[2] for key in found), STARTS)
    return "\n\n".join(
        [
            "Perplexity of half of the tokens of each test document, folded in on the other half: "
            "smaller is better. 20newsgroups has its publisher's split, python_api "
            "(docstrings and code) a random quarter for testing with each seed. "
            + seeds_line(rows, "topics", methods),
            setting_table(found, methods, 0),
            "CPU seconds of the fit to the training documents:",
            setting_table(_seconds(rows, "topics"), methods),
        ]
    )


def search_section(rows: Sequence[Row]) -> str:
    """Return median ranks and mean average precision of each direction."""
    metrics = sorted({row.metric for row in rows if row.cell.part == "search"}, reverse=True)
    if not metrics:
        return NOT_MEASURED
    found: dict[Key, Mean] = {}
    for metric in metrics:
        scale = 100 if metric.startswith("MAP") else 1
        for (dataset, setting, method), mean in means(
            groups(rows, "search", metric, scale)
        ).items():
            found[dataset, f"{setting}, {metric}", method] = mean
    methods = in_order((key[2] for key in found), STARTS)
    return "\n\n".join(
        [
            "Each view of the test documents, folded in on its own, searched with the other, by "
            "the Hellinger similarity of mixtures. Median rank of the document itself (smaller is "
            "better) and mean average precision of its class in % (larger is better). "
            "wikipedia has its publisher's split. " + seeds_line(rows, "search", methods),
            setting_table(found, methods),
        ]
    )


# by hand: that code is no longer there
BEFORE = (
    "`old` has the k-means of today. The whole code of before, with that of scikit-learn, took 51 "
    "and 48 seconds on 20newsgroups, 8 and 10 on python_api, 13 and 16 on wikipedia (two "
    "measurements of one seed, on the same machine)."
)


def cost_section(rows: Sequence[Row]) -> str:
    """Return CPU seconds and memory of `LinkPLSA(50).fit`."""
    seconds = means(groups(rows, "cost", "cpu_seconds"))
    if not seconds:
        return NOT_MEASURED
    methods = in_order((key[2] for key in seconds), ("old", "default"))
    peak = means(groups(rows, "cost", "peak_mb"))
    promised = means(groups(rows, "cost", "promised_mb"))
    return "\n\n".join(
        [
            "`LinkPLSA(50).fit` of all documents, each in a process of its own, compiled before. "
            f"{seeds_line(rows, 'cost', methods)} CPU seconds:",
            setting_table(seconds, methods),
            BEFORE,
            "Peak memory of the fit in MB, input included, and what the library promises: the "
            "input, and its estimate of the rest, by which a fit that is too large is refused "
            "(that of `old` is not counted in it):",
            setting_table({**peak, **_renamed(promised, "promised")}, [*methods, "promised"], 0),
        ]
    )


def setting_table(found: Mapping[Key, Mean], methods: Sequence[str], digits: int = 1) -> str:
    """Return a table with a row for each data set and setting."""
    places = list(dict.fromkeys(key[:2] for key in found))
    places.sort(key=lambda place: (place[0], int(place[1].split()[0])))
    lines = [
        [", ".join(place), *(shown(found.get((*place, m)), digits) for m in methods)]
        for place in places
    ]
    return markdown(["data", *methods], lines)


def _seconds(rows: Sequence[Row], part: str) -> dict[Key, Mean]:
    found: dict[Key, dict[int, float]] = {}
    for row in rows:
        if row.cell.part == part:
            key = (row.cell.dataset, row.cell.setting, row.cell.method)
            found.setdefault(key, {})[row.cell.seed] = row.cpu_seconds
    return means(found)


def _renamed(found: Mapping[Key, Mean], method: str) -> dict[Key, Mean]:
    return {(dataset, setting, method): mean for (dataset, setting, _), mean in found.items()}
