"""What keeps the source readable: short functions, docstrings, one name per class."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import median

import pytest

import coview

ROOT = Path(coview.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
LONGEST_FUNCTION = 60
MEDIAN_FUNCTION = 10
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

of_each_file = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))


def nodes(path, *kinds):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, kinds)]


def body_length(function):
    """Return the number of lines of a function's body, its docstring left out."""
    first = 1 if ast.get_docstring(function, clean=False) is not None else 0
    body = function.body[first:]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def is_public(node):
    return isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_")


def is_overload(function):
    return any(ast.unparse(d).endswith("overload") for d in function.decorator_list)


@cache
def classes():
    """Return all classes of the package by name."""
    return {node.name: node for path in FILES for node in nodes(path, ast.ClassDef)}


def is_documented(method, owner):
    """Say whether a method, or the method of a base class that it overrides, has a docstring."""
    own = [m for m in owner.body if isinstance(m, FUNCTIONS) and m.name == method]
    if any(ast.get_docstring(m) for m in own):
        return True
    bases = [classes().get(ast.unparse(base).split("[")[0]) for base in owner.bases]
    return any(is_documented(method, base) for base in bases if base is not None)


def undocumented(tree):
    """Yield the public names that have no docstring.

    Methods of one line, most of them properties, may go without one.
    """
    if not ast.get_docstring(tree):
        yield "the module"
    for node in filter(is_public, tree.body):
        if not ast.get_docstring(node) and not (isinstance(node, FUNCTIONS) and is_overload(node)):
            yield node.name
        for method in filter(is_public, node.body if isinstance(node, ast.ClassDef) else ()):
            if not is_documented(method.name, node) and body_length(method) > 1:
                yield f"{node.name}.{method.name}"


@of_each_file
def test_no_function_is_long(path):
    long = {f.name: body_length(f) for f in nodes(path, *FUNCTIONS)}
    long = {name: n for name, n in long.items() if n > LONGEST_FUNCTION}
    assert not long, f"functions of more than {LONGEST_FUNCTION} lines: {long}"


def test_half_of_all_functions_are_very_short():
    lengths = [body_length(f) for path in FILES for f in nodes(path, *FUNCTIONS)]
    assert median(lengths) <= MEDIAN_FUNCTION


@of_each_file
def test_every_public_name_has_a_docstring(path):
    missing = list(undocumented(ast.parse(path.read_text())))
    assert not missing, f"without a docstring: {', '.join(missing)}"


def test_no_two_classes_have_one_name():
    where = defaultdict(list)
    for path in FILES:
        for node in nodes(path, ast.ClassDef):
            where[node.name].append(str(path.relative_to(ROOT)))
    twice = {name: files for name, files in where.items() if len(files) > 1}
    assert not twice, f"classes of the same name: {twice}"
