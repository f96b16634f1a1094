"""Models and indexes that are sealed well but hold what no fit gives: refused as damaged."""

import hashlib
import json
from functools import partial

import numpy as np
import pytest
from safetensors.numpy import save_file

from coview import DamagedFile, LinkPLSA, SearchIndex, TopicClassifier, load
from coview.datasets import make_views
from coview.inspection import read_for_display
from coview.io import info
from coview.models import model_class
from coview.store import read_header, tensor_digest, write_sealed
from tests.crafted_files import ARRAY_FAULTS, outcomes_in_a_child, rewrite

CHILD = """
import sys
from functools import cache
from pathlib import Path
import numpy as np
from coview import DamagedFile, SearchIndex, load
from coview.inspection import read_for_display
load_once = cache(load)
for path in sys.argv[1:]:
    try:
        if path.endswith("words.index"):
            model = load_once(Path(path).with_name("mggm.coview"))
            index = SearchIndex.load(path, model=model)
            index.query_many({n: np.ones((2, p.shape[1])) for n, p in model.components_.items()})
        elif path.endswith("index"):
            index = SearchIndex.load(path)
            index.query_many(np.full((2, index.n_topics), 1 / index.n_topics))
        else:
            try:
                read_for_display(path)
                shown = True
            except DamagedFile:
                shown = False
            try:
                model = load(path)
            except DamagedFile:
                assert not shown, "it can be shown"
                raise
            assert shown, "it cannot be shown"
            inner = getattr(model, "estimator_", model)
            model.predict({n: np.ones((2, p.shape[1])) for n, p in inner.components_.items()})
        print("accepted", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
"""

