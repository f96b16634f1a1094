"""Files on storage that has a URL, such as ``s3://bucket/folder``: by fsspec, without a cache.

`coview.shards.storage` calls these for every place with ``://`` in its name. Objects on such
storage appear when they are complete, so that a write needs no second name. Where a file system
behind a URL does not do that (``sftp://``, say), a file is written beside its place and moved.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from coview.extras import need

_WHOLE_OBJECTS = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "memory", "oci", "oss"}
_PIECE = 1 << 22  # bytes that are read ahead
# by which storages tell that a file is another one
_CHANGING = (
    "ETag",
    "etag",
    "md5Hash",
    "LastModified",
    "last_modified",
    "updated",
    "mtime",
    "created",
)


def is_url(path: Any) -> bool:
    """Return whether a place is a URL rather than a path.

    >>> is_url("s3://bucket/news.shards"), is_url("/data/news.shards")
    (True, False)
    """
    return isinstance(path, str) and "://" in path


def join(base: str, *names: str) -> str:
    """Return the URL of something within a folder.

    >>> join("s3://bucket/news.shards/", "shard-00000")
    's3://bucket/news.shards/shard-00000'
    """
    return "/".join((base.rstrip("/"), *names))


@cache
def _filesystem(scheme: str) -> Any:
    fsspec = need("fsspec", extra="dask")
    try:
        # no listing is kept: other processes write there as well
        return fsspec.filesystem(scheme, use_listings_cache=False)
    except ImportError as error:
        raise ImportError(
            f"Storage at {scheme}:// needs another package: {error}. It has to be installed on all "
            "hosts of a cluster."
        ) from error
    except ValueError as error:
        raise ValueError(f"There is no storage called {scheme}://: {error}.") from error


def _at(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path on it."""
    filesystem = _filesystem(url.partition("://")[0].lower())
    return filesystem, filesystem._strip_protocol(url)


def exists(url: str) -> bool:
    """Return whether there is a file or folder."""
    filesystem, path = _at(url)
    return bool(filesystem.exists(path))


def size_of(url: str) -> int:
    """Return the bytes of a file."""
    filesystem, path = _at(url)
    filesystem.invalidate_cache()
    return int(filesystem.info(path)["size"])


def signature(url: str) -> tuple[Any, ...]:
    """Return what changes when a file does, as far as the storage tells."""
    filesystem, path = _at(url)
    filesystem.invalidate_cache()
    info = filesystem.info(path)
    return info["size"], *(str(info.get(name, "")) for name in _CHANGING)


def remove_file(url: str) -> None:
    """Remove a file, if it is there."""
    filesystem, path = _at(url)
    with suppress(FileNotFoundError):
        filesystem.rm_file(path)


def remove_tree(url: str) -> None:
    """Remove a folder and all that is in it, as far as that is possible."""
    filesystem, path = _at(url)
    filesystem.invalidate_cache()
    with suppress(Exception):  # libraries of storages have errors of their own
        filesystem.rm(path, recursive=True)


def make_folder(url: str) -> None:
    """Make a folder, where the storage has such."""
    filesystem, path = _at(url)
    if url.partition("://")[0].lower() not in _WHOLE_OBJECTS:
        filesystem.makedirs(path, exist_ok=True)


@contextmanager
def open_binary(url: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, from any place in it."""
    filesystem, path = _at(url)
    filesystem.invalidate_cache()
    with filesystem.open(path, "rb", block_size=_PIECE, cache_type="readahead") as file:
        yield file


def write_atomic(url: str, data: bytes) -> None:
    """Write a file that appears only when it is complete."""
    filesystem, path = _at(url)
    if url.partition("://")[0].lower() in _WHOLE_OBJECTS:
        filesystem.pipe_file(path, data)
        return
    filesystem.makedirs(filesystem._parent(path), exist_ok=True)
    beside = f"{path}.part"
    filesystem.pipe_file(beside, data)
    filesystem.mv(beside, path)


@contextmanager
def local_folder(url: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a folder with copies of some files of a folder, for those who cannot read a URL."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            with open_binary(join(url, name)) as file:
                Path(folder, name).write_bytes(file.read())
        yield folder


def names_in(url: str) -> list[str]:
    """Return the names of what is in a folder, sorted; none if it does not exist."""
    filesystem, path = _at(url)
    filesystem.invalidate_cache()
    try:
        found = filesystem.ls(path, detail=False)
    except FileNotFoundError:
        return []
    return sorted(name.rstrip("/").rpartition("/")[2] for name in found)
