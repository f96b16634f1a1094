"""Golden runs: the bits of every model, and the words of the commands, that must not change.

    python tests/golden/runs.py record              writes runs.json and commands/*.txt
    python tests/golden/runs.py record --commands   writes commands/*.txt alone
    python tests/golden/runs.py compare             runs all again; numbers that differ: exit code 1
    python tests/golden/runs.py compare --commands  the words of the commands as well
    ... --only models/link                          cases whose names begin so

`runs.json` has, for each case, what came out: numbers as they are, arrays as hashes of type, shape
and bytes. Of the commands it has hashes of the numbers in their output; the output itself is in
`commands/`, so that a difference can be read. What is new since the recording is no difference.

Bits do not depend on the number of threads, but on processor and libraries: those of the recording
are in the head of `runs.json`, and `test_runs.py` is skipped where they are others.

Left out, since no two runs agree on it: seconds (of comparisons and in outputs), temporary folders,
and the bytes of Parquet, MATLAB and HDF5 files, which carry times or versions. Of model files the
version of the library is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import difflib
import gzip
import hashlib
import inspect
import io
import json
import os
import platform
import re
import shlex
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

import coview  # noqa: E402
from coview import baselines, compare, datasets, metrics  # noqa: E402

# -- adapter: all that is expected to be renamed or moved ------------------------------------------

# how names are written in the recording, whatever they are called in the code
ALIASES = {"model_": "estimator_", "model": "estimator", "unlabelled": "unlabeled"}
SPELLINGS = {
    "centre": "center",
    "colour": "color",
    "labelled": "labeled",
    "neighbour": "neighbor",
    "summaris": "summariz",
    "normalis": "normaliz",
}


from coview.cli.search import search as search_command  # noqa: E402
from coview.compare.tasks import follow  # noqa: E402
from coview.graphs.adjacency import check_graph, sum_graphs  # noqa: E402
from coview.graphs.neighbors import knn_graph  # noqa: E402
from coview.reading.images import image_views  # noqa: E402
from coview.reading.matrix_files import read_matrix  # noqa: E402
from coview.reading.words import split_words  # noqa: E402
from coview.reporting import summarize_topics as topics_as_data  # noqa: E402


def named(owner: Callable, value: Any, *names: str) -> dict[str, Any]:
    """A keyword argument by the first of several names that the owner knows."""
    known = inspect.signature(owner).parameters
    return {next(name for name in names if name in known): value}


def by_metric(owner: Callable, value: str) -> dict[str, Any]:
    return named(owner, value, "metric", "kind")


def step_of(model: type, safe: bool) -> dict[str, Any]:
    if "step" in inspect.signature(model).parameters:
        return {"step": "safe" if safe else "paper"}
    return {"monotone": safe}


def step_on_command_line(safe: bool) -> str:
    (pair,) = step_of(coview.LTM, safe).items()
    return f"{pair[0]}={str(pair[1]).lower() if isinstance(pair[1], bool) else pair[1]}"


def metric_on_command_line() -> str:
    known = inspect.signature(search_command).parameters
    return "--metric" if "metric" in known else "--kind"


def unlabeled_is(value: Any) -> dict[str, Any]:
    return named(coview.TopicClassifier, value, "unlabeled", "unlabelled")


def colors_of_pictures(wanted: bool) -> dict[str, Any]:
    return named(image_views, wanted, "color", "colour")


def about_centers(centers: Any) -> dict[str, Any]:
    return named(metrics.similarity, centers, "centers", "center", "centre")


def one_name(name: str) -> str:
    """A name, or any text, as it is written in the recording."""
    name = ALIASES.get(name, name)
    for old, new in SPELLINGS.items():
        name = name.replace(old, new)
    return name


# -- hashes ----------------------------------------------------------------------------------------

# parts of results that came after the recording: a trace without seeds, and the names of topics
ADDED = ("seed_term", "strength_", "strength_path_", "topic_names_")


def fed(value: Any) -> Iterator[bytes]:
    """The bytes that tell one value from all others; names in their one spelling."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        yield f"array {value.dtype.str} {value.shape} ".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.ndarray | np.generic):
        yield from fed(value.tolist())
    elif sp.issparse(value):
        names = ("row", "col") if value.format == "coo" else ("indptr", "indices")
        yield from fed([value.format, value.shape, *(getattr(value, n) for n in names), value.data])
    elif isinstance(value, Mapping):
        yield f"dict {len(value)} ".encode()
        for key, item in value.items():
            yield from fed(str(key))
            yield from fed(item)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)} ".encode()
        for item in value:
            yield from fed(item)
    elif isinstance(value, float):
        yield f"float {float(value).hex()} ".encode()
    elif value is None or isinstance(value, bool | int | str | bytes):
        text = one_name(value) if isinstance(value, str) else value
        yield f"{text!r} ".encode()
    else:
        yield from fed(_as_plain(value))


def _as_plain(value: Any) -> Any:
    if isinstance(value, coview.Views):
        return views_as_plain(value)
    if hasattr(value, "as_data"):
        return recipe_as_plain(value)
    if is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
        return {n: part for n, part in parts.items() if n not in ADDED or part is not None}
    if hasattr(value, "get_params"):
        return fitted(value)
    raise TypeError(f"There is no hash of {type(value).__name__}.")


def digest(value: Any) -> str:
    whole = hashlib.sha256()
    for part in fed(value):
        whole.update(part)
    return whole.hexdigest()[:16]


