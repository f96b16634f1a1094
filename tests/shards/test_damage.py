"""Sharded folders that are damaged or crafted: an error that names the file, never a crash."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coview import DamagedFile, Views, open_shards, write_shards
from coview.shards.format import MANIFEST, _seal, file_entry
from coview.shards.storage import write_array
from coview.views import blocks

DOCS = 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder of several shards; tests change copies of it."""
    rng = np.random.default_rng(0)
    views = Views.from_texts(
        {"en": [" ".join(rng.choice(["cat", "dog", "sun", "sea"], 9)) for _ in range(DOCS)]},
        languages=None,
        max_df=1.0,
        ids=[f"d{i}" for i in range(DOCS)],
        labels=rng.choice(["x", "y"], DOCS),
    )
    tokens = rng.poisson(0.6, (DOCS, 5))
    tokens[3] = 0
    views = Views(
        {"en": views["en"], "tags": tokens},
        ids=views.ids,
        labels=views.labels,
        features={"en": views.features["en"], "tags": list("abcde")},
        recipes={"en": views.recipes["en"]},
    )
    folder = tmp_path_factory.mktemp("whole") / "v.shards"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MIN_NONZEROS", 90)
        assert len(write_shards(views, folder).shards) > 2
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "v.shards"))


def files_of(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


FILES = (
    *("shard-00001/v0.indptr.npy", "shard-00001/v0.indices.npy", "shard-00000/v1.data.npy"),
    *("shard-00002/present.npy", "v0.counts.npy", "v1.features.npy", "v0.ends.npy", "ids.npy"),
    *("ids.ends.npy", "labels.npy", "recipe_v0.json"),
)


def check(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MIN_NONZEROS", 90)
        open_shards(folder).check()


def test_the_whole_folder_is_fine(folder):
    check(folder)
    assert set(FILES) < set(files_of(folder))


# -- damage --


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_in_every_file(folder, name):
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 4
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match=rf"{name} is damaged: its checksum is wrong"):
        check(folder)


def test_a_flipped_bit_is_found_in_any_place_of_the_manifest(folder):
    path = folder / MANIFEST
    whole = path.read_bytes()
    # white space between entries means nothing
    places = [p for p in range(0, len(whole), 53) if not whole[p : p + 1].isspace()]
    for place in places:
        data = bytearray(whole)
        data[place] ^= 2
        path.write_bytes(data)
        with pytest.raises(DamagedFile, match=r"manifest\.json"):
            open_shards(folder)


@pytest.mark.parametrize("name", FILES[:4])
def test_missing_truncated_and_longer_files_are_found(folder, name):
    path = folder / name
    data = path.read_bytes()
    for changed in (data[:-1], data + b"\0", b""):
        path.write_bytes(changed)
        with pytest.raises(DamagedFile, match=rf"{name} is damaged: it has [0-9,]+ bytes; its man"):
            check(folder)
    path.unlink()
    with pytest.raises(DamagedFile, match=rf"{name} is missing"):
        check(folder)
    with pytest.raises(DamagedFile, match=rf"{name} is missing"):
        open_shards(folder).files.check_sizes()


def test_files_of_another_folder_are_found(folder, tmp_path):
    other = tmp_path / "other"
    write_shards(Views([[1.5, 2.0]], features=["a", "b"]), other)
    for name in ("v0.features.npy", "shard-00000/v0.data.npy"):
        shutil.copy(other / name, folder / name)
        with pytest.raises(DamagedFile, match=rf"{name} is damaged"):
            check(folder)


def test_damage_after_the_first_reading_is_found_at_the_next(folder):
    sharded = open_shards(folder)
    sharded.read(0)
    path = folder / "shard-00000" / "v0.data.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DamagedFile, match=r"v0\.data\.npy is damaged"):
        sharded.read(0)


ROT = {"indptr": -1, "indices": 10**9, "data": np.nan}


@pytest.mark.parametrize("part", ROT)
def test_bit_rot_that_no_time_stamp_tells_is_found_in_the_next_pass(folder, part):
    """Kernels check no bounds: a column of 1e9 ends the interpreter."""
    sharded = open_shards(folder)
    sharded.read(0)
    path = folder / "shard-00000" / f"v0.{part}.npy"
    before = path.stat()
    with path.open("r+b") as file:
        dtype = np.lib.format.open_memmap(path, "r").dtype
        file.seek(-dtype.itemsize, os.SEEK_END)
        file.write(np.array(ROT[part], dtype).tobytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DamagedFile, match=r"is damaged"):
        sharded.read(0)


def test_a_missing_manifest_is_no_folder_of_shards(folder):
    (folder / MANIFEST).unlink()
    with pytest.raises(FileNotFoundError, match="is no sharded folder"):
        open_shards(folder)


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "{}", "7", '{"kind": "sharded views"}', "[" * 99999]
)
def test_a_manifest_of_anything_is_refused(folder, text):
    (folder / MANIFEST).write_text(text)
    with pytest.raises(DamagedFile, match=r"manifest\.json is damaged"):
        open_shards(folder)


