"""The sharded folder: views as raw arrays of consecutive documents, and a manifest of it all.

    manifest.json               everything below, sealed by a SHA-256 of itself
    shard-00000/v0.indptr.npy   rows of the first view (CSR), from 0 in each shard
               /v0.indices.npy  columns, sorted within a row, none twice
               /v0.data.npy     values, none of them zero
               /present.npy     documents x views
    v0.counts.npy               how much each term occurs, in double precision
    v0.features.npy, .ends.npy  names of the terms in UTF-8, and where each ends
    ids.npy, ids.ends.npy       ids of the documents, likewise
    labels.npy                  integers, -1 is unlabeled
    recipe_v0.json, ...         how raw documents become counts (`coview.reading.recipes`)

Views are numbered in files, since their names may hold any character. A shard holds consecutive
blocks (`coview.views.blocks`). The manifest has the size and SHA-256 of every file. No file is
compressed and none is a pickle.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coview import __version__
from coview.loaded import check_keys, check_value, understood
from coview.shards import storage
from coview.store import DamagedFile
from coview.views.blocks import MAX_DOCS, group_blocks
from coview.views.checks import check_view_names
from coview.views.density import DENSE

MANIFEST = "manifest.json"
KIND = "sharded views"
VERSION = 1  # of what is written
MIN_READER = 1  # the lowest version that can read what is written
LARGEST_MANIFEST = 200_000_000
LARGEST = 2**48  # documents, terms, entries: no file is near it, and no sum of places wraps around

_FILE = re.compile(
    r"(shard-[0-9]{5}/(present|v[0-9]+\.(indptr|indices|data))"
    r"|v[0-9]+\.(counts|features|ends)|ids|ids\.ends|labels|recipe_v[0-9]+_[0-9A-Za-z]+)\.npy"
    r"|recipe_v[0-9]+\.json"
)
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class ViewInfo:
    """What the manifest says of a view.

    Attributes
    ----------
    name : str
    n_terms : int
    dtype : str
        "float32" or "float64".
    nonzeros : int
    present : int
        Documents that have the view.
    filled : int
        Documents with an entry in it.
    whole : bool
        Whether all values are whole numbers.
    lowest, highest : float
        The smallest and the largest value; 0 if there is none.
    features : bool
        Whether the terms have names.
    """

    name: str
    n_terms: int
    dtype: str
    nonzeros: int
    present: int
    filled: int
    whole: bool
    lowest: float
    highest: float
    features: bool

    @property
    def nnz(self) -> int:
        """The number of entries, as a matrix has it."""
        return self.nonzeros

    @property
    def kind(self) -> str:
        """What it holds: "counts", "weights", or "measurements", which may be negative."""
        if self.whole:
            return "counts"
        return "measurements" if self._mostly_filled(self.filled) else "weights"

    @property
    def index_dtype(self) -> type:
        """The type of columns: 32 bits, unless there are more terms than that."""
        return index_type(self.n_terms)

    def is_dense(self, n_docs: int) -> bool:
        """Return whether more than half of all cells are not zero, as `views.density` does."""
        return self._mostly_filled(n_docs)

    def _mostly_filled(self, n_rows: int) -> bool:
        return self.nonzeros > DENSE * n_rows * self.n_terms


@dataclass(frozen=True)
class ShardInfo:
    """What the manifest says of a shard.

    Attributes
    ----------
    name : str
        Its folder.
    start, stop : int
        The documents.
    blocks : tuple of (int, int)
        The documents of each block, numbered as in all of the data.
    nonzeros : tuple of int
        Of each view.
    """

    name: str
    start: int
    stop: int
    blocks: tuple[tuple[int, int], ...]
    nonzeros: tuple[int, ...]

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.stop - self.start


@dataclass(frozen=True)
class LabelInfo:
    """What the manifest says of labels: their names, and whether they are texts themselves."""

    names: tuple[str, ...] | None
    texts: bool


@dataclass(frozen=True)
class Manifest:
    """Everything about a sharded folder but the arrays."""

    n_docs: int
    views: tuple[ViewInfo, ...]
    shards: tuple[ShardInfo, ...]
    files: Mapping[str, Mapping[str, Any]]  # {file: {"bytes": size, "sha256": digest}}
    ids: bool = False
    labels: LabelInfo | None = None
    version: int = VERSION
    library_version: str = __version__

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.views)

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The documents of every block."""
        return tuple(block for shard in self.shards for block in shard.blocks)