def fact(value: Any) -> Any:
    """What the recording keeps: numbers as they are, everything else as a hash."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    return repr(value) if isinstance(value, float) else digest(value)


def facts(**values: Any) -> dict[str, Any]:
    return {name: fact(value) for name, value in values.items()}


def fitted(model: Any) -> dict[str, Any]:
    """The fitted attributes of an estimator, by the names of the recording."""
    own = {n: v for n, v in vars(model).items() if n.endswith("_") and not n.startswith("_")}
    return {one_name(name): own[name] for name in sorted(own, key=one_name) if name not in ADDED}


def views_as_plain(views: Any) -> dict[str, Any]:
    names = ("present", "ids", "features", "labels", "label_names", "recipes")
    return {"matrices": dict(views.matrices), **{n: getattr(views, n) for n in names}}


def recipe_as_plain(recipe: Any) -> Any:
    try:
        settings, arrays = recipe.as_data()
    except ValueError:
        return "code"
    ordered = json.loads(json.dumps(settings, sort_keys=True))
    return [recipe.kind, recipe.source, ordered, arrays]


# -- data ------------------------------------------------------------------------------------------


@cache
def data(name: str) -> Any:
    make = datasets.make_views
    if name == "counts":
        return make(120, 4, [60, 40], view_noise=0.3, random_state=1)
    if name == "missing":
        return make(120, 4, {"text": 60, "image": 40}, missing=0.25, random_state=2)
    if name == "three":
        return make(90, 3, [40, 30, 20], missing=0.1, view_noise=0.2, random_state=3)
    if name == "digits":
        return datasets.load_digits_views()[:200]
    if name == "news":
        table = ROOT / "examples" / "news.csv"
        return coview.Views.from_table(table, text=["en", "de"], id="id", label="topic")
    raise KeyError(name)


DATA = {"counts": 4, "missing": 4, "three": 3, "digits": 10, "news": 6}
QUICK = {"max_iter": 15, "tol": 0, "random_state": 0}


def pins(views: Any, classes: int | None = None) -> np.ndarray:
    """Topics of every third document, of the first few classes."""
    known = np.arange(len(views)) % 3 == 0
    if classes is not None:
        known &= views.labels < classes
    return np.where(known, views.labels, -1)


def citations(n_docs: int) -> sp.csr_array:
    """A graph of documents, symmetric, with weights."""
    rng = np.random.default_rng(5)
    links = sp.random_array((n_docs, n_docs), density=0.05, rng=rng, format="csr")
    links.setdiag(0)
    return sp.csr_array(links.maximum(links.T))


# -- models ----------------------------------------------------------------------------------------


def model_class(short: str) -> type:
    return getattr(coview, MODELS[short])


MODELS = {
    "plsa": "PLSA",
    "dual": "DualPLSA",
    "ltm": "LTM",
    "link": "LinkPLSA",
    "voted": "VotedPLSA",
    "pairwise": "PairwiseCoPLSA",
    "divergence": "DivergenceCoPLSA",
    "mvplsa": "MVPLSA",
    "mggm": "MGGM",
}
ONE_VIEW = ("plsa", "dual", "ltm")
# their parameters or attributes are renamed, and stand in the file
FILES_THAT_CHANGE = ("ltm", "mggm")


def model_cases(short: str) -> Iterator[tuple[str, Callable]]:
    for name, (which, params, labels) in options_of(short).items():
        yield f"models/{short}/{name}", partial(run_model, short, which, params, labels)


def run_model(short: str, which: str, params: dict, labels: Any) -> dict[str, Any]:
    views = data(which).concat() if short in ONE_VIEW else data(which)
    params = {n: v(short, views) if callable(v) else v for n, v in params.items()}
    pinned = None if labels is None else pins(views, None if labels == "all" else 2)
    model = model_class(short)(DATA[which], **{**QUICK, **params}).fit(views, labels=pinned)
    kept = {name: fact(value) for name, value in fitted(model).items()}
    return {**kept, **said_by(model, views), **file_facts(model, short, params)}


def options_of(short: str) -> dict[str, tuple[str, dict, Any]]:
    """Cases of a model by name: the data, its parameters, its pins."""
    several = short not in ONE_VIEW
    random = {"init": "random"}
    found: dict[str, tuple[str, dict, Any]] = {name: (name, {}, None) for name in DATA}
    found |= {
        f"init-{init}": ("missing", {"init": init}, None)
        for init in ("random", "kmeans", "spectral", *(["spectral_sum"] * several), "consensus")
    }
    found |= {
        "init-naive-bayes": ("missing", {"init": "naive_bayes"}, "all"),
        "init-labels": ("counts", {"init": lambda _, views: pins(views)}, None),
        "init-mixtures": ("counts", {"init": some_mixtures}, None),
        "init-model": ("counts", {"init": other_model}, None),
        "pins": ("missing", {}, "all"),
        "pins-of-some-topics": ("three", {}, "some"),
        "pins-random": ("counts", random, "some"),
        "restarts": ("missing", {**random, "n_init": 3}, None),
        "stopping": ("counts", {**random, "max_iter": 100, "tol": 1e-3}, None),
        "float64": ("missing", {"dtype": "float64"}, None),
        "float64-digits": ("digits", {"dtype": "float64", **random}, None),
        "weights-list": ("missing", {**random, "view_weights": weight_list}, None),
        "weights-dict": ("three", {**random, "view_weights": weight_dict}, None),
        "unscaled": ("digits", {**random, "scaling": None}, None),
        "assign-argmax": ("missing", {**random, "assign": "argmax"}, None),
        "assign-kmeans": ("missing", {**random, "assign": "kmeans"}, None),
        "another-seed": ("news", {**random, "random_state": 7}, None),
    }
    return found | OWN_OPTIONS.get(short, dict)()


def some_mixtures(short: str, views: Any) -> np.ndarray:
    return np.random.default_rng(3).dirichlet(np.ones(4), len(views))


def other_model(short: str, views: Any) -> Any:
    return model_class(short)(4, init="random", max_iter=3, tol=0, random_state=1).fit(views)


def weight_list(short: str, views: Any) -> list[float]:
    return [1.0, 0.5, 2.0][: views.n_views]


def weight_dict(short: str, views: Any) -> dict[str, float]:
    return {name: 0.5 + i for i, name in enumerate(views.names)}


def feature_topics() -> dict[str, tuple[str, dict, Any]]:
    return {
        "few-feature-topics": ("news", {"n_feature_topics": 3}, None),
        "many-feature-topics": ("counts", {"n_feature_topics": 35, "init": "random"}, None),
    }


def feature_topics_by_view() -> dict[str, tuple[str, dict, Any]]:
    numbers = {"text": 8, "image": 5}
    return {
        **feature_topics(),
        "feature-topics-by-view": ("missing", {"n_feature_topics": numbers}, None),
    }


def smoothing(short: str) -> dict[str, tuple[str, dict, Any]]:
    safe = step_of(model_class(short), safe=True)
    paper = step_of(model_class(short), safe=False)
    return {
        "safe": ("missing", safe, None),
        "safe-digits": ("digits", safe, None),
        "safe-pins": ("missing", safe, "all"),
        "safe-strong": ("news", {**safe, "strength": 20.0}, None),
        "paper": ("news", paper, None),
        "paper-strong": ("missing", {**paper, "strength": 20.0, "init": "random"}, None),
        "strength-0": ("missing", {"strength": 0.0}, None),
        "strength-absolute": ("counts", {"strength": 5.0, "strength_scale": "absolute"}, None),
        "neighbors-12": ("missing", {"n_neighbors": 12}, None),
        "float64-safe": ("three", {**safe, "dtype": "float64"}, None),
    }


def given_graph(short: str, views: Any) -> Any:
    graph = citations(len(views))
    return graph if short == "ltm" else {views.names[0]: graph, "cites": citations(len(views))}


def of_ltm() -> dict[str, tuple[str, dict, Any]]:
    return {**smoothing("ltm"), "graph": ("counts", {"graph": given_graph}, None)}


def of_mggm() -> dict[str, tuple[str, dict, Any]]:
    return {
        **feature_topics_by_view(),
        **smoothing("mggm"),
        "graphs": ("counts", {"graphs": given_graph}, None),
        "exponent-low": ("three", {"exponent": 0.2}, None),
        "normalized": ("three", {"exponent": 0.5, "normalize_graph_weights": True}, None),
        "init-ltm": ("missing", {"init": "ltm"}, None),
        "init-ltm-pins": ("counts", {"init": "ltm"}, "all"),
    }


def of_voted() -> dict[str, tuple[str, dict, Any]]:
    def voter(short, views):
        return coview.PLSA(init="kmeans", max_iter=5, tol=0, n_components=DATA["three"])

    return {
        "frequent": ("three", {"signatures": "frequent"}, None),
        "frequent-random": ("digits", {"signatures": "frequent", "init": "random"}, None),
        "voter": ("three", {"voter": voter}, None),
    }


def of_pairwise() -> dict[str, tuple[str, dict, Any]]:
    return {
        "paper": ("missing", {"step": "paper"}, None),
        "paper-strong": ("three", {"step": "paper", "strength": 10.0}, None),
        "safe-strong": ("three", {"step": "safe", "strength": 10.0}, None),
        "strength-0": ("missing", {"strength": 0.0}, None),
        "strength-absolute": ("counts", {"strength": 2.0, "strength_scale": "absolute"}, None),
        "bandwidth": ("counts", {"bandwidth": 0.3}, None),
        "pairs": ("missing", {"n_pairs": 200}, None),
        "pair-share": ("missing", {"pair_fraction": 0.2}, None),
        "reference-view": ("missing", {"reference_view": "image"}, None),
        "paper-reference-view": ("missing", {"step": "paper", "reference_view": "text"}, None),
    }


def of_divergence() -> dict[str, tuple[str, dict, Any]]:
    cases = {}
    for kind in ("skl", "l2", "l1"):
        own = {"divergence": kind}
        cases |= {
            f"{kind}": ("missing", own, None),
            f"{kind}-three": ("three", {**own, "init": "random"}, None),
            f"{kind}-strong": ("news", {**own, "strength": 50.0}, None),
            f"{kind}-pins": ("three", own, "all"),
            f"{kind}-float64": ("digits", {**own, "dtype": "float64", "init": "kmeans"}, None),
        }
    absolute = {"strength": 2.0, "strength_scale": "absolute"}
    return cases | {
        "strength-0": ("missing", {"strength": 0.0}, None),
        "strength-absolute": ("counts", absolute, None),
    }


OWN_OPTIONS: dict[str, Callable[[], dict]] = {
    "dual": feature_topics,
    "mvplsa": feature_topics_by_view,
    "ltm": of_ltm,
    "mggm": of_mggm,
    "voted": of_voted,
    "pairwise": of_pairwise,
    "divergence": of_divergence,
}


def said_by(model: Any, views: Any) -> dict[str, Any]:
    """What a fitted model tells of documents, all or without some of their views."""
    some = views[10:40]
    said = facts(
        transform=model.transform(some),
        predict=model.predict(some),
        predict_proba=model.predict_proba(some),
        score=model.score(some),
        score_smooth=model.score(some, smoothing=0.1),
        perplexity=model.perplexity(some),
        perplexity_held=model.perplexity(some, holdout=0.2, random_state=3),
        top_terms=coview.top_terms(model, 5),
        term_docs=model.term_docs_,
        view_docs=model.view_docs_,
        topics=topics_as_data(model, 4),
    )
    if views.n_views > 1:
        alone = {name: model.transform(some.select(name)) for name in views.names}
        lacking = without_some_views(some)
        said["transform_alone"] = fact(alone)
        said["transform_lacking"] = fact(model.transform(lacking))
        said["predict_lacking"] = fact(model.predict(lacking))
        said["score_alone"] = fact(model.score(some.select(views.names[0])))
    return said


def without_some_views(views: Any) -> Any:
    """The same documents, each without one view in turn."""
    turns = np.arange(len(views)) % views.n_views
    kept = {
        name: sp.csr_array(sp.diags_array((turns != v).astype(np.float32)) @ matrix)
        for v, (name, matrix) in enumerate(views.matrices.items())
    }
    return coview.Views(kept, features=views.features)


def file_facts(model: Any, short: str, params: Mapping) -> dict[str, Any]:
    """Of the file of a model: that it holds the same bits, its arrays and, if none of its names
    changes, its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder, "one.coview"), Path(folder, "two.coview")
        model.save(path)
        model.save(again)
        said = {
            "file_is_the_same_twice": path.read_bytes() == again.read_bytes(),
            "file_holds_all": digest(fitted(coview.load(path))) == digest(fitted(model)),
            **sealed_facts(path),
        }
    if short in FILES_THAT_CHANGE or params.get("assign") == "kmeans":
        del said["file_bytes"]
    return said


