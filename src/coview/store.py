"""Sealed files: arrays and a JSON header in one safetensors file that detects any damage.

A file holds tensors and, in the metadata of safetensors, a header: JSON with the kind of the file,
its version, the caller's own header, and the SHA-256 of each tensor (of its type, shape and bytes);
the SHA-256 of that JSON precedes it. Nothing is ever unpickled or evaluated. Checksums detect
accidents, not attackers: whoever can rewrite a file can rewrite its checksums.

Writing is atomic: the file is written beside its target, flushed to the disk and moved there, so a
full disk, a crash or a kill leaves the old file or the new one, never a mixture.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from coview import __version__
from coview.outputs import (
    STALE_SECONDS,
    explained,
    output_file,
    remove_leftovers,
    temporary_path,
)

FORMAT = "coview"
FORMAT_VERSION = 1  # of the files written
MIN_READER = 1  # the lowest version that can read what is written
LARGEST_HEADER = 100_000_000
ATTEMPTS, PAUSE = 20, 0.05  # to read what others replace, and the seconds between

Result = TypeVar("Result")

# first bytes of files that may be mistaken for model files
_FOREIGN = {
    b"\x80": "a pickle, which can run code when it is read: it is refused. Fit the model again "
    "and save it with model.save(path)",
    b"PK": "a zip archive (a joblib or skops file, or a NumPy .npz?)",
    b"\x1f\x8b": "a gzip file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}


class DamagedFile(ValueError):
    """A file that cannot be used: truncated, altered, of another kind, or of a newer version."""


# -- writing --------------------------------------------------------------------------------------


def write_sealed(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray],
) -> None:
    """Write a sealed file; an existing one is replaced once the new one is on the disk.

    Parameters
    ----------
    path : path
    kind : str
        What the file holds, such as "model".
    header : mapping
        Data for JSON.
    tensors : mapping of str to ndarray
    """
    from safetensors.numpy import save_file

    # contiguous, as safetensors writes them: the checksums are of the bytes in the file
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    sealed = {
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "min_reader": MIN_READER,
        "library_version": __version__,
        "header": header,
        "sha256": {name: tensor_digest(array) for name, array in arrays.items()},
    }
    text = json.dumps(sealed, allow_nan=False, separators=(",", ":"))
    # one entry: safetensors writes several in an order that differs from run to run
    metadata = {FORMAT: f"{_digest(text.encode())} {text}"}
    with replacing(path) as beside:
        save_file(arrays, beside, metadata)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path` to write to; move it there at the end, or remove it.

    A link is followed, and the mode of an existing file is kept. Errors of writing, such as a full
    disk, become an OSError that names the place.
    """
    target = output_file(path)
    _remove_stale(target)
    beside = temporary_path(target)
    with explained(target):
        try:
            mode = _create(beside, target)
            yield beside
            beside.chmod(mode)  # some writers ignore the mode and make a file of their own
            flush(beside)
            os.replace(beside, target)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    _flush_folder(target.parent)


def _create(beside: Path, target: Path) -> int:
    """Create an empty file with owner and mode of the target, or new ones; return the mode."""
    beside.touch(exist_ok=False)
    if not target.exists():
        return stat.S_IMODE(beside.stat().st_mode)
    there = target.stat()
    with suppress(OSError, AttributeError):  # only root can give files away
        os.chown(beside, there.st_uid, there.st_gid)
    mode = stat.S_IMODE(there.st_mode)
    beside.chmod(mode | stat.S_IWUSR)
    return mode


