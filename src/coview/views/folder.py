"""A views folder on disk: files that any tool can read, without code of ours and without pickle.

    view_<name>.npz | .npy     one matrix for each view (scipy sparse, or dense)
    features_<name>.txt.gz     its terms, one a line
    ids.txt.gz                 the documents, one a line
    labels.npy                 integers (-1 is unlabeled) or texts
    label_names.txt            what the integers stand for, one a line
    present.npy                documents x views, in the alphabetical order of the view names
    views.txt                  the order of the views; without it they come in alphabetical order
    recipe_<name>.json         how raw documents become counts, with arrays in recipe_<name>_*.npy

Only the matrices are required. Texts are UTF-8, lines end in a line feed.
"""

from __future__ import annotations

import gzip
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.plain_files import load_array, load_sparse, map_array, read_file, read_lines
from coview.reading.recipes import read_recipes, write_recipe
from coview.store import replace_folder
from coview.views.assembly import Parts
from coview.views.checks import check_ids, check_view_names
from coview.views.matrix_checks import check_matrix
from coview.wording import listing, quoted

_VIEW_FILE = re.compile(r"view_(.+)\.(npz|npy)", re.DOTALL)
_OURS = re.compile(
    r"view_.+\.np[yz]|features_.+\.txt\.gz|ids\.txt\.gz|(labels|present)\.npy|"
    r"(label_names|views)\.txt|recipe_.+\.(json|npy)",
    re.DOTALL,
)
# what a file name must not hold on one of the common systems
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*]|^\.|[. ]$')
_LONGEST = 200


# -- writing --------------------------------------------------------------------------------------


def write_folder(folder: str | os.PathLike[str], parts: Parts, overwrite: bool) -> None:
    """Write the parts of a container; an existing folder is replaced whole, or not touched."""
    # resolved, so that a link to a folder stays a link
    target = Path(folder).resolve()
    _check_view_files(parts.matrices)
    _check_target(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".coview-") as beside:
        new = Path(beside, "new")
        new.mkdir()
        _write_files(new, parts)
        replace_folder(new, target)


def _check_view_files(names: Iterable[str]) -> None:
    for name in names:
        if _UNSAFE.search(name) or len(name.encode()) > _LONGEST:
            raise ValueError(
                f"View {quoted(name)} cannot be saved under its name: it is part of a file name, "
                f'so it may hold none of / \\ < > : " | ? * nor control characters, not begin '
                f"or end with a dot and not exceed {_LONGEST} bytes. Rename the view."
            )
    if len({name.casefold() for name in names}) < len(list(names)):
        raise ValueError(
            f"Views {listing(names)} differ in upper and lower case only, which some file "
            "systems cannot tell apart. Rename one of them."
        )


def _check_target(target: Path, overwrite: bool) -> None:
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{target} is a file; a views folder needs a folder.")
    files = sorted(path.name for path in target.iterdir()) if target.exists() else []
    if files and not overwrite:
        raise FileExistsError(
            f"{target} is not empty. Choose another folder, or pass overwrite=True."
        )
    foreign = [name for name in files if not _OURS.fullmatch(name)]
    if foreign:  # overwrite=True on the wrong folder must not cost anybody their files
        raise FileExistsError(
            f"{target} holds files that are no part of a views folder: {listing(foreign)}. "
            "Move them away or choose another folder."
        )


def _write_files(folder: Path, parts: Parts) -> None:
    names = list(parts.matrices)
    for name in names:
        sp.save_npz(folder / f"view_{name}.npz", parts.matrices[name])
        _write_lines(folder / f"features_{name}.txt.gz", parts.features[name])
    _write_lines(folder / "views.txt", names)
    alphabetical = [names.index(name) for name in sorted(names)]
    np.save(folder / "present.npy", parts.present[:, alphabetical], allow_pickle=False)
    # rows drawn with replacement repeat their ids; such a folder could not be read again
    _write_lines(folder / "ids.txt.gz", None if parts.ids is None else check_ids(parts.ids))
    _write_lines(folder / "label_names.txt", parts.label_names)
    if parts.labels is not None:
        np.save(folder / "labels.npy", _plain_labels(parts.labels), allow_pickle=False)
    for name, recipe in parts.recipes.items():
        write_recipe(folder, name, recipe)