# -- crafted folders: checksums are right, contents are not --


def reseal(folder, change=None):
    """Give a changed folder the right checksums; `change` may alter the manifest."""
    path = folder / MANIFEST
    body = json.loads(path.read_text())
    body.pop("seal")
    body["files"] = {name: file_entry(str(folder / name)) for name in body["files"]}
    if change is not None:
        change(body)
    path.write_text(json.dumps({**body, "seal": _seal(body)}))


def test_resealing_alone_changes_nothing(folder):
    reseal(folder)
    check(folder)


def set_in(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(body):
        for key in keys:
            body = body[key]
        body[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("min_reader", 99), "version 99.* update coview"),
        (set_in("min_reader", "1"), "min_reader"),
        (set_in("n_docs", 10**15), "not all documents in order|n_docs"),
        (set_in("n_docs", -1), "n_docs"),
        (set_in("n_docs", True), "n_docs"),
        (set_in("views", []), "views"),
        (set_in("views", 0, "name", 3), "view"),
        (set_in("views", 0, "name", "tags"), "unique"),
        (set_in("views", 0, "n_terms", 0), "n_terms"),
        (set_in("views", 0, "n_terms", 2**60), "n_terms"),
        (set_in("views", 0, "dtype", "object"), "has the type 'object'"),
        (set_in("views", 0, "dtype", ["f4"]), "has the type"),
        (set_in("views", 0, "nonzeros", 1), "are not those of its shards"),
        (set_in("views", 0, "lowest", -1.0), "negative"),
        (set_in("views", 0, "highest", "1"), "highest"),
        (set_in("views", 0, "filled", 41), "more entries than"),
        (set_in("views", 0, "more", 1), "views should be of"),
        (set_in("shards", 0, "name", "../x"), "is called"),
        (set_in("shards", 0, "stop", 9), "has not the documents of its blocks"),
        (set_in("shards", 0, "blocks", [[0, 0]]), "blocks"),
        (set_in("shards", 0, "blocks", [[0, 10**9]]), "blocks"),
        (set_in("shards", 0, "blocks", []), "blocks"),
        (set_in("shards", 0, "blocks", [[0, 1, 2]]), "unpack|values"),
        (set_in("shards", 0, "nonzeros", [1]), "as many views"),
        (set_in("shards", []), "shards"),
        (set_in("files", "../../etc/passwd", {"bytes": 1, "sha256": "0" * 64}), "no part of the"),
        (set_in("files", "ids.npy", {"bytes": 1}), "entry of ids"),
        (set_in("files", "ids.npy", {"bytes": 1, "sha256": "x"}), "checksum of ids"),
        (
            lambda body: body["files"].pop("shard-00001/v1.data.npy"),
            r"no file shard-00001/v1\.data",
        ),
        (lambda body: body["files"].pop("ids.npy"), "no file ids"),
        (lambda body: body.pop("ids"), "ids"),
        (set_in("ids", "yes"), "ids"),
        (set_in("labels", {"names": None, "texts": True}), "texts without names"),
        (set_in("labels", {"names": [1], "texts": False}), "label name"),
        (set_in("labels", []), "labels"),
    ],
)
def test_manifests_that_contradict_themselves_are_refused(folder, change, message):
    reseal(folder, change)
    with pytest.raises(DamagedFile, match=message):
        open_shards(folder)


