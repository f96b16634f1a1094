"""An imported data set is written whole or not at all."""

import gzip
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coview.datasets.folders import MANIFEST, write_manifest
from coview.views.container import Views


def check_target(out: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """The folder to write to; FileExistsError if something is there that must stay."""
    target = Path(out).expanduser().resolve()
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{target} is a file; a data set needs a folder.")
    if target.is_dir() and any(target.iterdir()):
        if not overwrite:
            raise FileExistsError(
                f"{target} is not empty. Choose another folder, or say overwrite (--overwrite)."
            )
        if not (target / MANIFEST).is_file():  # the wrong folder must not cost anybody their files
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
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".coview-") as beside:
        new, old = Path(beside, "new"), Path(beside, "old")
        views.save(new)
        for name, data in (extras or {}).items():
            (new / name).write_bytes(data)
        write_manifest(new)
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise


def array_bytes(array: np.ndarray) -> bytes:
    """A .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def documents_bytes(documents: Iterable[Mapping[str, Any]]) -> bytes:
    """A documents.jsonl.gz: one document a line."""
    lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    return gzip.compress(lines.encode(), compresslevel=6, mtime=0)
