"""Sealed files: any damage is noticed, and a file is written whole or not at all."""

import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coview import store
from coview.store import (
    DamagedFile,
    fingerprint,
    pack_texts,
    read_header,
    read_sealed,
    replace_folder,
    unpack_texts,
    write_sealed,
)

HEADER = {"text": 'ü "quoted"\n', "list": [1, 2.5, None, True], "nested": {"a": {}}}


def tensors():
    rng = np.random.default_rng(0)
    return {
        "single": rng.random((7, 3), dtype=np.float32),
        "double": rng.random(11),
        "whole": np.arange(5),
        "flags": np.array([[True, False]]),
        "bytes": np.frombuffer(b"abc", np.uint8),
        "nothing": np.zeros((0, 4)),
    }


@pytest.fixture
def sealed(tmp_path):
    path = tmp_path / "file.coview"
    write_sealed(path, "thing", HEADER, tensors())
    return path


def test_what_is_written_is_read(sealed):
    header, found = read_sealed(sealed, "thing")
    assert header == HEADER
    for name, array in tensors().items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_a_file_that_is_replaced_while_it_is_read_is_not_called_damaged(sealed, monkeypatch):
    read, others = store._read_tensors, {"other": np.arange(3)}

    def replaced_before(path):
        monkeypatch.undo()
        write_sealed(path, "thing", {"new": 1}, others)
        return read(path)

    monkeypatch.setattr(store, "_read_tensors", replaced_before)
    header, found = read_sealed(sealed, "thing")
    assert header == {"new": 1}
    assert list(found) == ["other"]


def test_the_same_content_gives_the_same_bytes(sealed):
    before = sealed.read_bytes()
    for _ in range(5):
        write_sealed(sealed, "thing", HEADER, tensors())
        assert sealed.read_bytes() == before


def test_arrays_in_any_layout_can_be_written(tmp_path):
    array = np.arange(12.0).reshape(3, 4)
    write_sealed(tmp_path / "x", "thing", {}, {"f": np.asfortranarray(array), "s": array[:, ::2]})
    _, found = read_sealed(tmp_path / "x", "thing")
    np.testing.assert_array_equal(found["f"], array)
    np.testing.assert_array_equal(found["s"], array[:, ::2])


def accepted(path):
    try:
        read_sealed(path, "thing")
    except DamagedFile:
        return False
    return True


def flip(data, rng, high=None):
    at = int(rng.integers(0, high or len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def damages(data, rng):
    """One random damage of each kind, for ever."""
    header = 8 + struct.unpack("<Q", data[:8])[0]
    while True:
        yield "flip", flip(data, rng)
        yield "header flip", flip(data, rng, header)
        yield "truncated", data[: int(rng.integers(0, len(data)))]
        yield "appended", data + rng.bytes(int(rng.integers(1, 50)))
        at = int(rng.integers(0, len(data) - 1))
        yield "byte lost", data[:at] + data[at + 1 :]
        yield (
            "byte overwritten",
            data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :],
        )


def test_no_random_damage_is_accepted(sealed):
    data, rng = sealed.read_bytes(), np.random.default_rng(1)
    assert accepted(sealed)
    for (kind, broken), _ in zip(damages(data, rng), range(3000), strict=False):
        sealed.write_bytes(broken)
        assert not accepted(sealed), kind


def test_a_header_on_other_data_is_refused(tmp_path):
    """Same names, types and shapes, other numbers: only the checksums can tell."""
    one, two = tmp_path / "one", tmp_path / "two"
    write_sealed(one, "thing", {"a": 1}, {"x": np.arange(4.0)})
    write_sealed(two, "thing", {"a": 2}, {"x": np.arange(4.0)[::-1]})
    a, b = one.read_bytes(), two.read_bytes()
    ends = [8 + struct.unpack("<Q", data[:8])[0] for data in (a, b)]
    one.write_bytes(b[: ends[1]] + a[ends[0] :])
    with pytest.raises(DamagedFile, match="checksum of 'x'"):
        read_sealed(one, "thing")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_unread(tmp_path, protocol):
    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit('executed')",)

    path = tmp_path / "model.coview"
    path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
    with pytest.raises(DamagedFile, match="a pickle, which can run code"):
        read_sealed(path, "thing")


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"PK\x03\x04" + bytes(20), "zip"), (b"\x89HDF\r\n\x1a\n", "HDF5"), (b'{"a": 1}', "begins")],
)
def test_other_files_are_named_for_what_they_are(tmp_path, start, what):
    path = tmp_path / "x.coview"
    path.write_bytes(start)
    with pytest.raises(DamagedFile, match=what):
        read_sealed(path, "thing")


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "x.coview"
    path.touch()
    with pytest.raises(DamagedFile, match="0 bytes"):
        read_sealed(path, "thing")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_sealed(tmp_path / "x.coview", "thing")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_sealed(tmp_path, "thing")


