"""The views folder, the format of `Views` on disk: plain files, without pickle.

    view_<name>.npz | .npy     one matrix for each view (scipy sparse, or dense)
    features_<name>.txt.gz     its terms, one per line
    ids.txt.gz                 the ids of the documents, one per line
    labels.npy                 integers (-1 is unlabeled) or texts
    label_names.txt            names of the classes, one per line
    present.npy                documents x views, in the alphabetical order of the view names
    views.txt                  the order of the views; without it they are sorted by name
    recipe_<name>.json         how raw documents become counts, with arrays in recipe_<name>_*.npy
    MANIFEST.json              size and SHA-256 of every file (`coview.views.manifest`)

Only the matrices are required. Texts are in UTF-8, and lines end with a line feed. A folder with a
manifest must be as it was written; one without is read as it is.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import scipy.sparse as sp

from coview.outputs import temporary_folder
from coview.reading.plain_files import load_array, load_sparse, map_array, read_file, read_lines
from coview.reading.recipes import read_recipes, write_recipe
from coview.store import (
    DamagedFile,
    file_stamp,
    moved_aside,
    read_steadily,
    replace_folder,
    restore_folder,
)
from coview.views.checks import check_ids, check_view_names
from coview.views.contents import Contents
from coview.views.labels import is_unlabeled
from coview.views.manifest import MANIFEST, different_files, read_manifest, write_manifest
from coview.views.matrix_checks import check_matrix
from coview.wording import argument, listing, quoted

_VIEW_FILE = re.compile(r"view_(.+)\.(npz|npy)", re.DOTALL)
_OUR_FILES = re.compile(
    r"view_.+\.np[yz]|features_.+\.txt\.gz|ids\.txt\.gz|(labels|present)\.npy|"
    rf"(label_names|views)\.txt|recipe_.+\.(json|npy)|{re.escape(MANIFEST)}",
    re.DOTALL,
)
# characters that a common operating system does not allow in a file name
_UNSAFE_NAME = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*]|^\.|[. ]$')
_LONGEST_NAME = 200


# -- writing --------------------------------------------------------------------------------------


def write_folder(folder: str | os.PathLike[str], contents: Contents, overwrite: bool) -> None:
    """Write the contents of a `Views`; an existing folder is replaced whole, or not touched."""
    # a link to a folder stays a link
    target = Path(os.path.realpath(folder))
    _check_view_files(contents.matrices)
    restore_folder(target)
    _check_target(target, overwrite)
    with temporary_folder(target) as beside:
        new = beside / "new"
        new.mkdir()
        _write_files(new, contents)
        replace_folder(new, target)


def _check_view_files(names: Iterable[str]) -> None:
    for name in names:
        if _UNSAFE_NAME.search(name) or len(name.encode()) > _LONGEST_NAME:
            raise ValueError(
                f"View {quoted(name)} cannot be saved under its name: it is part of a file name, "
                f'so it may hold none of / \\ < > : " | ? * nor control characters, not begin '
                f"or end with a dot and not exceed {_LONGEST_NAME} bytes. Rename the view."
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
            f"{target} is not empty. Choose another folder, or give {argument('overwrite', True)}."
        )
    foreign = [name for name in files if not _OUR_FILES.fullmatch(name)]
    if foreign:  # never delete files that are not ours
        raise FileExistsError(
            f"{target} holds files that are no part of a views folder: {listing(foreign)}. "
            "Move them away or choose another folder."
        )


def _write_files(folder: Path, contents: Contents) -> None:
    names = list(contents.matrices)
    for name in names:
        sp.save_npz(folder / f"view_{name}.npz", contents.matrices[name])
        _write_lines(folder / f"features_{name}.txt.gz", contents.features[name])
    _write_lines(folder / "views.txt", names)
    alphabetical = [names.index(name) for name in sorted(names)]
    np.save(folder / "present.npy", contents.present[:, alphabetical], allow_pickle=False)
    # rows drawn with replacement repeat their ids; such a folder could not be read again
    _write_lines(folder / "ids.txt.gz", None if contents.ids is None else check_ids(contents.ids))
    _write_lines(folder / "label_names.txt", contents.label_names)
    if contents.labels is not None:
        np.save(folder / "labels.npy", _plain_labels(contents.labels), allow_pickle=False)
    for name, recipe in contents.recipes.items():
        write_recipe(folder, name, recipe)
    write_manifest(folder)


def _write_lines(path: Path, lines: Iterable[str] | None) -> None:
    if lines is None:
        return
    for index, line in enumerate(lines):
        if "\n" in line or line.endswith("\r"):
            raise ValueError(
                f"{path.name} keeps one name per line, so {quoted(line)} (number {index:,}) cannot "
                "be saved: it holds a line break. Rename it."
            )
    data = "".join(f"{line}\n" for line in lines).encode()
    # without a time stamp, so that the same names give the same bytes
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _plain_labels(labels: np.ndarray) -> np.ndarray:
    """Return labels in a type that needs no pickle; an empty text is an unlabeled document."""
    if labels.dtype.kind != "O":
        return labels
    texts = np.where(is_unlabeled(labels), "", labels)
    plain = texts.astype(str)
    changed = plain.astype(object) != texts  # numpy's texts drop a NUL at the end
    if changed.any():
        raise ValueError(
            f"Label {quoted(labels[np.argmax(changed)])} cannot be saved as text. Use integers, "
            "-1 for unlabeled, and label_names."
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
    """Read a views folder as keyword arguments of `Views`; see `Views.load`."""
    folder = Path(folder)
    return read_steadily(lambda: _stamp(folder), lambda: _read_files(folder, views))


def _stamp(folder: Path) -> Any:
    """Return what tells a folder from another one that has taken its place."""
    try:
        return [(path.name, file_stamp(path)) for path in sorted(folder.iterdir())]
    except OSError:
        # while it is being replaced, like nothing else
        return object() if moved_aside(folder) else None


def _read_files(folder: Path, views: Sequence[str] | None) -> dict[str, Any]:
    listed = _check_listed(folder)
    files = _view_files(folder)
    names = _check_wanted(folder, list(files), views)
    _check_unchanged(folder, listed, _files_of(listed, files, names))
    matrices = {name: _read_view(files[name], name, names) for name in names}
    n_docs = _check_heights(matrices, files)
    ids = _read_optional(folder / "ids.txt.gz", read_lines, (n_docs,))
    labels = _read_optional(folder / "labels.npy", load_array, (n_docs,))
    present = _read_optional(folder / "present.npy", load_array, (n_docs, len(files)))
    features = {
        name: _read_optional(folder / f"features_{name}.txt.gz", read_lines, (matrix.shape[1],))
        for name, matrix in matrices.items()
    }
    if present is not None:
        present = present[:, [sorted(files).index(name) for name in names]]
    return {
        "data": matrices,
        "ids": ids,
        "labels": labels,
        "label_names": _read_optional(folder / "label_names.txt", read_lines),
        "features": features,
        "present": present,
        "recipes": read_recipes(folder, features),
    }


def _check_listed(folder: Path) -> dict[str, Any]:
    """Return the manifest, if there is one and the files of the format are those that it lists."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if not (folder / MANIFEST).exists():
        return {}
    listed = read_manifest(folder / MANIFEST)
    there, wanted = _our_files(path.name for path in folder.iterdir()), _our_files(listed)
    for names, how in ((there - wanted, "added"), (wanted - there, "removed")):
        if names:
            raise _altered(folder, sorted(names), how)
    _check_unchanged(folder, listed, ["views.txt"])  # it says which files are read next
    return listed


