"""Known faults of files and archives: rows 59 to 71 of the catalogue (61 is with the processes)."""

import gzip
import json
import os
import pickle
import signal
import struct
import tarfile
import time
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from experiments.importers.archives import ArchiveError, ArchiveLimits, collect

from coview import PLSA, DamagedFile, DataWarning, LinkPLSA, Views, load
from coview.datasets import make_views
from tests.campaigns.damage import open_seal, seal_again
from tests.campaigns.generators.full_disks import limited

VIEWS = make_views(40, 3, [30, 20], random_state=0)
GOLDEN = Path(__file__).parents[1] / "golden"
QUICK = {"init": "random", "max_iter": 3, "tol": 0.0, "random_state": 0}
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
may_fork = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def model():
    return LinkPLSA(3, **QUICK).fit(VIEWS)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "m.coview")
    return tmp_path / "m.coview"


@forks
@may_fork
@pytest.mark.parametrize("kind", ["model", "views"])
def test_row_59_a_full_disk_while_saving(kind, model, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    path = folder / "x"
    (model.save if kind == "model" else VIEWS.save)(path)
    before = {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

    def save_again():
        if kind == "model":
            model.save(path)
        else:
            VIEWS.save(path, overwrite=True)

    with pytest.raises(OSError, match="here") as caught:
        limited(save_again, limit=200)
    assert type(caught.value) is OSError
    after = {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    assert after == before


@forks
@may_fork
def test_row_60_a_kill_while_saving(model, tmp_path):
    other = LinkPLSA(3, **{**QUICK, "random_state": 1}).fit(VIEWS)
    path = tmp_path / "m.coview"
    whole = set()
    for each in (other, model):
        each.save(path)
        whole.add(path.read_bytes())
    for turn in range(6):
        child = os.fork()
        if not child:
            try:
                while True:
                    other.save(path)
                    model.save(path)
            finally:
                os._exit(0)
        time.sleep(0.01 + turn / 100)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert path.read_bytes() in whole


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_row_62_a_model_cut_short(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(DamagedFile, match=r"m\.coview"):
        load(saved)


def test_row_63_a_flipped_bit(saved):
    data = saved.read_bytes()
    for position in np.linspace(0, len(data) - 1, 60, dtype=int):
        damaged = bytearray(data)
        damaged[position] ^= 1 << (position % 8)
        saved.write_bytes(damaged)
        with pytest.raises(DamagedFile, match=r"m\.coview"):
            load(saved)


class Trap:
    """Unpickling this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_row_64_a_pickle_in_place_of_a_model(tmp_path):
    (tmp_path / "m.coview").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(DamagedFile, match="pickle"):
        load(tmp_path / "m.coview")
    assert not (tmp_path / "sprung").exists()


def test_row_65_a_file_of_a_newer_version(saved):
    sealed, tensors = open_seal(saved)
    seal_again(saved, {**sealed, "min_reader": 99, "library_version": "9.1"}, tensors)
    with pytest.raises(DamagedFile, match=r"written by coview 9\.1.*update coview"):
        load(saved)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("format_*/*.coview")), ids=lambda p: p.stem)
def test_row_66_a_file_of_an_older_version(path):
    assert np.isfinite(getattr(load(path), "doc_topic_", np.zeros(1))).all()


def test_row_67_a_pickled_model_of_another_version(model):
    import coview

    data, ours = pickle.dumps(model), coview.__version__.encode()
    assert ours in data, "a pickled model must carry its version"
    other = b"0.0.0" + ours[5:]  # as long as ours, so that the pickle stays whole
    with pytest.warns(DataWarning, match=r"0\.0\.0.*save"):
        again = pickle.loads(data.replace(ours, other))
    np.testing.assert_array_equal(again.doc_topic_, model.doc_topic_)


def test_row_68_a_small_archive_that_unfolds(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", bytes(20 << 20))
    with pytest.raises(ArchiveError, match=r"a\.zip"):
        collect(tmp_path / "a.zip", lambda name: True, limits=ArchiveLimits(ratio_from=1 << 20))


def test_row_68_a_small_text_that_unfolds(tmp_path):
    import tracemalloc

    Views({"en": np.ones((2, 2))}, features={"en": ["a", "b"]}).save(tmp_path / "kept")
    for path in (tmp_path / "kept").iterdir():  # a folder of another tool, which seals nothing
        if path.suffix == ".json":
            path.unlink()
    (tmp_path / "kept" / "features_en.txt.gz").write_bytes(gzip.compress(b"x" * (300 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, MemoryError), match=r"features_en\.txt\.gz"):
            Views.load(tmp_path / "kept")
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt"])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_row_69_members_that_lead_elsewhere(kind, name, tmp_path):
    path = tmp_path / f"in/a.{kind}"
    path.parent.mkdir()
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "x")
    else:
        with tarfile.open(path, "w") as tar:
            entry = tarfile.TarInfo(name)
            entry.size = 1
            tar.addfile(entry, BytesIO(b"x"))
    with pytest.raises(ArchiveError, match=rf"a\.{kind}"):
        collect(path, lambda name: True)
    assert [p.name for p in tmp_path.rglob("*")] == ["in", path.name]


def test_row_69_a_link_in_an_archive(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        entry = tarfile.TarInfo("link.txt")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(entry)
    with pytest.raises(ArchiveError, match="link"):
        collect(tmp_path / "a.tar", lambda name: True)


def test_row_70_a_header_that_claims_2_to_the_45_numbers(saved, tmp_path):
    header = {"x": {"dtype": "F64", "shape": [2**45], "data_offsets": [0, 2**48]}}
    text = json.dumps(header).encode()
    saved.write_bytes(struct.pack("<Q", len(text)) + text)
    with pytest.raises(DamagedFile, match=r"m\.coview"):
        load(saved)
    out = BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**5)}
    np.lib.format.write_array_header_1_0(out, claim)
    (tmp_path / "x.npy").write_bytes(out.getvalue())
    with pytest.raises((ValueError, MemoryError), match=r"x\.npy"):
        Views.from_files({"a": tmp_path / "x.npy"})


def test_row_71_a_file_that_changes_after_it_was_read(saved, tmp_path):
    model = load(saved)
    expected = model.transform(VIEWS)
    np.save(tmp_path / "x.npy", np.eye(30) + 1)
    views = Views.from_files({"view_0": tmp_path / "x.npy"})
    for path in (saved, tmp_path / "x.npy"):
        os.truncate(path, 0)  # a map of it would now end the interpreter
    np.testing.assert_array_equal(model.transform(VIEWS), expected)
    assert views["view_0"].sum() == 930


def test_row_71_a_model_is_read_whole(tmp_path):
    PLSA(2, **QUICK).fit(np.eye(4) + 1).save(tmp_path / "a.coview")
    with pytest.raises(FileNotFoundError, match=r"b\.coview"):
        load(tmp_path / "b.coview")
