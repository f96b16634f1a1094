"""Functions and classes of Python source files, read without importing them.

Everything comes from the syntax tree: no code of a package runs, and a file that cannot be imported
on this machine is read like any other.
"""

import ast
import keyword
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

# Folders and modules that are not part of a package's own code: tests and their helpers, copies of
# other packages, build scripts.
LEFT_OUT = frozenset(
    ["tests", "conftest", "_test_common", "_testutils", "_mptestutils", "_tstutils", "testutils"]
    + ["_pytesttester", "_examples", "_precompute", "_build_utils", "_pyinstaller", "distutils"]
    + ["externals", "array_api_compat", "array_api_extra", "_uarray", "cobyqa", "pyprima"]
    + ["_pep440", "_docscrape", "decorator", "setup", "_testing"]
)
NOT_WORDS = frozenset(word.lower() for word in keyword.kwlist) | {"self", "cls"}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # HTTPServer2_url -> HTTP Server url
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Item:
    """A function or class: where it is defined, its docstring, the words of its code."""

    name: str
    module: str
    source: str  # "package/folder/file.py:line"
    doc: str
    code: tuple[str, ...]

    @property
    def label(self) -> str:
        """Public subpackage that the file belongs to: scipy.stats for scipy.stats._qmc."""
        public = _public_part(self.module)
        # NumPy defines much of its main namespace in private modules of numpy.lib.
        if public == ["numpy", "lib"] and self.module != "numpy.lib":
            return "numpy"
        return ".".join(public[:2])


def read_items(roots: Iterable[Path]) -> list[Item]:
    """Return the documented top-level functions and classes of packages, by their public names."""
    items: list[Item] = []
    public = _PublicNames()
    for root in roots:
        for path in _source_files(root):
            module, text = _module_name(root, path), path.read_bytes()
            tree = _parse(text)
            items += _items(tree, module, path.relative_to(root.parent).as_posix())
            public.add(module, tree, text if path.stem == "__init__" else None)
    return _with_unique_names([replace(item, name=public.name_of(item)) for item in items])


def words_of(identifier: str) -> list[str]:
    """Return the lower-case words of an identifier, without single letters, digits and keywords.

    >>> words_of("get_HTTPServer2_url")
    ['get', 'http', 'server', 'url']
    """
    words = (word.lower() for word in _WORD.findall(identifier))
    return [word for word in words if len(word) > 1 and word not in NOT_WORDS]


# -- files -----------------------------------------------------------------------------------------


def _source_files(root: Path) -> list[Path]:
    files = (path for path in root.rglob("*.py") if not _is_left_out(path.relative_to(root)))
    return sorted(files, key=lambda path: path.relative_to(root).as_posix())


def _is_left_out(path: Path) -> bool:
    parts = path.with_suffix("").parts
    return any(part in LEFT_OUT or part.startswith("test_") for part in parts)


def _module_name(root: Path, path: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parse(text: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as invalid escapes in the packages
        return ast.parse(text)  # from bytes, so that the parser honors a coding comment


# -- items -----------------------------------------------------------------------------------------


def _items(tree: ast.Module, module: str, file: str) -> Iterator[Item]:
    for node in _top_level(tree.body):
        doc = ast.get_docstring(node)
        if doc:
            code = tuple(word for name in _identifiers(node) for word in words_of(name))
            yield Item(node.name, module, f"{file}:{node.lineno}", doc, code)


def _top_level(
    body: list[ast.stmt],
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the definitions of a module, also those under an `if` or `try`."""
    for node in body:
        if isinstance(node, _DEFINITIONS):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _top_level(node.body + node.orelse)


def _identifiers(node: ast.AST) -> Iterator[str]:
    """Yield every name in the code; docstrings and other strings are constants, not names."""
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)) | ast.alias(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


# -- names -----------------------------------------------------------------------------------------


def _is_private(module: str) -> bool:
    return any(part.startswith("_") for part in module.split("."))


def _public_part(module: str) -> list[str]:
    return list(takewhile(lambda part: not part.startswith("_"), module.split(".")))


class _PublicNames:
    """The names that public modules re-export, with the modules that define them."""

    def __init__(self) -> None:
        self._imports: dict[str, list[tuple[str, str]]] = {}  # origin -> (public module, name)
        self._all: dict[str, frozenset[str]] = {}  # module -> what a star import takes
        self._mentions: dict[str, frozenset[str]] = {}  # package -> words of its __init__.py

    def add(self, module: str, tree: ast.Module, package_text: bytes | None) -> None:
        """Add the imports of a module; `package_text` is the text of an __init__.py."""
        self._all[module] = _names_for_star(tree)
        if _is_private(module):
            return
        is_package = package_text is not None
        if package_text is not None:
            words = re.findall(r"\w+", package_text.decode("utf-8", "replace"))
            self._mentions[module] = frozenset(words)
        for origin, name in _imports(tree, module, is_package):
            if is_package or name == "*":  # a plain module imports names for its own use
                self._imports.setdefault(origin, []).append((module, name))

    def name_of(self, item: Item) -> str:
        """Return the public name: scipy.stats.pearsonr, not scipy.stats._stats_py.pearsonr.

        Items whose own name is private keep their full path.
        """
        here = f"{item.module}.{item.name}"
        if item.name.startswith("_"):
            return here
        modules = list(self._modules_that_export(item)) or self._package_that_mentions(item)
        names = [f"{module}.{item.name}" for module in modules]
        if not _is_private(item.module):
            names.append(here)
        return min(names, key=lambda name: (name.count("."), name != here, name), default=here)

    def _modules_that_export(self, item: Item) -> Iterator[str]:
        for module, name in self._imports.get(item.module, ()):
            if name == item.name or (name == "*" and item.name in self._all[item.module]):
                yield module

    def _package_that_mentions(self, item: Item) -> list[str]:
        """Return the package whose __init__.py mentions a name, for instance in its docstring.

        Some packages fill their namespace in ways that only running them would show.
        """
        package = ".".join(_public_part(item.module))
        return [package] if item.name in self._mentions.get(package, ()) else []


def _names_for_star(tree: ast.Module) -> frozenset[str]:
    """Return the module's `__all__` if it is a plain list, else the names of its definitions."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            with suppress(ValueError):  # not a literal: computed when the module runs
                return frozenset(ast.literal_eval(node.value))
    return frozenset(node.name for node in _top_level(tree.body))


def _imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = _origin(node, module, is_package)
            yield from ((origin, alias.name) for alias in node.names)


def _origin(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the full name of the module that an import statement imports from."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, node.module] if node.module else base)


def _with_unique_names(items: list[Item]) -> list[Item]:
    """Restore the full path of names that two items share; number those that still clash."""
    shared = Counter(item.name for item in items)
    seen: Counter[str] = Counter()
    unique = []
    for item in items:
        name = item.name
        if shared[name] > 1:
            name = f"{item.module}.{name.rpartition('.')[2]}"
        seen[name] += 1
        unique.append(replace(item, name=name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return unique
