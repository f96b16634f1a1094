"""Write an imported data set: a views folder with a manifest, whole or not at all."""

import gzip
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coview.outputs import temporary_folder
from coview.store import replace_folder
from coview.views.container import Views
from coview.views.manifest import MANIFEST, write_manifest


def check_target(out: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Return the folder to write to; raise FileExistsError if it holds what must stay."""
    target = Path(out).expanduser().resolve()
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{target} is a file; a data set needs a folder.")
    if target.is_dir() and any(target.iterdir()):
        if not overwrite:
            raise FileExistsError(
                f"{target} is not empty. Choose another folder, or say overwrite (--overwrite)."
            )
        if not (target / MANIFEST).is_file():  # never delete files that are not ours
            raise FileExistsError(
                f"{target} holds no data set that was imported (it has no {MANIFEST}), so it is "
                "not replaced. Choose another folder."
            )
    return target


def write_dataset(
    out: str | os.PathLike[str],
    views: Views,
    extras: Mapping[str, bytes] | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write a views folder, further files and a manifest, and move them into place together.

    Parameters
    ----------
    out : path
    views : Views
    extras : dict name -> bytes, optional
        Files besides those of the views.
    overwrite : bool, default=False
        Replace a data set that was imported before.
    """
    target = check_target(out, overwrite)
    with temporary_folder(target) as beside:
        new = beside / "new"
        views.save(new)
        for name, data in (extras or {}).items():
            (new / name).write_bytes(data)
        write_manifest(new)
        replace_folder(new, target)


def array_bytes(array: np.ndarray) -> bytes:
    """Return an array as the contents of an .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def documents_bytes(documents: Iterable[Mapping[str, Any]]) -> bytes:
    """Return documents as the contents of a .jsonl.gz file: one document per line."""
    lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    return gzip.compress(lines.encode(), compresslevel=6, mtime=0)