def test_another_kind_is_refused(sealed):
    with pytest.raises(DamagedFile, match="holds a thing; a model was expected"):
        read_sealed(sealed, "model")


def test_a_safetensors_file_of_others_is_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"x": np.zeros(3)}, tmp_path / "x", {"format": "pt"})
    with pytest.raises(DamagedFile, match="not one that coview wrote"):
        read_sealed(tmp_path / "x", "thing")


def test_a_newer_format_is_refused_by_name(sealed, monkeypatch):
    monkeypatch.setattr("coview.store.MIN_READER", 7)
    write_sealed(sealed, "thing", {}, {})
    with pytest.raises(DamagedFile, match="update coview"):
        read_sealed(sealed, "thing")


def test_unknown_fields_of_a_newer_but_readable_format_are_ignored(sealed, monkeypatch):
    monkeypatch.setattr("coview.store.FORMAT_VERSION", 99)
    write_sealed(sealed, "thing", {"new": 1}, {})
    monkeypatch.undo()
    assert read_sealed(sealed, "thing")[0] == {"new": 1}


def test_a_header_that_claims_too_much_is_refused_before_anything_is_allocated(tmp_path):
    path = tmp_path / "x"
    tensor = {"dtype": "F64", "shape": [1 << 45], "data_offsets": [0, 1 << 48]}
    head = json.dumps({"__metadata__": {}, "x": tensor}, separators=(",", ":")).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    with pytest.raises(DamagedFile, match="another size"):
        read_sealed(path, "thing")
    path.write_bytes(struct.pack("<Q", 1 << 30) + head)
    with pytest.raises(DamagedFile, match="ends within its header"):
        read_sealed(path, "thing")


