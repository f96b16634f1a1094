"""The demo: functions of numpy, scipy and scikit-learn in two views, docstring and code.

`run_demo` fits a model, shows its topics and clusters, searches code with a few words and held-out
items with their other view, and writes the explorer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sklearn.model_selection import train_test_split

from coview.datasets import load_python_api
from coview.datasets.python_api import read_python_api_texts
from coview.escaping import for_terminal
from coview.metrics import match_ranks, normalized_mutual_info, purity
from coview.models import model_class
from coview.reporting import top_terms
from coview.reporting.terms import documents_with_view, words_or_dash
from coview.retrieval import SearchIndex
from coview.views.container import Views

N_TOPICS = 50
TOPICS_SHOWN = 12
TERMS_SHOWN = 5
ANSWERS_SHOWN = 4
# words that a person can judge the answers to, about different parts of the packages
QUERIES = (
    "sparse matrix eigenvalues",
    "fast fourier transform of a real signal",
    "fill in missing values",
    "interpolate with a cubic spline",
    "draw a confusion matrix",
)
NAME_WIDTH = 46


@dataclass(frozen=True)
class CrossViewSearch:
    """Scores of held-out items in one view, for queries that are the same items in another."""

    query_view: str
    answer_view: str
    scores: np.ndarray  # (queries, gallery); query i belongs to item i

    @property
    def ranks(self) -> np.ndarray:
        """Rank of the right answer to each query, from 1."""
        return match_ranks(self.scores)


def run_demo(
    model_name: str = "link",
    seed: int = 0,
    console: Console | None = None,
    save: Path | None = None,
    explore: Path | None = None,
) -> dict[str, float]:
    """Fit a model to 80 % of the built-in data and show topics, clusters and search.

    Parameters
    ----------
    model_name : str, default="link"
        A multi-view model by its short name, a key of `coview.models.MODEL_NAMES`.
    seed : int, default=0
        Seed of the split and of the model.
    console : rich.console.Console, optional
        Where to print; standard output by default.
    save : Path, optional
        File to save the model to.
    explore : Path, optional
        Page to write the explorer to, of all items.

    Returns
    -------
    dict of str to float
        NMI and purity of the clusters, and for both directions of the search the median rank of
        the right answer as a fraction of the held-out items.
    """
    console = console or Console()
    console.rule("[bold]coview: one topic model for docstrings and their code")
    with console.status("Reading the source files of numpy, scipy and scikit-learn ..."):
        views, sources = load_python_api(return_sources=True)
    console.print(escape(repr(views)), highlight=False)
    train, test = _split(views, seed)
    model = _fit(model_name, train, seed)
    model.keep_search(train)
    console.print(
        f"\n{type(model).__name__}, {N_TOPICS} topics, on {len(train):,} of them: "
        f"{model.n_iter_} iterations.\n"
    )
    _show_topics(console, model, train)
    figures = _show_clustering(console, model, train)
    _show_answers(console, model, views)
    searches = _search(model, test, "doc", "code"), _search(model, test, "code", "doc")
    figures |= _show_medians(console, searches, len(test))
    if save is not None:
        model.save(save)
        where = escape(for_terminal(save))
        console.print(
            f"\nSaved as {where}. Search it with: coview search {where} "
            '--view doc --in code "solve a linear system with a sparse matrix"',
            highlight=False,
        )
    if explore is not None:
        _explore(console, model, views, sources, explore)
    return figures


def _explore(
    console: Console, model: Any, views: Views, sources: Sequence[str], path: Path
) -> None:
    """Write the explorer of all items, and say where it is."""
    with console.status("Writing the explorer ..."):
        texts = read_python_api_texts(sources)
        model.explore(views, path, texts=texts, title="Functions of numpy, scipy and scikit-learn")
    size = path.stat().st_size / 1e6
    console.print(
        f"\nLook at all of it: open [bold]{escape(for_terminal(path))}[/] in a browser "
        f"({size:.1f} MB, needs no network).",
        highlight=False,
    )


def _split(views: Views, seed: int) -> tuple[Views, Views]:
    train, test = train_test_split(np.arange(len(views)), test_size=0.2, random_state=seed)
    return views[np.sort(train)], views[np.sort(test)]


def _fit(name: str, train: Views, seed: int) -> Any:
    return model_class(name)(N_TOPICS, random_state=seed, verbose=1).fit(train)


def _show_topics(console: Console, model: Any, train: Views) -> None:
    terms, having = top_terms(model, TERMS_SHOWN), documents_with_view(model)
    sizes = np.bincount(model.labels_, minlength=N_TOPICS)
    table = _table(f"The {TOPICS_SHOWN} largest topics")
    table.add_column("items", justify="right", min_width=5)
    for heading in ("in docstrings", "in code"):
        table.add_column(heading)
    table.add_column("mostly from", no_wrap=True, min_width=26)
    for topic in np.argsort(-sizes, kind="stable")[:TOPICS_SHOWN]:
        words = (
            escape(words_or_dash(terms[view][topic], *having[view][topic]))
            for view in ("doc", "code")
        )
        table.add_row(str(sizes[topic]), *words, _main_class(train, model.labels_ == topic))
    console.print(table)


def _main_class(views: Views, members: np.ndarray) -> str:
    """Return the most frequent subpackage of some items, and its share."""
    labels, counts = np.unique(_classes(views)[members], return_counts=True)
    best = counts.argmax()
    return f"{escape(str(labels[best]))} ({counts[best] / counts.sum():.0%})"


def _classes(views: Views) -> np.ndarray:
    """Return the subpackage of each item."""
    return np.asarray(views.label_names)[np.asarray(views.labels)]


def _show_clustering(console: Console, model: Any, train: Views) -> dict[str, float]:
    classes = _classes(train)
    nmi = normalized_mutual_info(classes, model.labels_)
    pure = purity(classes, model.labels_)
    shuffled = np.random.default_rng(0).permutation(model.labels_)
    chance = normalized_mutual_info(classes, shuffled)
    n_classes = len(np.unique(classes))
    console.print(
        f"\nTopics as clusters, against the {n_classes} subpackages (which the model never saw): "
        f"NMI {nmi:.2f} ({chance:.2f} for random clusters of the same sizes), purity {pure:.2f}."
    )
    return {"nmi": nmi, "purity": pure}


def _show_answers(console: Console, model: Any, views: Views) -> None:
    """Search the code of all items with words as docstrings have them; answers by name."""
    index = SearchIndex(model, in_view="code", views=views)
    table = _table("Ask in words, and code answers (docstrings are not looked at)")
    table.add_column("words", max_width=28)
    table.add_column(f"the first {ANSWERS_SHOWN} of {len(views):,} items", min_width=NAME_WIDTH)
    for query in QUERIES:
        found = index.query({"doc": query}, ANSWERS_SHOWN)
        table.add_row(query, "\n".join(_name(str(hit.id)) for hit in found), end_section=True)
    console.print(table)


def _search(model: Any, test: Views, query_view: str, answer_view: str) -> CrossViewSearch:
    """Ask for the held-out items with one view, among their other views."""
    index = SearchIndex(model, in_view=answer_view, views=test.select(answer_view))
    positions, found = index.query_many(test.select(query_view), len(test))
    scores = np.full((len(test), len(test)), -1.0)  # items without a known term
    np.put_along_axis(scores, positions, found, axis=1)
    return CrossViewSearch(query_view, answer_view, scores)


def _table(title: str) -> Table:
    return Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )


def _name(text: str) -> str:
    """Shorten a qualified name in the middle, so that both ends fit into a narrow column."""
    if len(text) > NAME_WIDTH:
        text = text[: NAME_WIDTH // 2 - 1] + "…" + text[-(NAME_WIDTH // 2) :]
    return escape(text)


def _show_medians(
    console: Console, searches: Sequence[CrossViewSearch], n_test: int
) -> dict[str, float]:
    console.print(
        f"\nThe {n_test} items that were held out, each asked for with its one view and found by "
        "its other:"
    )
    figures = {}
    for search in searches:
        median = float(np.median(search.ranks))
        first, ten = (float((search.ranks <= most).mean()) for most in (1, 10))
        figures[f"{search.query_view}_to_{search.answer_view}"] = median / n_test
        console.print(
            f"  {search.query_view} to {search.answer_view}: found first for {first:.0%}, among "
            f"ten for {ten:.0%}; median rank [bold]{median:.0f}[/] of {n_test} "
            f"({median / n_test:.1%})"
        )
    return figures
