"""Plans of paper 004: which models are run on which data, with which labels given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments.paper import published

from coview.compare import Data, Entry, Plan

RATES = (0.01, 0.02, 0.03, 0.04, 0.05)
MORE_RATES = (0.1, 0.2, 0.5)
WEBKB, NEWS = ("Cornell", "Washington"), ("NewsGv2", "NewsGv4")
VIEWS = {
    **dict.fromkeys(WEBKB, ("content", "cites")),
    "NewsGv2": ("view1", "view2"),
    "NewsGv4": ("view1", "view2", "view3", "view4"),
}
DATA = {
    "Cornell": Data("webkb_cornell", "Cornell", {"target": "course"}),
    "Washington": Data("webkb_washington", "Washington", {"target": "course"}),
    "NewsGv2": Data("newsgv2", "NewsGv2"),
    "NewsGv4": Data("newsgv4", "NewsGv4"),
}
FEATURE_TOPICS = {**dict.fromkeys(WEBKB, 12), **dict.fromkeys(NEWS, 128)}  # section 4.1.2
START = {"init": "naive_bayes", "max_iter": 150}
SPREADING = "Label spreading"
DEFAULTS, LETTER = "MVPLSA, our defaults", "MVPLSA, to the letter"
LISTED = "MVPLSA, links in one direction"
TOPICS = {"Cornell": (2, 4, 8, 12, 16, 20, 24), "NewsGv2": (8, 16, 32, 64, 128, 256, 512)}

# What the paper leaves open, one thing changed at a time.
CHANGES: dict[str, dict] = {
    "as in the tables": {},
    "150 iterations": {"tol": 0.0},
    "20 iterations": {"tol": 0.0, "max_iter": 20},
    "views balanced": {"view_weights": "balanced"},
    "random start": {"init": "random"},
}
STEPS = {
    "rows l1": ["l1"],
    "rows l2": ["l2"],
    "tf-idf": ["tfidf"],
    "tf-idf, rows l2": ["tfidf", "l2"],
}


# -- models ----------------------------------------------------------------------------------------


def _as_in_paper(name: str) -> dict:
    """Return parameters as in the paper: counts are added up (Eq. 17), every view has weight 1."""
    return {**START, "view_weights": [1] * len(VIEWS[name])}


def _mvplsa(name: str) -> Entry:
    params = {**_as_in_paper(name), "n_feature_topics": FEATURE_TOPICS[name]}
    return Entry("mvplsa", "MVPLSA", params, datasets=[name])


def _link(name: str) -> Entry:
    return Entry("link", "LinkPLSA", _as_in_paper(name), datasets=[name])


def _naive_bayes(name: str) -> list[Entry]:
    each = [
        Entry("nb-ensemble", f"NBC_V{i}", views=[view], datasets=[name])
        for i, view in enumerate(VIEWS[name], 1)
    ]
    return [*each, Entry("nb-ensemble", "NBC_E", datasets=[name])]


def _cotraining(name: str) -> list[Entry]:
    if len(VIEWS[name]) > 2:
        return []
    each = [Entry("cotraining-view", f"CoTr_V{i}", {"view": i}, datasets=[name]) for i in (1, 2)]
    return [*each, Entry("cotraining", "CoTr_E", datasets=[name])]


def _dual(name: str) -> list[Entry]:
    params = {**START, "n_feature_topics": FEATURE_TOPICS[name]}
    each = [
        Entry("dual", f"DPLSA_V{i}", params, views=[view], datasets=[name])
        for i, view in enumerate(VIEWS[name], 1)
    ]
    return [*each, Entry("dual", "DPLSA", params, concat=True, datasets=[name])]


def _cheap(name: str) -> list[Entry]:
    spreading = Entry("label-spreading", SPREADING, {"class_mass": True}, datasets=[name])
    return [*_naive_bayes(name), *_cotraining(name), _link(name), spreading]


def _defaults(name: str) -> Entry:
    params = {"n_feature_topics": FEATURE_TOPICS[name]}
    return Entry("mvplsa", DEFAULTS, params, datasets=[name])


def _letter(name: str) -> Entry:
    params = published("mvplsa", init="naive_bayes", n_feature_topics=FEATURE_TOPICS[name])
    return Entry("mvplsa", LETTER, params, datasets=[name])


# -- plans -----------------------------------------------------------------------------------------


def plans(quick: bool) -> dict[str, Plan]:
    """Return all plans of the paper; `quick` keeps one seed, one rate and two data sets."""
    pages, posts = (WEBKB[:1], NEWS[:1]) if quick else (WEBKB, NEWS)
    found = {
        "uniform": _classify([*_main(pages), *_more(pages)], "uniform", 20),
        "uniform, posts": _classify(_main(posts), "uniform", 20),
        "uniform, dear": _classify(_more(posts), "uniform", 5),
        "stratified": _classify([*_main(pages), *_more(pages)], "stratified", 20),
        "stratified, posts": _classify(_main(posts), "stratified", 20),
        "stratified, dear": _classify(_more(posts), "stratified", 5),
        "uniform, links": _one_direction("uniform"),
        "stratified, links": _one_direction("stratified"),
        "clusters": _clusters((*pages, *posts)),
        "feature topics": _feature_topics(),
        "parts of a view": _parts(),
        "what matters": _what_matters(),
        "more labels": _more_labels(),
    }
    if not quick:
        return found
    return {n: _shortened(found[n]) for n in list(found)[:3] + ["clusters"]}


def _shortened(plan: Plan) -> Plan:
    """Keep one seed and 5 % labels, since 1 % of a few documents are none."""
    one = [replace(m, grid={n: v[:1] for n, v in m.grid.items()}) for m in plan.models]
    return replace(plan, models=one, seeds=1, label_rates=[0.05] if plan.label_rates else [])


def _main(names: Sequence[str]) -> list[Entry]:
    return [entry for name in names for entry in (_mvplsa(name), *_cheap(name))]


def _more(names: Sequence[str]) -> list[Entry]:
    """Return the models that take seconds a run on the posts."""
    found = [entry for name in names for entry in (*_dual(name), _defaults(name))]
    return found + [_letter(name) for name in names if name in WEBKB]


def _classify(models: list[Entry], sampling: str, n_seeds: int, rates=RATES) -> Plan:
    named = {name for model in models for name in model.datasets}
    return Plan(
        [data for name, data in DATA.items() if name in named],
        models,
        task="classify",
        seeds=n_seeds,
        label_rates=rates,
        label_sampling=sampling,
    )


def _one_direction(sampling: str) -> Plan:
    """Run MVPLSA on the links as listed: a page that links to nothing has none."""
    data = [
        replace(DATA[n], label=f"{n}, listed", options={**DATA[n].options, "links": "listed"})
        for n in WEBKB
    ]
    models = [
        replace(_mvplsa(name), label=LISTED, datasets=[own.label])
        for name, own in zip(WEBKB, data, strict=True)
    ]
    return replace(_classify(_main(WEBKB), sampling, 20), datasets=data, models=models)


def _clusters(names: Sequence[str]) -> Plan:
    """Cluster as in Figure 2. The paper's MVPLSA starts from the clusters of MVC."""
    models = [entry for name in names for entry in _clusterers(name)]
    return Plan([DATA[name] for name in names], models, seeds=5)


