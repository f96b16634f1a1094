"""Imports point one way, and importing the package costs little."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import coview

ROOT = Path(coview.__file__).parent

# which packages and modules each part may import from, besides itself
ALLOWED = {
    "kernels": set(),
    "params": set(),
    "progress": set(),
    "extras": set(),
    "data": {"params", "em.simplex", "extras", "store"},
    "store": {"__version__"},
    "em": {"data", "kernels", "params", "store"},
    "runners": {"em", "data"},
    "metrics": {"params"},
    "report": set(),
    "baselines": {"models", "em", "data", "params", "metrics"},
    "retrieval": {"data", "extras", "kernels", "metrics", "params", "report", "store", "runners"},
    "datasets": {"data", "params"},
    "compare": {
        *("assign", "base", "baselines", "classifier", "data", "datasets", "metrics", "names"),
        *("params", "progress", "retrieval", "store", "__version__"),
    },
    "plot": {"compare", "extras"},
    "restarts": {"callbacks", "data", "em", "progress", "runners", "store"},
    "io": {"data", "em.trace", "names", "store"},
    "models": {"base", "em", "data", "params", "runners"},
}


def imports_of(path):
    """Modules of this package that a file imports, as dotted names without the package."""
    package = ("coview", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = ".".join((*base, *(node.module.split(".") if node.module else ())))
            if full.split(".")[0] == "coview":
                names = [full] if full != "coview" else [f"coview.{a.name}" for a in node.names]
                yield from (n.removeprefix("coview.") for n in names)


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_one_way(part):
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else (ROOT / part).rglob("*.py")
    allowed = ALLOWED[part] | {part}
    for path in files:
        for name in imports_of(path):
            ok = any(name == a or name.startswith(f"{a}.") for a in allowed)
            assert ok, f"{path.relative_to(ROOT)} imports {name}"


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
