"""Imports point one way, and importing the package costs little."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import coview

ROOT = Path(coview.__file__).parent
EVERYTHING = {"coview"}

# What each part, a folder or a file, may import from besides itself; a dotted name is one module.
ALLOWED = {
    # helpers that know nothing of models
    "_lazy": set(),
    "escaping": {"wording"},
    "extras": set(),
    "fingerprints": set(),
    "memory": set(),
    "outputs": set(),
    "params": set(),
    "pickling": {"__version__", "views.checks"},
    "progress": {"wording"},
    "wording": set(),
    "store": {"__version__", "outputs"},
    "loaded": {"params", "store"},
    # the way of the data: reading makes counts, views holds them, em works on them
    "views": {"escaping", "memory", "outputs", "params", "reading", "store", "wording"},
    "reading": {"extras", "memory", "params", "runners", "store", "views", "wording"},
    "shards": {
        *("__version__", "extras", "loaded", "memory", "outputs", "params", "reading", "store"),
        *("views", "wording"),
    },
    "graphs": {"kernels", "params", "reading.links", "runners.threads", "views", "wording"},
    "compiling": set(),
    "kernels": {"compiling"},
    # threads know nothing of what they work on; other runners have to
    "runners": {
        *("__version__", "em.mixture_files", "em.problem", "em.shard_step", "em.step", "extras"),
        *("memory", "params", "shards", "wording"),
    },
    "ensemble": {
        *("em.scaling", "em.tfidf", "escaping", "extras", "graphs", "kernels", "memory"),
        *("params", "runners", "views", "wording"),
    },
    "em": {
        *("ensemble", "fingerprints", "graphs", "kernels", "loaded", "memory", "outputs", "params"),
        *("progress", "runners.native", "runners.threads", "shards", "store", "views", "wording"),
    },
    "documents": {"em.scaling", "reading", "views", "wording"},
    "new_documents": {
        "documents",
        "em",
        "params",
        "reading",
        "runners",
        "shards",
        "views",
        "wording",
    },
    "scores": {"em", "new_documents", "params", "runners"},
    "training_data": {
        *("em", "ensemble.reliability", "new_documents", "params", "progress", "shards", "views"),
    },
    "disk_memory": {"em", "params", "runners", "shards"},
    "fit_source": {
        *("cluster_source", "disk_memory", "em", "outputs", "params", "runners", "shards", "views"),
    },
    "cluster_source": {
        *("disk_memory", "em", "fit_source", "outputs", "runners", "shards", "views"),
    },
    "stream_start": {"params", "views"},
    "streaming": {
        *("documents", "em", "new_documents", "params", "reading", "runners", "stream_start"),
        *("views", "wording"),
    },
    "topic_terms": {
        *("annotation", "captions", "curation", "explorer", "model_repr", "models", "reporting"),
        "retrieval",
        "tree",
    },
    "base": {
        *("em", "fit_source", "io", "new_documents", "params", "pickling", "reading.codes"),
        *("scores", "streaming", "topic_terms", "training_data", "views"),
    },
    "held_out": {"em", "ensemble.reliability", "views"},
    "strength": {
        *("compare.aggregate", "em", "ensemble.reliability", "graphs", "held_out", "params"),
        *("plot", "progress", "views"),
    },
    "models": {
        *("base", "em", "graphs", "new_documents", "params", "runners", "strength", "views"),
        "wording",
    },
    "classifier": {
        *("em", "io", "label_guess", "new_documents", "params", "pickling", "topic_terms"),
        *("views", "wording"),
    },
    "label_guess": {"em.tfidf", "ensemble", "kernels", "runners", "views"},
    "automatic": {
        *("classifier", "em.scaling", "ensemble", "models", "params", "selection", "tree"),
        *("views", "wording"),
    },
    "model_checks": {"loaded", "params", "retrieval.evidence", "tree", "wording"},
    "io": {
        *("automatic", "em.trace", "ensemble.reliability", "loaded", "model_checks", "models"),
        *("reading.patterns", "reading.recipes", "store", "strength", "tree", "views"),
    },
    # what shows and judges it
    "inspection": {"io", "model_checks"},
    "metrics": {"params", "views.labels"},
    "term_names": set(),
    "captions": {"reading.recipes", "wording"},
    "reporting": {
        *("_lazy", "captions", "escaping", "extras", "held_out", "kernels", "metrics", "models"),
        *("params", "retrieval", "runners", "term_names", "tree", "views", "wording"),
    },
    "annotation": {
        *("documents", "extras", "models", "params", "retrieval", "runners", "term_names"),
        *("views", "wording"),
    },
    "guidance": {"models", "params", "reporting", "views", "wording"},
    "retrieval": {
        *("documents", "extras", "held_out", "io", "kernels", "loaded", "merging", "metrics"),
        *(
            "model_checks",
            "models",
            "params",
            "reading",
            "reporting",
            "runners",
            "store",
            "views",
            "wording",
        ),
    },
    "merging": {"em.stream", "runners.native"},
    "tree": {
        *("ensemble.reliability", "held_out", "merging", "models", "params", "reporting"),
        *("retrieval.gallery", "runners.native", "shards", "views", "wording"),
    },
    "curation": {"merging", "models", "reporting", "retrieval.files", "tree", "wording"},
    "explorer": {
        *(
            "__version__",
            "annotation",
            "captions",
            "em.simplex",
            "escaping",
            "extras",
            "models",
            "outputs",
            "reading",
        ),
        *("merging", "reporting", "retrieval", "store", "tree", "views", "wording"),
    },
    "exports": {"explorer.layout", "extras", "models", "reporting", "views", "wording"},
    "baselines": {
        *("_lazy", "documents", "em", "graphs", "metrics", "models", "params", "pickling"),
        *("runners", "views", "wording"),
    },
    "datasets": {"_lazy", "memory", "outputs", "params", "reading", "store", "views", "wording"},
    "compare": {
        *("__version__", "_lazy", "base", "baselines", "classifier", "datasets", "escaping"),
        *("fingerprints", "metrics", "models", "new_documents", "outputs", "params", "progress"),
        *("reporting", "retrieval.gallery", "runners", "store", "views", "wording"),
    },
    "display": {"extras", "store"},
    "plot": {
        *("compare", "display", "escaping", "explorer.layout", "extras", "models", "reporting"),
        "term_names",
    },
    "model_repr": {"escaping", "models", "reporting", "wording"},
    "selection": {
        *("compare.aggregate", "display", "em", "ensemble", "extras", "held_out", "params"),
        *("plot", "progress", "runners", "tree", "views", "wording"),
    },
    "serving": {
        *("__version__", "captions", "em.scaling", "escaping", "extras", "memory", "models"),
        *("params", "reporting", "reading.image_files", "retrieval", "runners", "views", "wording"),
    },
    "demo": {"datasets", "escaping", "metrics", "models", "reporting", "retrieval", "views"},
    "cli": EVERYTHING,
    "__main__": {"cli"},
    "__init__": EVERYTHING,
}
# Views are read and written by the other rooms, but only their constructors start a reading.
READING_IN_VIEWS = {
    "container": {"reading.recipes"},
    "contents": {"reading.recipes"},
    "folder": {"reading.plain_files", "reading.recipes"},
}


def imports_of(path):
    """Modules of this package that a file imports, as dotted names without the package."""
    package = ("coview", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = ".".join((*base, *(node.module.split(".") if node.module else ())))
            names = [full] if full != "coview" else [f"coview.{a.name}" for a in node.names]
        yield from (n.removeprefix("coview.") for n in names if n.split(".")[0] == "coview")


def files_of(part):
    file = ROOT / f"{part}.py"
    return [file] if file.exists() else sorted((ROOT / part).rglob("*.py"))


def is_allowed(name, allowed):
    return "coview" in allowed or any(name == a or name.startswith(f"{a}.") for a in allowed)


def test_every_part_has_a_row_and_every_row_a_part():
    parts = {p.stem for p in ROOT.glob("*.py")}
    parts |= {p.name for p in ROOT.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert parts == set(ALLOWED)


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_one_way(part):
    files = files_of(part)
    assert files, f"{part} has no files"
    for path in files:
        for name in imports_of(path):
            ok = is_allowed(name, ALLOWED[part] | {part})
            assert ok, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("module", READING_IN_VIEWS)
def test_views_read_nothing_themselves(module):
    for name in imports_of(ROOT / "views" / f"{module}.py"):
        assert not name.startswith("reading") or is_allowed(name, READING_IN_VIEWS[module]), name


def test_both_forms_of_import_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text(
        "import coview.io\nfrom coview.em import loop\nfrom . import views\nimport os\n"
    )
    assert list(imports_of(file)) == ["io", "em", "views"]


def loaded_by(code):
    lines = f"{code}; import sys; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_by("import coview") & {"numba", "sklearn", "scipy", "numpy", "rich"}


def test_views_need_no_compiler():
    assert "numba" not in loaded_by("from coview import Views; Views([[1, 2]])")


def test_the_help_of_the_command_loads_nothing_heavy():
    assert not loaded_by("import coview.cli") & {"numba", "sklearn", "scipy", "numpy"}


def test_every_public_name_is_there():
    for name in coview.__all__:
        assert getattr(coview, name) is not None
    assert set(dir(coview)) == set(coview.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        coview.nonsense
