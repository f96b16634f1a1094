"""Checksums of a data set: `MANIFEST.json` in its folder, or one for all beside the folders.

In the folder: ``{file: {"bytes": size, "sha256": digest}}``. Beside the folders the same for
each of them: ``{folder: {file: ...}}``.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from coview.data.show import listing, quoted

MANIFEST = "MANIFEST.json"


def write_manifest(folder: Path) -> None:
    """Put down size and checksum of every file of a folder."""
    files = sorted(path for path in folder.iterdir() if path.name != MANIFEST)
    entries = {path.name: _entry(path) for path in files}
    (folder / MANIFEST).write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def check_manifest(folder: Path) -> None:
    """Compare the files of a folder with its manifest; ValueError names those that differ."""
    expected = _expected(folder)
    wrong = [name for name, entry in expected.items() if not _matches(folder, name, entry)]
    if wrong:
        raise ValueError(
            f"In {folder} these files are missing or not what {MANIFEST} says: "
            f"{listing(wrong, 10)}. Import the data set again."
        )


def _expected(folder: Path) -> dict[str, Any]:
    if (folder / MANIFEST).is_file():
        return _read(folder / MANIFEST)
    beside = folder.parent / MANIFEST
    entries = _read(beside).get(folder.name) if beside.is_file() else None
    if not isinstance(entries, dict):
        raise FileNotFoundError(
            f"Neither {folder} nor {folder.parent} has a {MANIFEST} with checksums of "
            f"{quoted(folder.name)}; leave out check=True."
        )
    return entries


def _read(path: Path) -> dict[str, Any]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"Cannot read {path}: {error}.") from error
    if not isinstance(entries, dict):
        raise ValueError(f"{path} must hold an object with an entry for each file.")
    return entries


def _matches(folder: Path, name: str, entry: Any) -> bool:
    path = folder / name
    # a manifest speaks of the files of its folder, not of those elsewhere
    return Path(name).name == name and path.is_file() and _entry(path) == entry


def _entry(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}