def sealed_facts(path: Path) -> dict[str, str]:
    """The arrays of a sealed file as a set, and its bytes but for the version of the library."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    layout = json.loads(raw[8:start])
    ((_, entry),) = layout.pop("__metadata__").items()
    header = json.loads(entry.split(" ", 1)[1])
    del header["library_version"]
    return {
        "file_arrays": digest(sorted(header["sha256"].values())),
        "file_bytes": digest([layout, header, raw[start:]]),
    }


# -- classifiers and baselines ---------------------------------------------------------------------


def classifier_cases() -> Iterator[tuple[str, Callable]]:
    for short in MODELS:
        for which in ("missing", "news"):
            yield f"classifier/{short}/{which}", partial(run_classifier, short, which)
    yield "classifier/numbers", run_classifier_of_numbers


def run_classifier(short: str, which: str) -> dict[str, Any]:
    views = data(which).concat() if short in ONE_VIEW else data(which)
    names = np.array([f"class {i}" for i in range(DATA[which])], dtype=object)
    y = np.where(pins(views) >= 0, names[views.labels], None)
    model = coview.TopicClassifier(model_class(short)(**QUICK)).fit(views, y)
    return classifier_facts(model, views, names[views.labels].tolist())


def run_classifier_of_numbers() -> dict[str, Any]:
    views = data("missing")
    y = np.where(pins(views) >= 0, views.labels - 1, 9)
    model = coview.TopicClassifier(coview.LinkPLSA(**QUICK), **unlabeled_is(9)).fit(views, y)
    return classifier_facts(model, views, views.labels - 1)


def classifier_facts(model: Any, views: Any, truth: Any) -> dict[str, Any]:
    kept = {name: fact(value) for name, value in fitted(model).items()}
    return kept | facts(
        predict=model.predict(views[:30]),
        predict_proba=model.predict_proba(views[:30].select(views.names[-1])),
        accuracy=model.score(views, truth),
        topics=topics_as_data(model, 3),
        evaluate=compare.evaluate(model, views.with_labels(None), truth),
    )


def baseline_cases() -> Iterator[tuple[str, Callable]]:
    for name in baselines.BASELINES:
        for which in ("counts", "missing", "digits"):
            yield f"baselines/{name}/{which}", partial(run_baseline, name, which)
    for name, made in baselines.BASELINES.items():
        if made.inner:
            yield f"baselines/{name}/news", partial(run_baseline, name, "news")
    for name, options in OTHER_BASELINES.items():
        yield f"baselines/{name}", partial(run_baseline, options[0], "counts", **options[1])


OTHER_BASELINES: dict[str, tuple[str, dict[str, Any]]] = {
    "kmeans-raw": ("kmeans", {"features": "raw"}),
    "cca-raw": ("cca", {"features": "raw"}),
    "spectral-raw": ("spectral", {"features": "raw"}),
    "mvc-euclidean": ("mvc", {"divergence": "euclidean"}),
    "best-by-silhouette": ("kmeans-best", {"criterion": "silhouette"}),
    "best-by-agreement": ("kmeans-best", {"criterion": "agreement"}),
}


def run_baseline(name: str, which: str, **params: Any) -> dict[str, Any]:
    made, views = baselines.BASELINES[name], data(which)
    quick = {"max_iter": 15} if made.inner.endswith((":PLSA", ":LTM")) else {}
    model = made(DATA[which], random_state=0, **quick, **params)
    try:
        model.fit(views) if made.task == "clustering" else model.fit(views, pins(views))
    except ValueError:  # not for such data: that must stay so, in whatever words
        return {"refused": True}
    said = {"labels": fact(getattr(model, "labels_", None))}
    for method in ("predict", "predict_proba", "transform"):
        with contextlib.suppress(AttributeError, NotImplementedError):
            said[method] = _tried(getattr(model, method), views[:30])
    return said


def _tried(method: Callable, views: Any) -> Any:
    try:
        return fact(method(views))
    except ValueError:
        return "refused"


# -- metrics ---------------------------------------------------------------------------------------


def metric_cases() -> Iterator[tuple[str, Callable]]:
    yield "metrics/clusters", cluster_metrics
    yield "metrics/rankings", ranking_metrics
    yield "metrics/topics", topic_metrics
    yield "metrics/comparison", comparison_metrics


def cluster_metrics() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(5, size=300), rng.integers(7, size=300)
    guess[:200] = truth[:200]
    names = ("adjusted_rand", "clustering_accuracy", "nmi_max", "nmi_mean", "pairwise_f", "purity")
    said = {name: fact(getattr(metrics, name)(truth, guess)) for name in names}
    for normalizer in ("max", "mean"):
        value = metrics.normalized_mutual_info(truth, guess, normalizer=normalizer)
        said[f"normalized_mutual_info_{normalizer}"] = fact(value)
    return said


def ranking_metrics() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    queries, gallery = rng.dirichlet(np.ones(6), 40), rng.dirichlet(np.ones(6), 50)
    asked, there = rng.integers(4, size=40), rng.integers(4, size=50)
    said = {}
    for kind in ("hellinger", "cosine", "correlation", "jensen-shannon"):
        scores = metrics.similarity(queries, gallery, **by_metric(metrics.similarity, kind))
        said[f"similarity_{kind}"] = fact(scores)
        said[f"median_rank_{kind}"] = fact(metrics.median_rank(scores))
        said[f"match_ranks_{kind}"] = fact(metrics.match_ranks(scores))
        said[f"precision_{kind}"] = fact(metrics.precision_at_k(scores, asked, there, k=5))
    centers = np.full(6, 0.1), np.full(6, 0.2)
    around = {**by_metric(metrics.similarity, "correlation"), **about_centers(centers)}
    said["similarity_around"] = fact(metrics.similarity(queries, gallery, **around))
    for kind in ("standard", "first_ten", "top_ten"):
        own = named(metrics.average_precisions, kind, "kind", "variant", "average")
        said[f"average_{kind}"] = fact(metrics.average_precisions(scores, asked, there, **own))
        own = named(metrics.mean_average_precision, kind, "kind", "variant", "average")
        said[f"mean_{kind}"] = fact(metrics.mean_average_precision(scores, asked, there, **own))
    return said


@cache
def fitted_to(which: str, short: str = "link") -> Any:
    views = data(which)
    return model_class(short)(DATA[which], init="random", **QUICK).fit(views)


def topic_metrics() -> dict[str, Any]:
    views, model = data("missing"), fitted_to("missing", "divergence")
    mixtures, said = model.view_doc_topic_, {}
    for kind in ("jensen_shannon", "argmax", "aligned"):
        own = {**named(metrics.view_agreement, kind, "metric", "kind"), "present": views.present}
        said[f"agreement_{kind}"] = fact(metrics.view_agreement(mixtures, **own))
        said[f"mean_agreement_{kind}"] = fact(metrics.mean_view_agreement(mixtures, **own))
    topics = model.components_["text"]
    return said | facts(
        coherence=metrics.topic_coherence(topics, views["text"], top=6),
        diversity=metrics.topic_diversity(topics, top=6),
        quality=metrics.topic_quality(model, views, top=5),
        evaluate=compare.evaluate(model, views, top=5),
    )


def comparison_metrics() -> dict[str, Any]:
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(0.8, 0.05, 12).tolist(), rng.normal(0.75, 0.05, 12).tolist()
    labels = data("missing").labels
    said = {
        f"paired_{test}": fact(compare.paired_test(ours, theirs, test=test))
        for test in ("wilcoxon", "t")
    }
    for sampling in ("uniform", "stratified"):
        drawn = compare.draw_labelled if hasattr(compare, "draw_labelled") else compare.draw_labeled
        said[f"draw_{sampling}"] = fact(drawn(labels, 0.2, sampling=sampling, seed=3))
    return said | facts(
        holm=compare.holm([0.01, 0.04, 0.03, 0.2]),
        interval=compare.bootstrap_interval(ours),
        draw_test=compare.draw_test(len(labels), 0.25, seed=4),
    )


# -- search ----------------------------------------------------------------------------------------


def search_cases() -> Iterator[tuple[str, Callable]]:
    for metric in ("hellinger", "cosine", "correlation", "jensen-shannon"):
        for space in ("topic", "semantic"):
            yield f"search/{metric}/{space}", partial(run_search, metric, space)
    yield "search/evidence", partial(run_search, "evidence", "topic")
    yield "search/texts", run_text_search


def run_search(metric: str, space: str) -> dict[str, Any]:
    views, model = data("missing"), fitted_to("missing")
    options = {**by_metric(coview.SearchIndex, metric), "space": space}
    if metric == "evidence":
        options["training_views"] = views
    if space == "semantic":
        options["labels"] = pins(views)
    queries, said = views[views.present[:, 0]][:20].select("text"), {}
    for where in (None, "text", "image"):
        index = coview.SearchIndex(model, in_view=where, **options)
        said[f"many_{where}"] = fact(index.query_many(queries, top=7))
        said[f"mixtures_{where}"] = fact(index.query_many(model.doc_topic_[:9], top=5))
        answers = index.query(coview.Doc(3), top=5, explain=True)
        said[f"document_{where}"] = fact(answers.to_rows())
    fresh = datasets.make_views(600, 4, {"text": 60, "image": 40}, random_state=2)
    index = coview.SearchIndex(model, in_view="image", views=fresh, **options)
    said["fresh"] = fact(index.query_many(queries, top=7))
    return said | index_file_facts(index, model, queries)


def index_file_facts(index: Any, model: Any, queries: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "documents.index")
        index.save(path)
        loaded = coview.SearchIndex.load(path, model=model)
        # the names in the header change with the code; the arrays do not
        said = {"file_arrays": sealed_facts(path)["file_arrays"]}
    return said | facts(loaded=loaded.query_many(queries, top=5), size=len(index))


def run_text_search() -> dict[str, Any]:
    model = fitted_to("news")
    query = {"en": "rain and wind from the sea"}
    answers = coview.search(model, query, in_view="de", top=5, explain=True)
    both = coview.search(model, {**query, "de": "Sonne und Regen"}, top=5)
    own = by_metric(coview.search, "cosine")
    return facts(
        answers=answers.to_rows(),
        both=both.to_rows(),
        cosine=coview.search(model, query, in_view="de", top=5, **own).to_rows(),
        read=model.read({"en": ["rain on Monday", None], "de": [None, "Butter im Ofen"]}),
        folded=model.transform({"de": ["Der Mond und die Sonde", "Butter und Knoblauch"]}),
    )


# -- graphs ----------------------------------------------------------------------------------------


def graph_cases() -> Iterator[tuple[str, Callable]]:
    yield "graphs/neighbors", run_neighbors
    yield "graphs/approximate", run_approximate
    yield "graphs/given", run_given_graphs


def run_neighbors() -> dict[str, Any]:
    said = {}
    for which, view in (("missing", "text"), ("digits", "fourier"), ("digits", "pixels")):
        views = data(which)
        matrix, has = views[view], views.present[:, views.names.index(view)]
        for metric in ("euclidean", "cosine"):
            for n in (1, 5):
                name = f"{which}_{view}_{metric}_{n}"
                said[name] = fact(knn_graph(matrix, n, metric=metric))
                here = knn_graph(matrix, n, metric=metric, present=has, method="exact")
                said[f"{name}_present"] = fact(here)
    said["dense"] = fact(knn_graph(data("digits")["fourier"].toarray(), 3))
    return said


def run_approximate() -> dict[str, Any]:
    views = datasets.make_views(400, 4, [50], random_state=4)
    (matrix,) = views.matrices.values()
    found = knn_graph(matrix, 5, metric="cosine", method="approximate", seed=1)
    return facts(graph=found)


def run_given_graphs() -> dict[str, Any]:
    rng = np.random.default_rng(6)
    directed = sp.random_array((50, 50), density=0.1, rng=rng, format="csr")
    edges = [("a", "b"), ("b", "c", 2.0), ("c", "a", 0.5), ("d", "d"), ("x", "a")]
    names = ["a", "b", "c", "d"]
    return facts(
        directed=check_graph(directed, 50, "links"),
        dense=check_graph([[1, 2], [2, 0]], 2),
        none=check_graph(np.zeros((3, 3)), 3, allow_empty=True),
        summed=sum_graphs([citations(20), sp.csr_array(np.eye(20)[::-1])], [0.3, 0.7]),
        edges=coview.edge_graph(edges, names, unknown="ignore"),
        links=coview.Views.from_graph(edges, ids=names, both=True, unknown="ignore"),
        links_in_order=coview.Views.from_graph(edges, name="cites"),
        matrix=coview.Views.from_graph(directed, both=True),
    )


# -- reading ---------------------------------------------------------------------------------------


def reading_cases() -> Iterator[tuple[str, Callable]]:
    yield "reading/table", in_folder(read_tables)
    yield "reading/texts", read_texts
    yield "reading/frames", read_frames
    yield "reading/files", in_folder(read_files)
    yield "reading/pictures", in_folder(read_pictures)
    yield "reading/mudata", in_folder(read_mudata)
    yield "reading/views", change_views
    yield "reading/folder", in_folder(write_views)
    yield "reading/generated", generated


def in_folder(work: Callable[[Path], dict]) -> Callable[[], dict]:
    def run():
        with tempfile.TemporaryDirectory() as folder:
            return work(Path(folder))

    return run


def news_rows() -> list[dict[str, str]]:
    with (ROOT / "examples" / "news.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_tables(folder: Path) -> dict[str, Any]:
    import pandas as pd

    frame = pd.DataFrame(news_rows())
    frame["tags"] = [" ".join(sorted(set(topic))) for topic in frame["topic"]]
    frame.to_csv(folder / "news.tsv", sep="\t", index=False)
    frame.to_csv(folder / "news.csv.gz", index=False)
    frame.to_csv(folder / "odd.csv", sep=";", index=False, encoding="latin-1")
    frame.to_json(folder / "news.jsonl", orient="records", lines=True, force_ascii=False)
    frame.to_parquet(folder / "news.parquet")
    columns = {"text": ["en", "de"], "tokens": {"marks": "tags"}, "id": "id", "label": "topic"}
    read = partial(coview.Views.from_table, **columns)
    odd = read(folder / "odd.csv", delimiter=";", encoding="latin-1")
    files = ("news.tsv", "news.csv.gz", "news.jsonl", "news.parquet")
    said = {name: fact(read(folder / name)) for name in files}
    options = {
        "plain": {"stop_words": None, "languages": None, "min_df": 1, "max_df": 1.0},
        "pruned": {"min_df": 3, "max_df": 0.2, "max_features": 50},
        "pairs": {"ngram_range": (1, 2)},
        "own_stop_words": {"stop_words": {"en": ["rain"]}, "languages": {"de": "german"}},
    }
    path = folder / "news.tsv"
    return {**said, "odd": fact(odd)} | {n: fact(read(path, **o)) for n, o in options.items()}


TEXTS = {
    "en": ["the cat and the dog", "dogs sleep", None, "", "The-dog's naïve café 3.5"],
    "zh": ["我们喜欢吃苹果", "苹果和香蕉", "今天天气很好", None, "吃饭"],
    "ja": ["猫が好きです", None, "東京タワー", "カタカナ", "ひらがな"],
    "words": [["a", "b"], ["b"], [], None, ["c", "c"]],
}


def read_texts() -> dict[str, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    views = coview.Views.from_texts(TEXTS, ids=list("abcde"), labels=[0, 1, -1, 0, 1])
    weighted = coview.Views.from_texts(TEXTS["en"], vectorizer=TfidfVectorizer())
    new = {"en": ["dogs and cats", None], "words": [["b", "z"], ["a"]]}
    counted = {name: views.recipes[name].counts(items) for name, items in new.items()}
    words = [list(split_words(text)) for texts in TEXTS.values() for text in texts
             if isinstance(text, str)]  # fmt: skip
    return facts(views=views, weighted=weighted, counted=counted, words=words)


def read_frames() -> dict[str, Any]:
    import pandas as pd
    import polars as pl

    columns = {"en": TEXTS["en"], "n_red": [1, 0, 2, 0, 0], "n_blue": [0, 2, 0, 1, 5]}
    columns |= {"kind": ["x", "y", None, "x", "y"], "name": list("abcde")}
    options = {"text": "en", "counts": {"colors": "n_*"}, "label": "kind", "id": "name"}
    indexed = pd.DataFrame(columns).set_index("name")
    matrix = pd.DataFrame([[1, 2], [0, 3]], columns=["u", "v"], index=["one", "two"])
    read = coview.Views.from_dataframe
    return facts(
        pandas=read(pd.DataFrame(columns), **options),
        polars=read(pl.DataFrame(columns), **options),
        lazy=read(pl.LazyFrame(columns), **options),
        arrow=read(pl.DataFrame(columns).to_arrow(), **options),
        indexed=read(indexed, text="en", tokens="kind"),
        matrix=coview.Views({"m": matrix}),
    )


def read_files(folder: Path) -> dict[str, Any]:
    from scipy.io import mmwrite, savemat
    from sklearn.datasets import dump_svmlight_file

    matrix, labels = data("missing")["text"], data("missing").labels
    dense = data("digits")["fourier"].toarray()[: len(labels)]
    mmwrite(folder / "a.mtx", sp.coo_array(matrix))
    sp.save_npz(folder / "a.npz", sp.csr_matrix(matrix))
    np.savez(folder / "several.npz", small=dense[:2], large=dense)
    np.save(folder / "b.npy", dense)
    dump_svmlight_file(sp.csr_matrix(matrix), labels, str(folder / "a.svmlight"), zero_based=False)
    for name, packed in (("a.mat", True), ("plain.mat", False)):
        contents = {"counts": sp.csc_matrix(matrix), "dense": dense, "n": 3}
        savemat(folder / name, contents, do_compression=packed)
    (folder / "ids.txt").write_text("".join(f"doc {i}\n" for i in range(len(labels))))
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in labels))
    names = [f"w{i}" for i in range(matrix.shape[1])]
    single = {n: fact(read_matrix(folder / n)) for n in ("a.mtx", "a.npz", "b.npy", "a.svmlight")}
    for name in ("a.mat", "plain.mat"):
        for variable in ("counts", "dense"):
            single[f"{name}_{variable}"] = fact(read_matrix(folder / name, variable=variable))
    paths = {"words": folder / "a.mtx", "points": folder / "several.npz", "m": folder / "a.mat"}
    together = coview.Views.from_files(
        paths,
        ids=folder / "ids.txt",
        labels=folder / "labels.txt",
        features={"words": names},
        variable={"points": "large", "m": "counts"},
    )
    own = coview.Views.from_files({"words": folder / "a.svmlight"}, features={"words": names})
    return single | facts(together=together, own_labels=own)


def draw(kind: int, rng: np.random.Generator) -> np.ndarray:
    """A small picture: stripes, squares or discs."""
    picture = np.full((72, 96, 3), 30, np.uint8)
    y, x = np.mgrid[:72, :96]
    if kind == 0:
        picture[((x + rng.integers(20)) // 6) % 2 == 0] = (40, 40, 220)
    elif kind == 1:
        picture[(((x + rng.integers(20)) // 12) + (y // 12)) % 2 == 0] = (40, 200, 40)
    else:
        for _ in range(8):
            cx, cy, r = rng.integers(10, 86), rng.integers(10, 62), rng.integers(5, 11)
            picture[(x - cx) ** 2 + (y - cy) ** 2 < r**2] = (220, 160, 40)
    return picture


CAPTIONS = ("lines bars zebra", "chess board tiles", "balls circles dots")


def write_pictures(folder: Path, n: int = 18) -> list[Path]:
    import cv2

    rng = np.random.default_rng(8)
    folder.mkdir()
    paths = [folder / f"{['stripes', 'squares', 'discs'][i % 3]}{i:02d}.png" for i in range(n)]
    for i, path in enumerate(paths):
        cv2.imwrite(str(path), draw(i % 3, rng))
        if i % 5:
            path.with_suffix(".txt").write_text(CAPTIONS[i % 3])
    return paths


def read_pictures(folder: Path) -> dict[str, Any]:
    paths = write_pictures(folder / "photos")
    read = coview.Views.from_images
    some = read(folder / "photos", n_words=20)
    listed = [*paths[:6], None, draw(2, np.random.default_rng(1))]
    new = {name: recipe.counts([paths[0], None]) for name, recipe in some.recipes.items()
           if recipe is not None and recipe.source != "caption"}  # fmt: skip
    return facts(
        folder=some,
        grey=read(paths, n_words=10, max_side=48, **colors_of_pictures(False)),
        colors=read(listed, n_words=0, captions=["red cat"] * 8, name="photo"),
        counted=new,
    )


def some_cells() -> Any:
    import anndata
    import mudata

    rng = np.random.default_rng(9)
    names = np.array([f"cell{i}" for i in range(40)])
    rna = anndata.AnnData(rng.poisson(2.0, (40, 25)).astype(np.float32))
    rna.obs_names, rna.var_names = names, [f"g{i}" for i in range(25)]
    rna.layers["double"] = 2 * rna.X
    protein = anndata.AnnData(rng.poisson(5.0, (30, 10)).astype(np.float32))
    protein.obs_names, protein.var_names = names[10:], [f"p{i}" for i in range(10)]
    cells = mudata.MuData({"rna": rna, "prot": protein})
    cells.obs["kind"] = [["t", "b"][i % 2] for i in range(cells.n_obs)]
    return cells


def read_mudata(folder: Path) -> dict[str, Any]:
    cells = some_cells()
    cells.write(folder / "cells.h5mu")
    views = coview.Views.from_mudata(folder / "cells.h5mu", label="kind")
    model = coview.LinkPLSA(2, init="random", **QUICK).fit(views)
    options = {"modalities": ["rna"], "layers": {"rna": "double"}}
    coview.to_mudata(model, cells)
    return facts(
        file=views,
        memory=coview.Views.from_mudata(cells),
        one=coview.Views.from_mudata(cells, **options),
        mixtures={k: np.asarray(v) for k, v in sorted(cells.obsm.items()) if "coview" in k},
        topics={k: np.asarray(v) for k, v in sorted(cells["rna"].varm.items()) if "coview" in k},
    )


def change_views() -> dict[str, Any]:
    views = data("missing")
    parts = {"en": [[1], [2], [3]], "fr": [[30], [10]]}
    on = {"en": ["a", "b", "c"], "fr": ["c", "a"]}
    return facts(
        rows=views[::3],
        selected=views.select("image"),
        concat=views.concat(),
        split=views.split("text", 3, random_state=2),
        labels=views.with_labels(None),
        present=views.with_present(None),
        inner=coview.Views.align(parts, on=on),
        outer=coview.Views.align(parts, on=on, how="outer"),
    )


def write_views(folder: Path) -> dict[str, Any]:
    said = {}
    write_pictures(folder / "photos")
    made = {
        "news": data("news"),
        "missing": data("missing"),
        "texts": coview.Views.from_texts(TEXTS),
        "photos": coview.Views.from_images(folder / "photos", n_words=12),
    }
    for name, views in made.items():
        target = folder / f"{name}_views"
        views.save(target)
        back = coview.Views.load(target)
        said[f"{name}_read_back"] = fact(back)
        said[f"{name}_is_the_same"] = digest(back) == digest(views)
        said |= {
            f"{name}/{one_name(str(path.relative_to(target)))}": file_digest(path)
            for path in sorted(target.rglob("*"))
            if path.is_file()
        }
    return said


def file_digest(path: Path) -> str:
    """Of text files in one spelling, of others as they are."""
    contents = path.read_bytes()
    if path.suffix == ".gz":  # its head holds a time
        return digest(gzip.decompress(contents))
    if path.suffix in (".npy", ".npz"):
        return digest(contents)
    return digest(contents.decode("utf-8"))


def generated() -> dict[str, Any]:
    said = {name: fact(data(name)) for name in DATA}
    return said | facts(digits_whole=datasets.load_digits_views())


# -- comparisons -----------------------------------------------------------------------------------


def comparison_cases() -> Iterator[tuple[str, Callable]]:
    for name in PLANS:
        yield f"compare/{name}", partial(run_plan, name)
    yield "compare/convergence", run_convergence


FEW = {"init": "random", "max_iter": 5, "tol": 0.0}
PLANS: dict[str, dict[str, Any]] = {
    "cluster": {
        "models": [
            {"name": "link", "params": FEW},
            {"name": "divergence", "params": FEW, "grid": {"strength": [0.5, 5]}},
            {"name": "plsa", "label": "side by side", "params": FEW, "concat": True},
            "kmeans",
            {"name": "kmeans-best", "label": "best", "oracle": True},
        ],
        "seeds": 6,
    },
    "classify": {
        "models": [{"name": "link", "params": FEW}, "nb", "cotraining"],
        "task": "classify",
        "label_rates": [0.1, 0.3],
        "label_sampling": "stratified",
        "seeds": 3,
    },
    "retrieve": {
        "models": [{"name": "link", "params": FEW}, {"name": "mvplsa", "params": FEW}, "scm"],
        "task": "retrieve",
        "spaces": ["topic", "semantic"],
        "fold_ins": ["separate", "joint"],
        "seeds": 2,
    },
    "retrieve-fitted": {
        "models": [{"name": "divergence", "params": FEW}],
        "task": "retrieve",
        "training_mixtures": "fitted",
        "seeds": 2,
        "test_share": 0.4,
        "pairs": [["text", "image"]],
    },
}
TABLES = {
    "cluster": ("accuracy", {"rows": "model", "columns": "dataset"}),
    "classify": ("accuracy", {"rows": "model", "columns": "rate"}),
    "retrieve": ("map_standard", {"rows": "part", "columns": "model"}),
    "retrieve-fitted": ("map_standard", {"rows": "part", "columns": "model"}),
}
# parameters, settings and versions are named otherwise later, and seconds differ in each run
KEPT_COLUMNS = (
    *("dataset", "label", "seed", "rate", "part", "metric", "value"),
    *("iterations", "documents", "oracle"),
)


def run_plan(name: str) -> dict[str, Any]:
    steps = ["l2"] if name == "retrieve-fitted" else []
    sets = [{"name": "small", "steps": steps}, {"name": "other", "options": {}}]
    plan = compare.Plan(sets[: 2 if name == "cluster" else 1], **PLANS[name])
    given = {"small": data("missing"), "other": data("three")}
    results = compare.run(plan, n_jobs=1, data=given)
    metric, axes = TABLES[name]
    said = {"failures": len(results.failures), "rows": fact(csv_rows(results))}
    for form in ("markdown", "latex", "text"):
        said[f"table_{form}"] = fact(results.table(metric, format=form, notes=False, **axes))
    intervals = {"spread": "interval", "test": "t", "digits": 3, "notes": False}
    return {**said, "intervals": fact(results.table(metric, **intervals, **axes))}


def csv_rows(results: Any) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.csv")
        results.to_csv(path)
        with path.open(newline="", encoding="utf-8") as file:
            return sorted([row[n] for n in KEPT_COLUMNS] for row in csv.DictReader(file))


def run_convergence() -> dict[str, Any]:
    views, said = data("missing"), {}
    for short in ("link", "mggm", "divergence"):
        model = model_class(short)(4, init="random", **QUICK)
        metric = partial(metrics.clustering_accuracy, views.labels)
        one, values = follow(model, views, metric)
        said[short] = fact([values, fitted(one)])
    return said


# -- commands --------------------------------------------------------------------------------------

NEWS = "news.csv --text en --text de --id id"
FEW_STEPS = "--set max_iter=15 --set tol=0"
QUERY = "search news.coview --view en --in de 'rain and wind from the sea'"
MEASURED = "news.csv --text en --text de --label topic"


def command_lines() -> dict[str, str]:
    """Commands by name, in the order in which they are run; later ones use earlier files."""
    return {
        "demo": "demo",
        "fit": f"fit {NEWS} -k 6 -o news.coview",
        "fit_json": f"fit {NEWS} -k 6 -o again.coview --json",
        "fit_mggm": f"fit {NEWS} --model mggm --feature-topics 8 -k 6 --graph cites=cites.csv "
        f"-o mggm.coview {FEW_STEPS}",
        "fit_ltm": f"fit {NEWS} --model ltm --concat -k 6 -o ltm.coview {FEW_STEPS} "
        f"--set {step_on_command_line(safe=True)}",
        "fit_links": f"fit {NEWS} --links cites.csv --model divergence -k 6 --strength 2 "
        f"--set divergence=l2 -o links.coview {FEW_STEPS}",
        "fit_classify": f"fit {NEWS} --label topic --classify -o classes.coview",
        "fit_matrices": "fit --view words=words.mtx --view links=links.npz -k 4 "
        f"-o matrices.coview {FEW_STEPS}",
        "fit_pictures": f"fit photos -k 3 -o photos.coview {FEW_STEPS}",
        "fit_cells": f"fit cells.h5mu -k 2 -o cells.coview {FEW_STEPS}",
        "topics": "topics news.coview --terms 5",
        "topics_json": "topics mggm.coview --top 3 --relevance 1 --json",
        "topics_file": "topics classes.coview --view en -o topics.csv",
        "info": "info news.coview",
        "info_classes": "info classes.coview",
        "info_json": "info photos.coview --json",
        "predict": "predict news.coview new.csv --id id",
        "predict_classes": "predict classes.coview new.csv --id id --json",
        "predict_pictures": "predict photos.coview photos -o pictures.csv",
        "transform": "transform news.coview new.csv --id id --json",
        "transform_file": "transform mggm.coview new.csv --id id -o out.tsv",
        "search": f"{QUERY} --show news.csv --id id --top 3",
        "search_explained": f"{QUERY} --explain --top 3",
        "search_json": f"{QUERY} --json {metric_on_command_line()} correlation",
        "search_index": f"{QUERY} --index news.index --top 4",
        "search_index_again": f"{QUERY} --index news.index --top 4",
        "info_index": "info news.index",
        "search_like": "search news.coview --like weather-01 --top 4",
        "search_among": f"{QUERY} --among new.csv --id id",
        "convert": f"convert {NEWS} --label topic -o views",
        "info_folder": "info views",
        "fit_folder": f"fit views -k 6 --model mvplsa -o mv.coview {FEW_STEPS}",
        "evaluate": f"evaluate news.coview {MEASURED}",
        "evaluate_json": f"evaluate classes.coview {MEASURED} --json",
        "compare": f"compare {MEASURED} --model link --model plsa --model kmeans --model spectral "
        "--seeds 2 --jobs 1 --metric accuracy --metric nmi_max",
        "compare_classify": "compare views --task classify --model link --model nb-ensemble "
        "--rates 0.1,0.3 --seeds 2 --jobs 1 --table md --metric accuracy",
        "compare_retrieve": "compare views --task retrieve --model link --model scm --seeds 2 "
        "--jobs 1 --table latex --metric map_standard",
        "data_list": "data list",
        "data_info": "data info mfeat",
        "data_info_json": "data info cora --json",
        "error_option": f"fit {NEWS} -k 0",
        "error_column": "fit news.csv --text fr",
        "error_file": "topics news.csv",
    }


def prepare_commands() -> None:
    """The files that the commands read, in the current folder."""
    rows = news_rows()
    Path("news.csv").write_bytes((ROOT / "examples" / "news.csv").read_bytes())
    with open("new.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "en", "de"])
        writer.writerow(["x", "Rain and wind in the evening", ""])
        writer.writerow(["y", "", "Butter und Knoblauch im Ofen backen"])
        writer.writerow(["z", "The team won the final", "Die Mannschaft gewann"])
    cites = ((row["id"], rows[(7 * i + 3) % len(rows)]["id"]) for i, row in enumerate(rows))
    lines = ["source,target", *(f"{a},{b}" for a, b in cites)]
    Path("cites.csv").write_text("\n".join(lines) + "\n")
    from scipy.io import mmwrite

    mmwrite("words.mtx", sp.coo_array(data("missing")["text"]))
    sp.save_npz("links.npz", sp.csr_matrix(data("missing")["image"]))
    write_pictures(Path("photos"))
    some_cells().write("cells.h5mu")


@contextlib.contextmanager
def among_files() -> Iterator[None]:
    settings = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "COVIEW_DATA": "no-such-folder"}
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prepare_commands()
        os.environ |= settings
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before


def outputs(only: str) -> dict[str, str]:
    """What each command says, and the tables it writes."""
    if not "commands/".startswith(only[:9]):
        return {}
    with among_files():
        # all of them are run: later ones need the files of earlier ones
        return {name: output_of(line) for name, line in command_lines().items()}


def output_of(line: str) -> str:
    from tests.cli.command import inside

    arguments = shlex.split(line)
    code, out, err = inside(*arguments)
    said = [f"$ coview {line}", f"exit code: {code}", out, "-- standard error", err]
    written = arguments[arguments.index("-o") + 1] if "-o" in arguments else ""
    if written.endswith((".csv", ".tsv")):
        said += [f"-- {written}", Path(written).read_text(encoding="utf-8")]
    return without_chance("\n".join(said))


TIMES = re.compile(r"\b\d+(\.\d+)? ?(ms|s|seconds?|minutes?|min)\b|\b\d+:\d\d:\d\d\b")
SIZES = re.compile(r"(\bbytes\W+)[\d,]+\d")  # of a file, with names that may become longer


def without_chance(text: str) -> str:
    """Without times, folders, versions and sizes of files, and without blanks at ends of lines."""
    text = text.replace(os.getcwd(), "FOLDER").replace(str(Path.home()), "HOME")
    text = TIMES.sub("TIME", text.replace(coview.__version__, "VERSION"))
    text = SIZES.sub(r"\1SIZE", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def numbers(text: str) -> list[str]:
    """All numbers in an output but those in the command itself."""
    return NUMBER.findall(text.split("\n", 1)[1])


# -- the recording ---------------------------------------------------------------------------------

RECORDING, WORDS = HERE / "runs.json", HERE / "commands"
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "opencv-python-headless")


def all_cases() -> Iterator[tuple[str, Callable[[], dict]]]:
    for short in MODELS:
        yield from model_cases(short)
    yield from classifier_cases()
    yield from baseline_cases()
    yield from metric_cases()
    yield from search_cases()
    yield from graph_cases()
    yield from reading_cases()
    yield from comparison_cases()


def run_all(only: str = "") -> dict[str, dict[str, Any]]:
    ran = {}
    for name, case in all_cases():
        if name.startswith(only):
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ran[name] = case()
            if os.environ.get("GOLDEN_TIMES"):
                print(f"{time.perf_counter() - begin:7.2f} s  {name}", file=sys.stderr)
    return ran


def header() -> dict[str, str]:
    """What bits may depend on."""
    found = {"machine": platform.machine(), "processor": _processor()}
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _processor() -> str:
    """The kind for which numba compiles: processors of one name may differ in what they can do."""
    from llvmlite.binding import get_host_cpu_name

    return str(get_host_cpu_name())


def recorded() -> dict[str, Any]:
    return json.loads(RECORDING.read_text(encoding="utf-8"))


def record(words_alone: bool) -> int:
    said = outputs("")
    if not words_alone:
        ran = run_all()
        ran |= {f"commands/{n}": {"numbers": digest(numbers(t))} for n, t in said.items()}
        text = json.dumps({"header": header(), "runs": ran}, indent=1, ensure_ascii=False)
        RECORDING.write_text(text + "\n", encoding="utf-8")
        print(f"{len(ran)} cases written to {RECORDING}.")
    WORDS.mkdir(exist_ok=True)
    for old in WORDS.glob("*.txt"):
        old.unlink()
    for name, text in said.items():
        (WORDS / f"{name}.txt").write_text(text, encoding="utf-8")
    return 0


def compare_all(words: bool, only: str) -> int:
    known = {n: v for n, v in recorded()["runs"].items() if n.startswith(only)}
    said = outputs(only)
    ran = run_all(only)
    ran |= {f"commands/{n}": {"numbers": digest(numbers(t))} for n, t in said.items()}
    different = list(differences(known, {n: v for n, v in ran.items() if n.startswith(only)}))
    for line in different:
        print(line)
    for name in said:
        text = list(difference_of_numbers(name, said[name]))
        text += list(difference_of_words(name, said[name])) if words else []
        different += text
        print("\n".join(text), end="\n" if text else "")
    print(f"{len(known)} cases compared, {len(different) or 'no'} differences.")
    return int(bool(different))


def differences(known: Mapping, ran: Mapping) -> Iterator[str]:
    """What was recorded and is no longer so; what is new is no difference."""
    for case, old in known.items():
        new = ran.get(case)
        if new is None:
            yield f"{case}: is no longer run"
            continue
        for name, value in old.items():
            if name not in new:
                yield f"{case}: {name} is gone"
            elif new[name] != value:
                yield f"{case}: {name} was {value}, is {new[name]}"


def difference_of_numbers(name: str, text: str) -> Iterator[str]:
    old = recorded_words(name)
    if old is not None and numbers(old) != numbers(text):
        yield f"commands/{name}: other numbers (- was, + is)"
        yield from _unified(numbers(old), numbers(text))


def difference_of_words(name: str, text: str) -> Iterator[str]:
    old = recorded_words(name)
    if old is None:
        yield f"commands/{name}: not recorded"
    elif old != text:
        yield f"commands/{name}: other words (- was, + is)"
        yield from _unified(old.splitlines(), text.splitlines())


def recorded_words(name: str) -> str | None:
    path = WORDS / f"{name}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else None


def _unified(old: list[str], new: list[str]) -> Iterator[str]:
    for line in list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]:
        yield f"    {line}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("--commands", action="store_true", help="the words of the commands")
    parser.add_argument("--only", default="", help="cases whose names begin so")
    given = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    if given.what == "record":
        return record(given.commands)
    return compare_all(given.commands, given.only)


if __name__ == "__main__":
    sys.exit(main())
