"""Plans of paper 001: which models are run on which data, with how many seeds.

Table 2 is measured three times: to the letter ("letter"), with the settings of the papers where
they work ("paper"), and with our defaults ("defaults"). The number of seeds of a model depends on
its cost and on how much it varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from experiments.paper import published

from coview.compare import Data, Entry, Plan

MFEAT, REUTERS, CORA = "mfeat", "reuters1200", "cora"
VIEWS = {
    MFEAT: ("pix", "fou", "fac", "zer", "mor"),
    REUTERS: ("en", "fr", "gr"),
    CORA: ("content", "cites"),
}
DATA = {name: Data(name, views=views) for name, views in VIEWS.items()}
BY_MAXIMUM = Data(MFEAT, "mfeat, views divided by their maximum", views=VIEWS[MFEAT], steps=["max"])

# Section 4.5: Q, lambda_1 and lambda_2 of each data set; cora, which is not the paper's, has 100
# for 2000
SETTINGS = {MFEAT: (100, 15_000.0, 0.95), REUTERS: (900, 300.0, 0.95), CORA: (100, 300.0, 0.8)}
# LTM as its authors' own program has it (Cai, Wang & He, 2009), in graphs that work
WORKS = {"neighbor_metric": "auto", "assign": "kmeans"}
CAI = published("ltm", **WORKS)
RAW = {"features": "raw", "n_init": 1}

# Number of seeds: more where runs differ more, fewer where they are expensive.
KINDS = ("paper", "LTM", "one graph", "defaults", "defaults, others", "spectral", "co-regularised")
SEEDS = {
    MFEAT: dict(zip(KINDS, (10, 5, 3, 10, 5, 10, 2), strict=True)) | {"letter": 3},
    REUTERS: dict(zip(KINDS, (10, 10, 3, 10, 10, 10, 10), strict=True)) | {"letter": 3},
    CORA: dict(zip(KINDS, (10, 5, 3, 10, 5, 10, 2), strict=True)) | {"letter": 3},
}

STRENGTHS, EXPONENTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0), (0.5, 0.95)
NEIGHBORS, FEATURE_TOPICS = (3, 5, 10, 20, 50), (10, 20, 50, 100, 200)
ITERATIONS = (1, 3, 5, 10, 20, 30, 50, 100, 200)
SIZES = (5_000, 10_000, 20_000, 30_000, 60_000)

GRAPHS = {name: [f"MGGM, graph of {view}" for view in views] for name, views in VIEWS.items()}
HONEST = {model: f"{model}, view chosen without labels" for model in ("LTM", "PLSA", "K-means")}
PLSA_ORACLE = "PLSA, best view"
TRIAL, CONSENSUS = "trial of starts", "consensus (our default)"
EQUAL = {"view_weights": "balanced"}  # in the figures, where something else is varied
BY_TRIAL = {"init": "trial"}  # of several starts, the best objective
BY_KMEANS = "MGGM, clusters by k-means on the mixtures"
CONCAT_SCALED = "ConcatLTM, views divided by their maximum"


# -- models ----------------------------------------------------------------------------------------


def _mggm(name: str, **changes: Any) -> dict[str, Any]:
    """Return MGGM's parameters as in the paper, but with graphs, start and read-out that work."""
    ours = {"init": "ltm", "feature_topics_init": "topics", **WORKS}
    return _letter(name) | ours | changes


def _letter(name: str) -> dict[str, Any]:
    """Return MGGM's parameters to the letter."""
    topics, strength, exponent = SETTINGS[name]
    return published("mggm", n_feature_topics=topics, strength=strength, exponent=exponent)


def _to_the_letter(name: str) -> list[Entry]:
    return [
        Entry("mggm", "MGGM", _letter(name)),
        Entry("mggm", BY_KMEANS, _letter(name) | {"assign": "kmeans"}),
        Entry("mvplsa", "MVPLSA", published("mvplsa", n_feature_topics=SETTINGS[name][0])),
        Entry("ltm-concat", "ConcatLTM", published("ltm")),
        Entry("plsa-concat", "ConcatPLSA", published("plsa")),
        Entry("link", "LinkPLSA", published("link")),
    ]


