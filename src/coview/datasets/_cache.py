"""A folder of built data sets, so that the slow ones are built once.

The cache is a convenience: nothing that goes wrong with it may stop a data set from loading.
A data set is written to a temporary folder and renamed into place, so other processes see all of
it or nothing, and a list of checksums lets a damaged copy be told from a whole one.
"""

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_CHECKSUMS = "sha256.txt"


def cache_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder of the cache: the argument, $COVIEW_CACHE, $XDG_CACHE_HOME/coview, ~/.cache/coview."""
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
    """What `folder` holds; if it holds nothing usable, what `build` makes, saved for next time."""
    found = folder.is_dir()
    if found:
        try:
            _check(folder)
            return load(folder)
        except Exception as error:  # whatever is wrong with a copy, building anew is the answer
            warnings.warn(
                f"The cached data set {folder} cannot be read ({error}); it is built again.",
                stacklevel=3,
            )
    value = build()
    with suppress(OSError):  # no place to write: the next call builds again
        _store(value, folder, save, replace=found)
    return value


def _store(value: T, folder: Path, save: Callable[[T, Path], None], replace: bool) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        save(value, temporary / "new")
        (temporary / "new" / _CHECKSUMS).write_text(_checksums(temporary / "new"))
        if replace:
            folder.rename(temporary / "damaged")
        # Fails where another process has been faster; its copy is as good as this one.
        (temporary / "new").rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check(folder: Path) -> None:
    if (folder / _CHECKSUMS).read_text() != _checksums(folder):
        raise ValueError("its files do not match their checksums")


def _checksums(folder: Path) -> str:
    """One line for each file, as `sha256sum` prints it."""
    files = sorted(path for path in folder.iterdir() if path.name != _CHECKSUMS)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    return "".join(lines)