def _write_lines(path: Path, lines: Iterable[str] | None) -> None:
    if lines is None:
        return
    for index, line in enumerate(lines):
        if "\n" in line or line.endswith("\r"):
            raise ValueError(
                f"{path.name} keeps one name a line, so {quoted(line)} (number {index:,}) cannot "
                "be saved: it holds a line break. Rename it."
            )
    data = "".join(f"{line}\n" for line in lines).encode()
    # no time stamp: the same names give the same bytes
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _plain_labels(labels: np.ndarray) -> np.ndarray:
    """Labels as a type that needs no pickle."""
    if labels.dtype.kind != "O":
        return labels
    plain = labels.astype(str)
    # numpy's texts drop a NUL at the end, and None has become the text "None"
    changed = plain.astype(object) != labels
    if changed.any():
        raise ValueError(
            f"Label {quoted(labels[np.argmax(changed)])} cannot be saved as text. For documents "
            "without a label use integers, -1 for unlabeled, and label_names."
        )
    return plain


# -- reading --------------------------------------------------------------------------------------


def is_views_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder that holds the matrix of at least one view."""
    folder = Path(path)
    return folder.is_dir() and any(_VIEW_FILE.fullmatch(file.name) for file in folder.iterdir())


def read_folder(
    folder: str | os.PathLike[str], views: Sequence[str] | None = None
) -> dict[str, Any]:
    """The parts of a container, as keyword arguments of `Views`."""
    folder = Path(folder)
    files = _view_files(folder)
    names = _wanted(folder, list(files), views)
    matrices = {name: _read_view(files[name], name, names) for name in names}
    n_docs = _same_height(matrices, files)
    ids = _optional(folder / "ids.txt.gz", read_lines, (n_docs,))
    labels = _optional(folder / "labels.npy", load_array, (n_docs,))
    present = _optional(folder / "present.npy", load_array, (n_docs, len(files)))
    features = {
        name: _optional(folder / f"features_{name}.txt.gz", read_lines, (matrix.shape[1],))
        for name, matrix in matrices.items()
    }
    if present is not None:
        present = present[:, [sorted(files).index(name) for name in names]]
    return {
        "data": matrices,
        "ids": ids,
        "labels": labels,
        "label_names": _optional(folder / "label_names.txt", read_lines),
        "features": features,
        "present": present,
        "recipes": read_recipes(folder, features),
    }


def _view_files(folder: Path) -> dict[str, Path]:
    """The file of each view, in the order in which the views were saved."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        match = _VIEW_FILE.fullmatch(path.name)
        if match and match[1] in files:
            raise ValueError(
                f"View {quoted(match[1])} is there twice: {files[match[1]]} and {path}. Remove one."
            )
        if match:
            files[match[1]] = path
    if not files:
        raise FileNotFoundError(f"{folder} holds no view_<name>.npz or view_<name>.npy.")
    order = _optional(folder / "views.txt", read_lines) or []
    missing = [name for name in order if name not in files]
    if missing:
        raise ValueError(f"{folder / 'views.txt'} lists {listing(missing)}, but has no such file.")
    return {name: files[name] for name in [*order, *sorted(files.keys() - set(order))]}


def _wanted(folder: Path, found: list[str], views: Sequence[str] | None) -> list[str]:
    if isinstance(views, str):
        raise TypeError(f"views must be a list of names; write views=[{quoted(views)}].")
    wanted = found if views is None else list(check_view_names(views))
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise ValueError(f"{folder} has no view {listing(unknown)}; it has {listing(found, 20)}.")
    return wanted


def _read_view(path: Path, name: str, wanted: list[str]) -> sp.csr_array:
    matrix = read_file(path, load_sparse if path.suffix == ".npz" else map_array)
    try:
        return check_matrix(matrix, name)
    except (ValueError, TypeError) as error:
        others = [other for other in wanted if other != name]
        advice = f" To leave this view out: Views.load(folder, views={others})." if others else ""
        raise ValueError(f"{path}: {error}{advice}") from error


def _same_height(matrices: dict[str, sp.csr_array], files: dict[str, Path]) -> int:
    (first, matrix), *rest = matrices.items()
    for name, other in rest:
        if other.shape[0] != matrix.shape[0]:
            raise ValueError(
                f"{files[first]} has {matrix.shape[0]:,} documents but {files[name]} has "
                f"{other.shape[0]:,}. All views must describe the same documents."
            )
    return matrix.shape[0]


def _optional(
    path: Path, reader: Callable[[Path], Any], shape: tuple[int, ...] | None = None
) -> Any:
    if not path.exists():
        return None
    found = read_file(path, reader)
    size = getattr(found, "shape", None) or (len(found),)
    if shape is not None and size != shape:
        raise ValueError(f"{path} must have the shape {shape}, found {size}.")
    return found