def replace_folder(new: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Move the folder `new` to `target`, replacing the folder there without ever losing it.

    The old folder is moved aside, the new one takes its place, and only then is the old one
    removed. If the second move fails, the old folder is moved back. If the process is killed
    between the two moves, the old folder stays beside the target under the name
    ``.<name>.<time>-<process>.old``, and the next call puts it back before it begins.

    Parameters
    ----------
    new : path
        A complete folder on the same file system as `target`.
    target : path
        Where it goes; its parent must exist.
    """
    new, target = Path(new), Path(target)
    restore_folder(target)
    aside = moved_aside(target)
    old = target.with_name(f".{target.name}.{time.time_ns():020d}-{os.getpid()}.old")
    replaces = target.exists()
    if replaces:
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        # another process may have put a folder there meanwhile: then both copies stay
        if replaces and not target.exists():
            old.rename(target)
        raise
    _flush_folder(target.parent)
    oldest = time.time_ns() - STALE_SECONDS * 10**9
    # copies of other calls may still be needed, unless they are so old that the caller was killed
    for path in [old] + [p for p in aside if int(p.name.split(".")[-2].split("-")[0]) < oldest]:
        shutil.rmtree(path, ignore_errors=True)


def restore_folder(target: Path) -> None:
    """Put a folder back that a killed `replace_folder` had moved aside, if it is missing.

    Call it before asking whether there is a folder that must not be overwritten.
    """
    aside = moved_aside(target)
    if aside and not target.exists():
        aside[-1].rename(target)


def moved_aside(target: Path) -> list[Path]:
    """Return the old copies of a folder that `replace_folder` has moved aside, newest last."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9]{{20}}-[0-9]+\.old")
    found = target.parent.glob(f".{glob.escape(target.name)}.*.old")
    return sorted(path for path in found if ours.fullmatch(path.name))


def _remove_stale(target: Path) -> None:
    """Remove temporary files that a killed writer, also of an earlier version, left behind."""
    remove_leftovers(target.parent)
    for old in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE_SECONDS:
                old.unlink()


def flush(path: Path) -> None:
    """Bring the bytes of a file to the disk, so that they survive a power cut."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Flush the new name, so that it survives a power cut; not every system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def tensor_digest(array: np.ndarray) -> str:
    """Return the SHA-256 of an array's type, shape and bytes.

    Examples
    --------
    >>> tensor_digest(np.zeros(2)) == tensor_digest(np.zeros((2, 1)))
    False
    """
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# -- reading --------------------------------------------------------------------------------------


def read_sealed(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the header and the tensors of a sealed file.

    Parameters
    ----------
    path : path
    kind : str
        What the file must hold, as given to `write_sealed`.

    Returns
    -------
    header : dict
    tensors : dict of ndarray

    Raises
    ------
    DamagedFile
        If anything is not as it was written.
    """
    path = Path(path)
    return read_steadily(lambda: file_stamp(path), lambda: _read_sealed(path, kind))


