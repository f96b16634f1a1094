"""The manifest of a folder: the size and SHA-256 of every file, so that damage is noticed.

It is ``MANIFEST.json`` in the folder, ``{file: {"bytes": size, "sha256": digest}}``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "MANIFEST.json"


def write_manifest(folder: Path) -> None:
    """Write the size and checksum of every file of a folder to its manifest."""
    files = sorted(path for path in folder.iterdir() if path.name != MANIFEST)
    entries = {path.name: _entry(path) for path in files}
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_bytes(f"{text}\n".encode())


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the entry of each file; ValueError if it is no manifest."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Cannot read {path}: {error}.") from error
    if not isinstance(entries, dict):
        raise ValueError(f"{path} must hold an object with an entry for each file.")
    return entries


def different_files(
    folder: Path, entries: Mapping[str, Any], names: Iterable[str] | None = None
) -> list[str]:
    """Return the files that are missing or not what their entries say; `names` limits them."""
    checked = entries if names is None else [name for name in names if name in entries]
    return [name for name in checked if not _matches(folder, name, entries[name])]


def _matches(folder: Path, name: str, entry: Any) -> bool:
    path = folder / name
    # a manifest may only name files of its own folder
    if Path(name).name != name or not path.is_file() or not isinstance(entry, dict):
        return False
    return path.stat().st_size == entry.get("bytes") and _entry(path) == entry


def _entry(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}