def index_type(n_terms: int) -> type:
    """Return the type of columns: 32 bits, unless there are more terms than that."""
    return np.int32 if n_terms <= np.iinfo(np.int32).max else np.int64


def shard_name(number: int) -> str:
    """Return the folder of a shard."""
    return f"shard-{number:05d}"


def file_entry(path: str) -> dict[str, Any]:
    """Return what the manifest says of a file: its size and checksum."""
    return {"bytes": storage.size_of(path), "sha256": storage.digest_of(path)}


# -- writing ---------------------------------------------------------------------------------------


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return a manifest as sealed JSON."""
    body = {
        "kind": KIND,
        "min_reader": MIN_READER,
        **asdict(manifest),
    }
    sealed = {**body, "seal": _seal(body)}
    return (json.dumps(sealed, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def _seal(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


# -- reading ---------------------------------------------------------------------------------------


def is_sharded_folder(path: Any) -> bool:
    """Return whether a folder holds the manifest of shards."""
    try:
        head = storage.read_bytes(storage.join(path, MANIFEST), LARGEST_MANIFEST)[:200]
    except (OSError, ValueError):
        return False
    return KIND.encode() in head or storage.exists(storage.join(path, shard_name(0)))


def read_manifest(folder: str) -> Manifest:
    """Read the manifest of a sharded folder; DamagedFile if it is not as it was written."""
    path = storage.join(folder, MANIFEST)
    if not storage.exists(path):
        raise FileNotFoundError(
            f"{folder} is no sharded folder: it holds no {MANIFEST}. Write one with "
            "`coview convert --shards` or coview.write_shards(views, path)."
        )
    with understood(path, "manifest of shards"):
        body = json.loads(storage.read_bytes(path, LARGEST_MANIFEST))
        if not isinstance(body, dict) or body.get("kind") != KIND:
            raise ValueError(f"it does not say that it is of {KIND}")
        _check_version(path, body)
        seal = body.pop("seal", None)
        if seal != _seal(body):
            raise ValueError("its checksum is wrong")
        return _checked(body)


def _check_version(path: str, body: dict[str, Any]) -> None:
    lowest = check_value(body.get("min_reader"), "min_reader", int, low=1)
    if lowest > VERSION:
        by = str(body.get("library_version"))[:40]
        raise DamagedFile(
            f"{path} was written by coview {by!r}, in a format (version {lowest}) that this "
            f"version ({__version__}) cannot read: update coview."
        )


def _checked(body: dict[str, Any]) -> Manifest:
    """Return the manifest, if nothing in it contradicts the rest; its seal cannot tell."""
    n_docs = _size(body["n_docs"], "n_docs", low=1)
    views = tuple(_view(view, n_docs) for view in _list(body["views"], "views"))
    check_view_names([view.name for view in views])
    shards = tuple(_shard(shard, len(views)) for shard in _list(body["shards"], "shards"))
    _check_shards(shards, n_docs)
    for v, view in enumerate(views):
        if sum(shard.nonzeros[v] for shard in shards) != view.nonzeros:
            raise ValueError(f"the non-zeros of view {view.name!r} are not those of its shards")
    files = _files(body["files"])
    manifest = Manifest(
        n_docs,
        views,
        shards,
        files,
        check_value(body["ids"], "ids", bool),
        _labels(body["labels"]),
        check_value(body["version"], "version", int, low=1),
        check_value(body["library_version"], "library_version", str),
    )
    missing = [name for name in _required(manifest) if name not in files]
    if missing:
        raise ValueError(f"it lists no file {missing[0]}")
    return manifest


def _size(value: Any, what: str, low: int = 0) -> int:
    return check_value(value, what, int, low=low, high=LARGEST)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"its {what} are no list with entries")
    return value


def _view(given: Any, n_docs: int) -> ViewInfo:
    keys = list(ViewInfo.__dataclass_fields__)
    view = ViewInfo(**check_keys(given, "views", keys))
    for name in ("nonzeros", "present", "filled"):
        _size(getattr(view, name), name)
    _size(view.n_terms, "n_terms", low=1)
    check_value(view.name, "view", str)
    for name in ("whole", "features"):
        check_value(getattr(view, name), name, bool)
    for name in ("lowest", "highest"):
        check_value(getattr(view, name), name, float, int)
    if view.dtype not in ("float32", "float64"):
        raise ValueError(f"view {view.name!r} has the type {str(view.dtype)[:20]!r}")
    if not view.filled <= view.present <= n_docs or view.nonzeros > view.filled * view.n_terms:
        raise ValueError(f"view {view.name!r} has more entries than its documents can have")
    if view.lowest < 0 and view.kind != "measurements":
        raise ValueError(f"view {view.name!r} has negative values, but is not dense and real")
    return view


def _shard(given: Any, n_views: int) -> ShardInfo:
    found = check_keys(given, "shards", list(ShardInfo.__dataclass_fields__))
    start, stop = _size(found["start"], "start"), _size(found["stop"], "stop")
    pairs = [_list(block, "blocks") for block in _list(found["blocks"], "blocks")]
    blocks = tuple((_size(a, "block"), _size(b, "block")) for a, b in pairs)
    nonzeros = tuple(_size(n, "nonzeros") for n in _list(found["nonzeros"], "nonzeros"))
    if len(nonzeros) != n_views:
        raise ValueError("a shard has not as many views as the folder")
    return ShardInfo(check_value(found["name"], "name", str), start, stop, blocks, nonzeros)


def _check_shards(shards: tuple[ShardInfo, ...], n_docs: int) -> None:
    """Check that shards have all documents, in order, and are grouped as they must be."""
    blocks = [block for shard in shards for block in shard.blocks]
    bounds = [0, *(stop for _, stop in blocks)]
    if [start for start, _ in blocks] != bounds[:-1] or bounds[-1] != n_docs:
        raise ValueError("its blocks are not all documents in order")
    if not all(0 < b - a <= MAX_DOCS for a, b in pairwise(bounds)):
        raise ValueError("one of its blocks has no or too many documents")
    groups = [tuple(blocks[a:b]) for a, b in group_blocks(len(blocks))]
    if [shard.blocks for shard in shards] != groups:
        raise ValueError("its blocks are not grouped into shards as they must be")
    for number, shard in enumerate(shards):
        if shard.name != shard_name(number):
            raise ValueError(f"shard {number} is called {shard.name[:20]!r}")
        if (shard.start, shard.stop) != (shard.blocks[0][0], shard.blocks[-1][1]):
            raise ValueError(f"{shard.name} has not the documents of its blocks")


def _files(given: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(given, dict):
        raise ValueError("its files are no object")
    for name, entry in given.items():
        # a manifest may only name files of its own folder
        if not _FILE.fullmatch(name):
            raise ValueError(f"it lists the file {name[:60]!r}, which is no part of the format")
        check_keys(entry, f"entry of {name}", ["bytes", "sha256"])
        _size(entry["bytes"], "bytes")
        if not _SHA256.fullmatch(check_value(entry["sha256"], "sha256", str)):
            raise ValueError(f"the checksum of {name} is none")
    return given


def _labels(given: Any) -> LabelInfo | None:
    if given is None:
        return None
    found = check_keys(given, "labels", ["names", "texts"])
    names = found["names"]
    if names is not None:
        names = tuple(check_value(name, "label name", str) for name in _names(names))
    texts = check_value(found["texts"], "texts", bool)
    if texts and names is None:
        raise ValueError("its labels are texts without names")
    return LabelInfo(names, texts)


def _names(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError("its names of labels are no list")
    return given


def _required(manifest: Manifest) -> list[str]:
    """Return the files that there must be."""
    parts = [f"v{v}.{part}.npy" for v in range(len(manifest.views)) for part in ROW_PARTS]
    names = [f"{s.name}/{part}" for s in manifest.shards for part in (*parts, "present.npy")]
    names += [f"v{v}.counts.npy" for v in range(len(manifest.views))]
    named = [v for v, view in enumerate(manifest.views) if view.features]
    names += [f"v{v}.{part}.npy" for v in named for part in ("features", "ends")]
    names += ["ids.npy", "ids.ends.npy"] if manifest.ids else []
    return names + (["labels.npy"] if manifest.labels is not None else [])


ROW_PARTS = ("indptr", "indices", "data")