def changed(**places):
    """Set entries of an array, by position."""

    def change(array):
        for place, value in places.items():
            array[int(place[1:])] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("shard-00000/v0.indices.npy", changed(_2=4), "columns outside of the 4 terms"),
        ("shard-00000/v0.indices.npy", changed(_2=2**31 - 1), "columns outside"),
        ("shard-00000/v0.indices.npy", changed(_2=-1), "columns outside"),
        ("shard-00000/v0.indices.npy", changed(_0=3, _1=3), "not sorted within rows"),
        ("shard-00000/v0.indices.npy", lambda a: a[:-1], "does not begin as an array"),
        ("shard-00000/v0.indices.npy", lambda a: a.astype(np.int64), "does not begin as an array"),
        ("shard-00000/v0.indptr.npy", changed(_1=10**6), "places of rows hold 1000000"),
        ("shard-00000/v0.indptr.npy", changed(_1=-5), "places of rows hold -5"),
        ("shard-00000/v0.indptr.npy", changed(_0=1), "do not increase from 0"),
        ("shard-00000/v0.indptr.npy", changed(_2=0), "do not increase from 0|not sorted"),
        ("shard-00000/v0.indptr.npy", lambda a: a * 0, "do not increase from 0 to the number"),
        ("shard-00000/v0.data.npy", changed(_1=np.nan), "holds values from nan"),
        ("shard-00000/v0.data.npy", changed(_1=np.inf), "to inf"),
        ("shard-00000/v0.data.npy", changed(_1=-1), "holds values from -1"),
        ("shard-00000/v0.data.npy", changed(_1=0), "holds values from 0|zeros"),
        ("shard-00000/v0.data.npy", changed(_1=1.5), "no whole numbers"),
        ("shard-00000/v0.data.npy", lambda a: a.astype(np.float64), "does not begin as an array"),
        ("shard-00000/v0.data.npy", lambda a: a.astype(object), "does not begin as an array"),
        ("shard-00000/present.npy", lambda a: a[:, :1], "does not begin as an array"),
        ("shard-00000/present.npy", lambda a: a & False, "documents that lack the view"),
        ("shard-00000/present.npy", lambda a: (a * 7).astype(np.uint8).view(bool), "neither true"),
        ("v0.counts.npy", changed(_0=np.nan), "counts hold nan"),
        ("v0.counts.npy", changed(_0=-3), "counts hold -3"),
        ("v0.ends.npy", changed(_0=10**6), "places|ends"),
        ("v0.ends.npy", changed(_3=10**12), "places"),
        ("v0.ends.npy", changed(_3=-1), "places"),
        ("v0.features.npy", changed(_0=255), "decode"),
        ("v0.features.npy", lambda a: np.frombuffer(b"catcatcatcat", np.uint8)[: len(a)], "unique"),
        ("ids.npy", lambda a: np.full_like(a, 65), "unique"),
        ("labels.npy", changed(_0=2), "labels hold 2"),
        ("labels.npy", changed(_0=-2), "labels hold -2"),
    ],
)
def test_crafted_arrays_are_refused(folder, name, change, message):
    array = np.load(folder / name).copy()
    made = change(array)
    if made.dtype == object:
        np.save(folder / name, made, allow_pickle=True)
    else:
        write_array(folder / name, made)
    reseal(folder)
    where = name.split(".")[0].replace("present", "")  # a wrong mask shows in the rows
    with pytest.raises(DamagedFile, match=f"{where}.*({message})"):
        check(folder)


def test_a_recipe_without_sense_is_refused(folder):
    (folder / "recipe_v0.json").write_text("[]")
    reseal(folder)
    with pytest.raises(ValueError, match="recipe_v0"):
        check(folder)


def test_blocks_that_are_not_those_of_the_data_are_found(folder):
    with pytest.raises(DamagedFile, match="its blocks are not where the data say"):
        open_shards(folder).check()  # which are not cut as small by default


# -- full disks --


LIMIT = (
    "import resource, signal\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"  # as a full disk: an error, not a signal
    "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
)


@pytest.mark.parametrize(
    "write",
    [
        "coview.write_shards(coview.Views(np.random.default_rng(0).random((300, 30))), path)",
        "coview.convert_table(table, path, tokens='t', id='i', min_df=1)",
    ],
)
def test_a_full_disk_leaves_nothing_and_says_where(tmp_path, write):
    table, target = tmp_path / "t.jsonl", tmp_path / "v.shards"
    table.write_text("".join(f'{{"i": {i}, "t": ["a{i}", "b", "c"]}}\n' for i in range(900)))
    code = (
        "import sys, coview, numpy as np\n"
        "import coview.shards.tables, coview.shards.writing\n"
        f"table, path = sys.argv[1:]\n{LIMIT}"
        f"try: {write}\n"
        "except OSError as error: print(error.errno, error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(table), str(target)], capture_output=True, text=True
    )
    assert f" {target} could not be written" in ran.stdout, ran.stderr
    assert int(ran.stdout.split()[0]) in (errno.EFBIG, errno.ENOSPC)  # NumPy tells no number
    assert os.listdir(tmp_path) == ["t.jsonl"]
