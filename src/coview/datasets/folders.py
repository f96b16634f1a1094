"""The folders of the papers' data sets: where they are, how they are read, and their checksums.

Checksums are in `MANIFEST.json` in the folder of a data set,
``{file: {"bytes": size, "sha256": digest}}``, or in one file beside the folders for all of them,
``{folder: {file: ...}}``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview.datasets.registry import Dataset, dataset
from coview.views.manifest import MANIFEST, different_files, read_manifest
from coview.wording import listing, quoted

if TYPE_CHECKING:
    from coview.views.container import Views


def data_home(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the data sets: the argument, $COVIEW_DATA, or the user's data folder.

    The last is `$XDG_DATA_HOME/coview` or `~/.local/share/coview`, on macOS
    `~/Library/Application Support/coview`, on Windows `%LOCALAPPDATA%/coview`.

    >>> data_home("sets").name
    'sets'
    """
    if folder is not None:
        return Path(folder).expanduser()
    if os.environ.get("COVIEW_DATA"):
        return Path(os.environ["COVIEW_DATA"]).expanduser()
    return _user_data_folder(sys.platform) / "coview"


def _user_data_folder(platform: str) -> Path:
    if os.environ.get("XDG_DATA_HOME"):
        return Path(os.environ["XDG_DATA_HOME"]).expanduser()
    if platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    library = "~/Library/Application Support" if platform == "darwin" else "~/.local/share"
    return Path(library).expanduser()


def find_folder(data: Dataset, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder that holds a data set, or None if there is none."""
    return find_views(data.folder, folder)


def find_views(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the views folder of that name among the data sets, or None if there is none."""
    if Path(name).name != name:  # a path is no name
        return None
    found = data_home(folder) / name
    return found if any(found.glob("view_*.np[yz]")) else None


def need_folder(data: Dataset, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of a data set; without one, raise an error that says how to get it."""
    found = find_folder(data, folder)
    if found is None:
        raise FileNotFoundError(how_to_get(data, folder))
    return found


def how_to_get(data: Dataset, folder: str | os.PathLike[str] | None = None) -> str:
    """Return a message that says where a data set is published and how to import it."""
    made_of = f", which is made from {data.built_from!r}," if data.built_from else ""
    return (
        f"The data set {data.name!r}{made_of} is not in {data_home(folder)}. Its publisher has it "
        f"at {data.publisher} ({data.archive}). Download it, then run in a clone of coview's "
        f"repository: {data.import_command}. If you have it already, give its folder: "
        "data_home=... or the environment variable COVIEW_DATA."
    )


# -- views -----------------------------------------------------------------------------------------


def load_folder(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    views: Sequence[str] | None = None,
    check: bool = False,
) -> Views:
    """Load the views of a data set from its folder.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    data_home : path, optional
        Folder of the data sets: see `data_home`.
    views : sequence of str, or "all", optional
        By default the default views of the registry.
    check : bool, default=False
        Whether to compare the files with their checksums first.
    """
    data = dataset(name)
    folder = need_folder(data, data_home)
    if check:
        check_manifest(folder)
    from coview.views.container import Views  # imports numpy, which `coview data list` avoids

    every = tuple(data.views)
    return Views.load(
        folder, views=every if views == "all" else views or data.default_views or every
    )


# -- checksums -------------------------------------------------------------------------------------


def check_manifest(folder: Path) -> None:
    """Compare the files of a folder with its manifest; raise ValueError if some differ."""
    wrong = different_files(folder, _expected(folder))
    if wrong:
        raise ValueError(
            f"In {folder} these files are missing or not what {MANIFEST} says: "
            f"{listing(wrong, 10)}. Import the data set again."
        )


def _expected(folder: Path) -> dict[str, Any]:
    if (folder / MANIFEST).is_file():
        return read_manifest(folder / MANIFEST)
    beside = folder.parent / MANIFEST
    entries = read_manifest(beside).get(folder.name) if beside.is_file() else None
    if not isinstance(entries, dict):
        raise FileNotFoundError(
            f"Neither {folder} nor {folder.parent} has a {MANIFEST} with checksums of "
            f"{quoted(folder.name)}; leave out check=True."
        )
    return entries