FILES = ("mggm.coview", "classes.coview", "topic.index", "semantic.index", "words.index")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A folder with a model that keeps neighbors, a classifier and three indexes."""
    folder = tmp_path_factory.mktemp("crafted")
    views = make_views(60, 3, {"a": 40, "b": 30}, random_state=0)
    common = {"init": "random", "random_state": 0, "max_iter": 5, "tol": 0}
    mggm = model_class("mggm")(3, **common).fit(views)
    mggm.save(folder / "mggm.coview")
    labels = np.where(np.arange(60) % 3, views.labels, -1)
    TopicClassifier(LinkPLSA(**common)).fit(views, labels).save(folder / "classes.coview")
    options = {"metric": "correlation"}
    SearchIndex(mggm, in_view="a", **options).save(folder / "topic.index")
    options |= {"space": "semantic", "labels": views.labels}
    SearchIndex(mggm, in_view="a", **options).save(folder / "semantic.index")
    words = {"training_views": views}
    SearchIndex(mggm, in_view="a", **words).save(folder / "words.index")
    return folder


def tensors_of(packed, path=()):
    """Yield where each tensor of a packed model stands: its names, and its place in the file."""
    if isinstance(packed, list):
        for i, item in enumerate(packed):
            # a pair of a key and a value, in a packed dict
            is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)
            part = (item[0], item[1]) if is_pair else (str(i), item)
            yield from tensors_of(part[1], (*path, part[0]))
    elif isinstance(packed, dict):
        if packed.get("$") == "array":
            yield ".".join(path), packed["tensor"]
        for key, value in packed.items():
            if key == "fields":  # of a record, such as the trace
                for field, part in value.items():
                    yield from tensors_of(part, (*path, field))
            elif key != "params":
                yield from tensors_of(value, (*path, key) if key.endswith("_") else path)


def kind_of(name):
    return "search index" if name.endswith("index") else "model"


def crafted(base):
    """Write every fault of every array of every file; return the paths by what was done."""
    paths = {}
    for file in FILES:
        sealed = read_header(base / file)
        named = {name: name for name in sealed["sha256"]}
        if file.endswith("coview"):
            named = dict(tensors_of(sealed["header"]))
        for name, tensor in named.items():
            for fault, change in ARRAY_FAULTS.items():

                def wrong(header, tensors, tensor=tensor, change=change):
                    tensors[tensor] = change(tensors[tensor])

                path = base / f"{len(paths)}.{file}"
                rewrite(base / file, path, kind_of(file), wrong)
                paths[f"{file} {name} {fault}"] = path
    return paths


# what leaves an array of shape (rows, 0) as it is
CHANGE_NOTHING_WITHOUT_COLUMNS = ("half of the columns", "one column more", "no columns", "zeros")
CHANGE_NOTHING_WITHOUT_COLUMNS += ("one NaN", "one infinite", "one negative", "one too large")


REFUSED_IN_EVIDENCE = ("half of the rows", "no rows", "flat", "one NaN", "one infinite")
REFUSED_IN_EVIDENCE += ("other integers",)


def may_be_accepted(what):
    """Say whether the changed array is as good as any: nothing can tell it from a right one."""
    file, name, fault = what.split(" ", 2)
    if (file, name) == ("words.index", "vectors") and fault in CHANGE_NOTHING_WITHOUT_COLUMNS:
        return True  # it compares terms, so its vectors have no columns
    if name.startswith("evidence."):
        # most numbers have no bounds, and there may be any number of shared names and directions
        return fault not in REFUSED_IN_EVIDENCE
    if name.endswith(("unseen_terms_", "empty_rows_")):
        return True  # there may be none, as here
    if name.endswith("trace_.restarts"):
        return True  # of any number of runs
    if ".trace_." in f".{name}" and fault == "one infinite":
        return True  # as the roughness is where one of two neighbors has a share of 0
    if fault in ("one too large", "zeros", "one negative"):
        # numbers without bounds: those of scores, of the space of a classifier, of neighbors
        free = ("stability", "confidence", "counts", "points", "center", "coef", "intercept")
        free += ("maps", "positions", "radii", "lists.centers", "ids.text", "labels", "empty_rows")
        free += ("unseen_terms", "present", "classes_", "guess_space_", "view_reliability")
        free += ("trace_", "expected", *(["words.weights"] if fault == "zeros" else []))
        return any(part in name for part in free)
    if name.endswith("radii") and fault == "one infinite":
        return True  # a document that lacks neighbors
    return fault == "one NaN" and any(part in name for part in ("stability", "confidence"))


@pytest.mark.slow
def test_crafted_models_and_indexes_are_refused_as_damaged(base):
    paths = crafted(base)
    outcomes = outcomes_in_a_child(CHILD, paths.values(), paths)
    assert len(outcomes) > 400
    wrong = {
        what: found
        for what, found in outcomes.items()
        if not found.startswith("DamagedFile")
        and not (found == "accepted" and may_be_accepted(what))
    }
    assert not wrong, "\n".join(f"{what}: {found}" for what, found in wrong.items())


# -- headers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_a_header_without_one_of_its_entries_is_damage(base, file, tmp_path):
    entries = read_header(base / file)["header"]
    model = load(base / "mggm.coview") if file == "words.index" else None
    read = partial(SearchIndex.load, model=model) if file.endswith("index") else load
    changes = {f"without {key}": lambda h, k=key: h.pop(k) for key in entries}
    for key, old in entries.items():
        for value in (None, [], {}, -1, "x", [[]], 0.5):
            if value != old and (key, value) not in MAY_BE:
                changes[f"{key} {value}"] = lambda h, k=key, v=value: h.update({k: v})
    for what, change in changes.items():
        rewrite(base / file, tmp_path / file, kind_of(file), lambda h, t, c=change: c(h))
        with pytest.raises(DamagedFile, match="is damaged"):
            pytest.fail(f"{what} was accepted: {read(tmp_path / file)}")


# what a file may say: an index of all views; a model whose parameters have their default values
MAY_BE = [("in_view", None), ("model", "x"), ("params", {})]


def test_attributes_that_are_missing_or_of_another_type_are_damage(base, tmp_path):
    header = read_header(base / "mggm.coview")["header"]
    for name in ("components_", "doc_topic_", "view_names_", "feature_names_", "term_counts_"):
        for change in (
            lambda h, t, n=name: h["attributes"].pop(n),
            lambda h, t, n=name: h["attributes"].update({n: 3}),
            lambda h, t, n=name: h["attributes"].update({n: {"$": "dict", "items": []}}),
        ):
            rewrite(base / "mggm.coview", tmp_path / "m.coview", "model", change)
            for read in (load, read_for_display):
                with pytest.raises(DamagedFile, match="is damaged"):
                    read(tmp_path / "m.coview")
    assert set(header["attributes"]) > {"components_"}


@pytest.mark.parametrize("value", [float("nan"), -1, "x", None, 0])
def test_a_prior_that_is_none_is_damage(base, tmp_path, value):
    packed = {"$": "float", "value": "nan"} if value != value else value
    change = lambda h, t: h["params"].update({"doc_topic_prior": packed})  # noqa: E731
    rewrite(base / "mggm.coview", tmp_path / "m.coview", "model", change)
    for read in (load, read_for_display):
        with pytest.raises(DamagedFile, match="doc_topic_prior"):
            read(tmp_path / "m.coview")


ALL = "a view"
BEYOND = {  # what the constructor would refuse, or what no fit makes
    "graph_strength_": ("attributes", 1e38),
    "graph_weights_": ("attributes", {ALL: 1e38}),
    "fold_in_max_iter": ("params", 10**15),
    "doc_topic_prior": ("params", 1e300),
    "n_iter_": ("attributes", 10**400),
    "recipes_": ("attributes", {ALL: 3}),
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_file_obeys_the_limits_of_the_constructor(base, tmp_path, name):
    part, value = BEYOND[name]
    if isinstance(value, dict):
        view = read_header(base / "mggm.coview")["header"]["attributes"]["view_names_"]["items"][0]
        value = {"$": "dict", "items": [[view, value[ALL]]]}
    change = lambda h, t: h[part].update({name: value})  # noqa: E731
    rewrite(base / "mggm.coview", tmp_path / "m.coview", "model", change)
    with pytest.raises(DamagedFile, match=name):
        load(tmp_path / "m.coview")


def deep(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


def test_values_nested_without_end_are_damage(base, tmp_path):
    change = lambda h, t: h["attributes"].update({"x_": deep(900)})  # noqa: E731
    rewrite(base / "mggm.coview", tmp_path / "m.coview", "model", change)
    with pytest.raises(DamagedFile, match="nested too deeply"):
        load(tmp_path / "m.coview")


def write_with_header(path, sealed):
    """Write a file with any header, sealed as `write_sealed` does."""
    text = sealed if isinstance(sealed, str) else json.dumps(sealed, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    save_file({"a": np.zeros(2)}, path, {"coview": f"{digest} {text}"})


WHOLE = {
    "kind": "model",
    "format_version": 1,
    "min_reader": 1,
    "library_version": "0",
    "header": {},
    "sha256": {"a": tensor_digest(np.zeros(2))},
}


@pytest.mark.parametrize("key", WHOLE)
@pytest.mark.parametrize("value", ["missing", [], None, {"a": 1}, "x", 1.5])
def test_a_seal_without_one_of_its_entries_is_damage(key, value, tmp_path):
    sealed = {**WHOLE, key: value}
    if value == "missing":
        del sealed[key]
    write_with_header(tmp_path / "m.coview", sealed)
    for read in (load, info, SearchIndex.load):
        with pytest.raises(DamagedFile, match=r"m\.coview"):
            read(tmp_path / "m.coview")


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null", "[" * 100_000])
def test_a_seal_that_is_no_header_is_damage(text, tmp_path):
    write_with_header(tmp_path / "m.coview", text)
    with pytest.raises(DamagedFile, match="damaged"):
        load(tmp_path / "m.coview")


def test_an_index_of_nothing_is_damage(tmp_path):
    write_sealed(tmp_path / "x.index", "search index", {}, {})
    with pytest.raises(DamagedFile, match="it lacks 'n_topics'"):
        SearchIndex.load(tmp_path / "x.index")
