"""The cache of built data sets, so that slow ones are built only once.

A failure of the cache never stops a data set from loading. A data set is written to a temporary
folder and moved into place, so other processes see all of it or nothing; a list of checksums
reveals a damaged copy.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from coview.outputs import temporary_folder
from coview.store import replace_folder

T = TypeVar("T")
_CHECKSUMS = "sha256.txt"


def cache_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the cache.

    It is the argument, else ``$COVIEW_CACHE``, else ``$XDG_CACHE_HOME/coview``, else
    ``~/.cache/coview``.
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    if os.environ.get("COVIEW_CACHE"):
        return Path(os.environ["COVIEW_CACHE"]).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "coview"


def cached(
    folder: Path,
    build: Callable[[], T],
    save: Callable[[T, Path], None],
    load: Callable[[Path], T],
) -> T:
    """Load what `folder` holds; if that is nothing usable, build it and save it for next time.

    Parameters
    ----------
    folder : Path
        The place of the data set in the cache.
    build : callable
        Makes the data set.
    save : callable
        Writes it to a new folder: ``save(value, folder)``.
    load : callable
        Reads it back: ``load(folder)``.
    """
    found = folder.is_dir()
    if found:
        try:
            _check(folder)
            return load(folder)
        except Exception as error:  # whatever is wrong with the copy: build it again
            warnings.warn(
                f"The cached data set {folder} cannot be read ({error}); it is built again.",
                stacklevel=3,
            )
    value = build()
    with suppress(OSError):  # the folder cannot be written: the next call builds again
        _store(value, folder, save, replace=found)
    return value


def _store(value: T, folder: Path, save: Callable[[T, Path], None], replace: bool) -> None:
    with temporary_folder(folder) as beside:
        new = beside / "new"
        save(value, new)
        (new / _CHECKSUMS).write_text(_checksums(new))
        if replace:
            replace_folder(new, folder)
        else:
            # fails if another process was faster: its copy is as good as this one
            new.rename(folder)


def _check(folder: Path) -> None:
    if (folder / _CHECKSUMS).read_text() != _checksums(folder):
        raise ValueError("its files do not match their checksums")


def _checksums(folder: Path) -> str:
    """Return one line for each file, as `sha256sum` prints it."""
    files = sorted(path for path in folder.iterdir() if path.name != _CHECKSUMS)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    return "".join(lines)
