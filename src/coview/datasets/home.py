"""Where the data sets of the papers are on this machine."""

import os
import sys
from pathlib import Path

from coview.datasets.registry import Dataset


def data_home(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data sets: the argument, $COVIEW_DATA, or the user's own data folder.

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
    """The folder that holds a data set, or None if it is not there."""
    found = data_home(folder) / data.folder
    return found if any(found.glob("view_*.np[yz]")) else None


def need_folder(data: Dataset, folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds a data set, or an error that says how to get it."""
    found = find_folder(data, folder)
    if found is None:
        raise FileNotFoundError(how_to_get(data, folder))
    return found


def how_to_get(data: Dataset, folder: str | os.PathLike[str] | None = None) -> str:
    """Where the publisher has a data set and how to import it."""
    made_of = f", which is made from {data.built_from!r}," if data.built_from else ""
    return (
        f"The data set {data.name!r}{made_of} is not in {data_home(folder)}. Its publisher has it "
        f"at {data.publisher} ({data.archive}). Fetch it, then run: {data.import_command}. "
        "If you have it already, say in which folder: data_home=... or the environment variable "
        "COVIEW_DATA."
    )