def _our_files(names: Iterable[str]) -> set[str]:
    """Return the names of files of the format, in one form: some systems take accents apart."""
    ours = {normalize("NFC", name) for name in names if _OUR_FILES.fullmatch(name)}
    return ours - {MANIFEST}


def _check_unchanged(folder: Path, listed: Mapping[str, Any], names: Iterable[str]) -> None:
    changed = different_files(folder, listed, names)
    if changed:
        raise _altered(folder, changed, "changed")


def _files_of(listed: Iterable[str], files: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Return the files of the format without those that only views not wanted have."""
    others = [re.escape(name) for name in files if name not in wanted]
    unread = "|".join(
        rf"view_{name}\.np[yz]|features_{name}\.txt\.gz|recipe_{name}(\.json|_[^_]+\.npy)"
        for name in others
    )
    ours = [name for name in listed if _OUR_FILES.fullmatch(name)]
    return [name for name in ours if not re.fullmatch(unread, name, re.DOTALL)]


def _altered(folder: Path, names: Sequence[str], how: str) -> DamagedFile:
    return DamagedFile(
        f"{folder} is not as it was written: {listing(names)} {how}. Take it from a backup or "
        f"write it again; if that was on purpose, delete its {MANIFEST}: it is then read as it is."
    )


def _view_files(folder: Path) -> dict[str, Path]:
    """Return the file of each view, in the order in which the views were saved."""
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
    order = _read_optional(folder / "views.txt", read_lines) or []
    missing = [name for name in order if name not in files]
    if missing:
        raise ValueError(f"{folder / 'views.txt'} lists {listing(missing)}, but has no such file.")
    return {name: files[name] for name in [*order, *sorted(files.keys() - set(order))]}


def _check_wanted(folder: Path, found: list[str], views: Sequence[str] | None) -> list[str]:
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


def _check_heights(matrices: dict[str, sp.csr_array], files: dict[str, Path]) -> int:
    (first, matrix), *rest = matrices.items()
    for name, other in rest:
        if other.shape[0] != matrix.shape[0]:
            raise ValueError(
                f"{files[first]} has {matrix.shape[0]:,} documents but {files[name]} has "
                f"{other.shape[0]:,}. All views must describe the same documents."
            )
    return matrix.shape[0]


def _read_optional(
    path: Path, reader: Callable[[Path], Any], shape: tuple[int, ...] | None = None
) -> Any:
    """Read a file that may be missing (None), and check the shape of what it holds."""
    if not path.exists():
        return None
    found = read_file(path, reader)
    size = getattr(found, "shape", None) or (len(found),)
    if shape is not None and size != shape:
        raise ValueError(f"{path} must have the shape {shape}, found {size}.")
    return found