def _clusterers(name: str) -> list[Entry]:
    params = {**_mvplsa(name).params, "init": "mvc"}
    each = [
        Entry("kmeans", f"Kmeans_V{i}", views=[view], datasets=[name])
        for i, view in enumerate(VIEWS[name], 1)
    ]
    return [
        *each,
        Entry("mvc", "MVC", datasets=[name]),
        Entry("mvplsa", "MVPLSA", params, datasets=[name]),
        Entry("link", "LinkPLSA", datasets=[name]),
        Entry("spectral", "Spectral", datasets=[name]),
    ]


def _feature_topics() -> Plan:
    """Vary the number of feature topics as in Figure 3, at the rate 0.05."""
    models = [
        Entry(
            *("mvplsa", "MVPLSA", _as_in_paper(name)),
            grid={"n_feature_topics": list(numbers)},
            datasets=[name],
        )
        for name, numbers in TOPICS.items()
    ]
    return _classify(models, "uniform", 5, RATES[-1:])


def _parts() -> Plan:
    """Run Table 5: a view of NewsGv4 cut into four views, at the rate 0.01."""
    data = [Data("newsgv4-parts", f"View {i}", {"view": i}) for i in (1, 2, 3, 4)]
    params = {**START, "view_weights": [1] * 4}
    models = [
        Entry("mvplsa", "MVPLSA", {**params, "n_feature_topics": 128}),
        Entry("nb-ensemble", "NBC", concat=True),
        Entry("link", "LinkPLSA", params),
    ]
    return Plan(data, models, task="classify", seeds=5, label_rates=RATES[:1])


def _what_matters() -> Plan:
    """Run MVPLSA on Cornell, Washington and NewsGv2 at 3 %, with other settings."""
    names = (*WEBKB, "NewsGv2")
    data = [DATA[name] for name in names]
    models = [
        Entry("mvplsa", label, {**_mvplsa(name).params, **change}, datasets=[name])
        for name in names
        for label, change in CHANGES.items()
    ]
    for own, name, label in other_data():
        data.append(own)
        models.append(Entry("mvplsa", label, _mvplsa(name).params, datasets=[own.label]))
    return Plan(data, models, task="classify", seeds=10, label_rates=[0.03])


def _more_labels() -> Plan:
    """Run with many labels on the pages, to see what the data allow."""
    models = [e for n in WEBKB for e in (_mvplsa(n), _link(n), *_naive_bayes(n)[::2])]
    return _classify(models, "uniform", 10, MORE_RATES)


def other_data() -> list[tuple[Data, str, str]]:
    """Return the same data with other weights: (data, name, label)."""
    pages = [
        (Data(DATA[n].name, f"{n}, {label}", DATA[n].options, steps=steps), n, label)
        for n in WEBKB
        for label, steps in STEPS.items()
    ]
    posts = [
        (Data("newsgv2", "NewsGv2, rows l1", {"norm": "l1"}), "NewsGv2", "rows l1"),
        (Data("newsgv2", "NewsGv2, no norm", {"norm": None}), "NewsGv2", "rows not normalised"),
    ]
    return [*pages, *posts]