def _as_they_are(name: str) -> dict[str, Any]:
    return {"scaling": None, "view_weights": [1.0] * len(VIEWS[name])}


def _paper(name: str) -> list[Entry]:
    """Return Table 2 with the settings of the paper and of those it builds on."""
    random = {"init": "random", "scaling": None}
    topics = {"n_feature_topics": SETTINGS[name][0]}
    return [
        Entry("mggm", "MGGM", _mggm(name)),
        Entry("mvplsa", "MVPLSA", {"init": "random", **_as_they_are(name), **topics}),
        Entry("kmeans-best", "K-means", RAW, oracle=True),
        Entry("kmeans", "ConcatK-means", RAW),
        Entry("plsa-concat", "ConcatPLSA", random),
        Entry("link", "LinkPLSA", {"init": "random", **_as_they_are(name)}),
    ]


def _ltm() -> list[Entry]:
    """Return LTM as its authors run it: the best of ten starts."""
    return [
        Entry("ltm-best", "LTM", CAI, oracle=True),
        Entry("ltm-best", HONEST["LTM"], CAI),
        Entry("ltm-concat", "ConcatLTM", CAI),
    ]


def _one_graph(name: str) -> list[Entry]:
    pairs = zip(GRAPHS[name], VIEWS[name], strict=True)
    return [Entry("one-graph", label, _mggm(name, view=view)) for label, view in pairs]


def _others() -> list[Entry]:
    """Return the other rows of our defaults; models of single views keep the start of before."""
    return [
        Entry("mvplsa", "MVPLSA"),
        Entry("link", "LinkPLSA"),
        Entry("ltm-best", "LTM", BY_TRIAL, oracle=True),
        Entry("ltm-best", HONEST["LTM"], BY_TRIAL),
        Entry("plsa-best", PLSA_ORACLE, BY_TRIAL, oracle=True),
        Entry("plsa-best", HONEST["PLSA"], BY_TRIAL),
        Entry("plsa-concat", "ConcatPLSA"),
        Entry("kmeans-best", "K-means", oracle=True),
        Entry("kmeans-best", HONEST["K-means"]),
        Entry("kmeans", "ConcatK-means"),
        Entry("mvc", "MVC"),
    ]


# -- plans -----------------------------------------------------------------------------------------


def plans(quick: bool) -> dict[str, Plan]:
    """Return all plans of the paper; `quick` keeps one seed and little of each grid."""
    found: dict[str, Plan] = {}
    for name in DATA:
        found |= _table_2(name)
    found |= _figures()
    return {name: _shortened(plan) for name, plan in found.items()} if quick else found


def _table_2(name: str) -> dict[str, Plan]:
    seeds = SEEDS[name]
    models = {
        "letter": _to_the_letter(name),
        "paper": _paper(name),
        "LTM": _ltm(),
        "one graph": _one_graph(name),
        "defaults": [Entry("mggm", "MGGM"), Entry("ltm-concat", "ConcatLTM")],
        "defaults, others": _others(),
        "spectral": [Entry("spectral", "Spectral"), Entry("cca", "CCA")],
        "co-regularised": [Entry("coreg-pairwise", "PRSC"), Entry("coreg-centroid", "CRSC")],
    }
    return {
        f"{kind}, {name}": Plan([DATA[name]], models[kind], seeds=seeds[kind]) for kind in models
    }


def _shortened(plan: Plan) -> Plan:
    """Keep one seed, one value of each parameter, few iterations; drop the slowest models."""
    models = [_cheap(m) for m in plan.models if m.name not in ("ltm-best", "mvc", "coreg-centroid")]
    models = models[:1] if models[0].name == "one-graph" else models
    data = [d for d in plan.datasets if d.options.get("n_docs", 0) <= min(SIZES)]
    return replace(plan, models=models, seeds=1, datasets=data)


def _cheap(entry: Entry) -> Entry:
    params, kind = dict(entry.params), entry.name.split("-")[0]
    if kind in ("mggm", "one", "mvplsa", "link", "ltm", "plsa"):
        params |= {"max_iter": 5}
        params.setdefault("init", "kmeans")
    if "n_feature_topics" in params:
        params["n_feature_topics"] = 20
    return replace(entry, params=params, grid={n: list(v[:1]) for n, v in entry.grid.items()})