def _read_sealed(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    sealed = read_header(path, kind)
    try:
        tensors = _read_tensors(path)
    except MemoryError as error:
        raise MemoryError(f"Not enough memory to read {path}.") from error
    except Exception as error:  # safetensors has its own exceptions, and numpy others
        raise _damaged(path, str(error)) from error
    if tensors.keys() != sealed["sha256"].keys():
        raise _damaged(path, "it lacks tensors, or has some that its header does not list")
    for name, digest in sealed["sha256"].items():
        if tensor_digest(tensors[name]) != digest:
            raise _damaged(path, f"the checksum of {name!r} is wrong")
    return sealed["header"], tensors


def file_stamp(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file from another one that has taken its place, None without a file."""
    try:
        there = path.stat()
    except OSError:
        return None
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns


def read_steadily(stamp: Callable[[], Any], read: Callable[[], Result]) -> Result:
    """Return what was read of one state of files that others may replace meanwhile.

    What is verified and then opened again by its name may have become something else. So all is
    read again where the stamp of the files is not the same before and after.

    Parameters
    ----------
    stamp : callable
        Returns what tells one state of the files from another.
    read : callable
        Reads and verifies them.
    """
    for _ in range(ATTEMPTS):
        before = stamp()
        try:
            found = read()
        except (OSError, ValueError) as error:
            failure: Exception = error
            if stamp() == before:
                raise
        else:
            failure = OSError("It was replaced again and again while it was read.")
            if stamp() == before:
                return found
        time.sleep(PAUSE)
    raise failure


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def read_header(path: str | os.PathLike[str], kind: str | None = None) -> dict[str, Any]:
    """Return the header of a sealed file, its own checksum verified, without reading tensors."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a coview file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    metadata = _metadata(path)
    if list(metadata) != [FORMAT]:
        raise DamagedFile(f"{path} is a safetensors file, but not one that coview wrote.")
    digest, _, text = metadata[FORMAT].partition(" ")
    if _digest(text.encode()) != digest:
        raise _damaged(path, "the checksum of its header is wrong")
    sealed = _sealed_header(path, text)
    if sealed["min_reader"] > FORMAT_VERSION:
        raise DamagedFile(
            f"{path} was written by coview {sealed['library_version']}, in a format that this "
            f"version ({__version__}) cannot read: update coview."
        )
    if kind is not None and sealed["kind"] != kind:
        raise DamagedFile(f"{path} holds a {sealed['kind']}; a {kind} was expected.")
    return sealed


def _sealed_header(path: Path, text: str) -> dict[str, Any]:
    """Return the header in its JSON, if it has all its entries; its checksum cannot tell."""
    try:
        sealed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    wanted = {"min_reader": int, "library_version": str}
    # a newer version may have other entries, of which nothing is asked
    if isinstance(sealed, dict) and not _is_newer(sealed.get("min_reader")):
        wanted |= {"kind": str, "format_version": int, "header": dict, "sha256": dict}
    for key, kind in wanted.items():
        if not isinstance(sealed, dict) or not isinstance(sealed.get(key), kind):
            raise _damaged(path, f"its header has no {key!r}, or not one of the right type")
    return sealed


def _is_newer(min_reader: Any) -> bool:
    return isinstance(min_reader, int) and min_reader > FORMAT_VERSION


def _metadata(path: Path) -> dict[str, str]:
    """Return the metadata of a safetensors file, without trusting any of its sizes."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(9)
        _check_start(path, start)
        length = int.from_bytes(start[:8], "little")
        if length > min(size - 8, LARGEST_HEADER):
            raise _damaged(path, "it ends within its header")
        file.seek(8)
        raw = file.read(length).rstrip(b" ")
    try:
        parsed = json.loads(raw)
        canonical = json.dumps(parsed, ensure_ascii=False, separators=(",", ":")).encode()
        metadata = parsed["__metadata__"]
        ends = [part["data_offsets"][1] for name, part in parsed.items() if name != "__metadata__"]
        whole = 8 + length + max(ends, default=0)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if not isinstance(metadata, dict):
        raise _damaged(path, "its header cannot be read")
    # a changed byte that is still valid JSON, such as a space, is damage all the same
    if canonical != raw or not all(isinstance(v, str) for v in metadata.values()):
        raise _damaged(path, "its header has been altered")
    if size != whole:
        raise _damaged(path, f"it has {size:,} bytes; its header gives another size")
    return metadata


def _check_start(path: Path, start: bytes) -> None:
    """Refuse files of other formats by their first bytes: a length of eight, then JSON."""
    # a length can look like the mark of another format: 19,280 is "PK"
    if start[8:] == b"{" and not any(start[4:8]):
        return
    foreign = next((what for magic, what in _FOREIGN.items() if start.startswith(magic)), None)
    if foreign:
        raise DamagedFile(f"{path} is not a coview file but {foreign}.")
    if len(start) < 9 or any(start[4:8]):  # the length of the header would be 4 GB or more
        raise DamagedFile(
            f"{path} is not a coview file (it has {path.stat().st_size:,} bytes and begins "
            f"with {start[:8]!r})."
        )


def _damaged(path: Path, why: str) -> DamagedFile:
    return DamagedFile(
        f"{path} is damaged: {why}. Take it from a backup, or write it again with coview."
    )


# -- texts as tensors -----------------------------------------------------------------------------


def pack_texts(texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return texts as one array of UTF-8 bytes and the positions where they end.

    Examples
    --------
    >>> blob, ends = pack_texts(["a", "bé"])
    >>> ends.tolist(), unpack_texts(blob, ends)
    ([1, 4], ['a', 'bé'])
    """
    parts = [text.encode() for text in texts]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def unpack_texts(blob: np.ndarray, ends: np.ndarray) -> list[str]:
    """Return the texts that `pack_texts` packed; ValueError if the ends do not fit the bytes."""
    bounds = [0, *ends.tolist()]
    if any(a > b for a, b in pairwise(bounds)) or bounds[-1] != len(blob):
        raise ValueError("The ends of packed texts do not fit their bytes.")
    data = blob.tobytes()
    return [data[a:b].decode() for a, b in pairwise(bounds)]


def renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return values under their present names, given those of early files as {old: new}."""
    return {names.get(name, name): value for name, value in values.items()}


def fingerprint(arrays: Iterable[np.ndarray], *texts: str) -> str:
    """Return one SHA-256 of arrays and texts, in order."""
    digest = hashlib.sha256("\0".join(texts).encode())
    for array in arrays:
        digest.update(tensor_digest(array).encode())
    return digest.hexdigest()