def test_the_header_alone_can_be_read(sealed):
    assert read_header(sealed)["kind"] == "thing"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(sealed):
    before = sealed.read_bytes()
    code = (
        "import resource, numpy as np; from coview.store import write_sealed\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"write_sealed({str(sealed)!r}, 'thing', {{}}, {{'x': np.zeros(100_000)}})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "OSError" in ran.stderr or "SafetensorError" in ran.stderr
    assert sealed.read_bytes() == before
    assert os.listdir(sealed.parent) == [sealed.name]


def test_what_a_killed_writer_left_is_removed_later(sealed):
    left, fresh = (sealed.with_name(f".{sealed.name}.{n}.tmp") for n in ("1-a", "2-b"))
    left.touch()
    fresh.touch()
    os.utime(left, (0, 0))
    write_sealed(sealed, "thing", {}, {})
    assert not left.exists()
    assert fresh.exists()  # perhaps somebody is writing it just now


def test_writing_to_nowhere_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_sealed(tmp_path / "no" / "file", "thing", {}, {})
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        write_sealed(tmp_path, "thing", {}, {})


def test_texts_survive_whatever_is_in_them():
    texts = ["", "a\n\0b", "é", "é", "𝒳", "x" * 10_000, ""]
    assert unpack_texts(*pack_texts(texts)) == texts
    assert unpack_texts(*pack_texts([])) == []
    with pytest.raises(ValueError, match="do not fit"):
        unpack_texts(np.zeros(3, np.uint8), np.array([2]))


def test_fingerprints_tell_order_shape_and_type_apart():
    a, b = np.arange(4.0), np.arange(4.0).reshape(2, 2)
    prints = [fingerprint(x) for x in ([a], [b], [a, b], [b, a], [a.astype(np.float32)])]
    assert len({*prints, fingerprint([a], "x"), fingerprint([a], "y")}) == 7


def test_files_can_be_read_by_others_as_the_umask_says(sealed):
    umask = os.umask(0)
    os.umask(umask)
    assert sealed.stat().st_mode & 0o777 == 0o666 & ~umask


# -- folders --------------------------------------------------------------------------------------


def folder_of(path, text):
    path.mkdir()
    (path / "file").write_text(text)
    return path


def contents(folder):
    return {path.name: (path / "file").read_text() for path in folder.iterdir()}


def test_a_folder_takes_the_place_of_another(tmp_path):
    replace_folder(folder_of(tmp_path / "new", "1"), tmp_path / "data")
    replace_folder(folder_of(tmp_path / "new", "2"), tmp_path / "data")
    assert contents(tmp_path) == {"data": "2"}


def killed_at(tmp_path, step):
    """Replace a folder in a process that dies before its nth step."""
    code = (
        "import os, shutil\nfrom pathlib import Path\n"
        "from coview.store import replace_folder\n"
        "steps = []\n"
        "def step(do):\n"
        "    def counted(*args, **options):\n"
        "        steps.append(do)\n"
        f"        if len(steps) == {step}: os._exit(9)\n"
        "        return do(*args, **options)\n"
        "    return counted\n"
        "Path.rename, shutil.rmtree = step(Path.rename), step(shutil.rmtree)\n"
        f"replace_folder({str(tmp_path / 'new')!r}, {str(tmp_path / 'data')!r})\n"
    )
    return subprocess.run([sys.executable, "-c", code], check=False).returncode


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (1, {"data": "old", "new": "new"}),  # before the old one is moved aside
        (2, {"aside": "old", "new": "new"}),  # between the two moves
        (3, {"data": "new", "aside": "old"}),  # before the old one is removed
    ],
)
def test_a_crash_at_any_step_loses_no_folder(tmp_path, step, left):
    folder_of(tmp_path / "data", "old")
    folder_of(tmp_path / "new", "new")
    assert killed_at(tmp_path, step) == 9
    found = {"aside" if n.endswith(".old") else n: text for n, text in contents(tmp_path).items()}
    assert found == left
    again = folder_of(tmp_path / "again", "again")
    replace_folder(again, tmp_path / "data")
    assert contents(tmp_path)["data"] == "again"


def test_the_old_folder_is_put_back_if_a_crash_is_followed_by_a_failure(tmp_path, monkeypatch):
    folder_of(tmp_path / "data", "old")
    folder_of(tmp_path / "new", "new")
    assert killed_at(tmp_path, 2) == 9
    assert not (tmp_path / "data").exists()
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "nothing", tmp_path / "data")
    assert contents(tmp_path) == {"data": "old", "new": "new"}


def test_copies_of_calls_that_were_killed_long_ago_are_removed(tmp_path):
    folder_of(tmp_path / f".data.{1:020d}-7.old", "older")
    folder_of(tmp_path / "data", "old")
    replace_folder(folder_of(tmp_path / "new", "new"), tmp_path / "data")
    assert contents(tmp_path) == {"data": "new"}


def test_a_folder_that_cannot_be_moved_into_place_leaves_the_old_one(tmp_path, monkeypatch):
    folder_of(tmp_path / "data", "old")
    folder_of(tmp_path / "new", "new")
    rename = Path.rename

    def fail_for_new(self, target):
        if self.name == "new":
            raise OSError("busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_new)
    with pytest.raises(OSError, match="busy"):
        replace_folder(tmp_path / "new", tmp_path / "data")
    assert contents(tmp_path) == {"data": "old", "new": "new"}


@pytest.mark.parametrize("mark", [b"PK\0", b"\x80\0\1"], ids=["zip", "pickle"])
def test_a_header_whose_length_looks_like_another_format_is_read(mark, tmp_path):
    length, path = int.from_bytes(mark, "little"), tmp_path / "x.coview"
    write_sealed(path, "model", {"pad": ""}, {"a": np.zeros(3)})
    short = int.from_bytes(path.read_bytes()[:8], "little")
    write_sealed(path, "model", {"pad": "x" * (length - short)}, {"a": np.zeros(3)})
    assert path.read_bytes().startswith(mark + bytes(5) + b"{")
    assert len(read_sealed(path, "model")[0]["pad"]) == length - short