def _figures() -> dict[str, Plan]:
    found = {"left open": _left_open()}
    for name, seeds in ((REUTERS, 5), (MFEAT, 3), (CORA, 3)):
        exponents = list(EXPONENTS if name == REUTERS else EXPONENTS[-1:])
        found[f"strength, {name}"] = _grid(
            name, seeds, strength=list(STRENGTHS), exponent=exponents
        )
        found[f"neighbours, {name}"] = _grid(name, seeds, n_neighbors=list(NEIGHBORS))
    for name, seeds in ((REUTERS, 5), (MFEAT, 3)):
        found[f"feature topics, {name}"] = _grid(name, seeds, n_feature_topics=list(FEATURE_TOPICS))
        found[f"starts, {name}"] = _starts(name, 2 * seeds)
    for name, seeds in ((REUTERS, 3), (MFEAT, 2)):
        found[f"convergence, {name}"] = _grid(name, seeds, {"tol": 0.0}, max_iter=list(ITERATIONS))
    return {**found, "time": _time()}


def _grid(name: str, seeds: int, params: dict | None = None, **grid: Sequence) -> Plan:
    """Vary one thing: MGGM with our scaling and strength from the paper's start, views equal."""
    entry = Entry("mggm", "MGGM", {"init": "ltm", **EQUAL, **(params or {})}, grid=grid)
    return Plan([DATA[name]], [entry], seeds=seeds)


def _starts(name: str, seeds: int) -> Plan:
    """Compare the starts of Fig. 7."""
    starts = {
        "ConcatLTM start": "ltm",
        "random start": "random",
        TRIAL: "trial",
        CONSENSUS: "consensus",
    }
    models = [
        Entry("mggm", label, {"init": init, "ensemble": 0, **EQUAL})
        for label, init in starts.items()
    ]
    return Plan([DATA[name]], models, seeds=seeds)


def _left_open() -> Plan:
    """Try what the paper does not say, on mfeat: scaling, stopping, read-out, start."""
    here = [
        Entry("ltm", "LTM of pix", CAI, views=["pix"]),
        Entry("ltm", "LTM of pix, argmax", {**CAI, "assign": "argmax"}, views=["pix"]),
        Entry("ltm", "LTM of pix, 200 iterations", {**CAI, "max_iter": 200}, views=["pix"]),
        Entry("ltm", "LTM of pix, our strength", {"init": "kmeans"}, views=["pix"]),
        Entry("ltm-concat", "ConcatLTM", CAI),
        Entry("mggm", "MGGM", _mggm(MFEAT)),
        Entry("mggm", "MGGM, argmax", _mggm(MFEAT, assign="argmax")),
        Entry("mggm", "MGGM, 30 iterations", _mggm(MFEAT, max_iter=30, tol=0.0)),
        Entry("mggm", "MGGM, random start", _mggm(MFEAT, init="random")),
        Entry("mggm", "MGGM, balanced, our scaling and strength", {"init": "ltm", **EQUAL}),
        Entry("mvplsa", "MVPLSA, random start, balanced and scaled", {"init": "random", **EQUAL}),
    ]
    scaled = Entry("ltm-concat", CONCAT_SCALED, CAI, datasets=[BY_MAXIMUM.label])
    models = [*(replace(entry, datasets=[MFEAT]) for entry in here), scaled]
    return Plan([DATA[MFEAT], BY_MAXIMUM], models, seeds=5)


def _time() -> Plan:
    """Measure the times of Fig. 8: 20 iterations from a random start, with the graphs."""
    data = [Data("nus-shape", f"{n:,} documents", {"n_docs": n}, steps=["l1"]) for n in SIZES]
    same = {"init": "random", "max_iter": 20, "tol": 0.0, "assign": "argmax", **EQUAL}
    models = [Entry("mggm", "MGGM", same), Entry("mvplsa", "MVPLSA", same)]
    return Plan(data, models, seeds=1, warm_up=True)
