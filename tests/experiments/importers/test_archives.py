"""Archives: what they hold is read, what they must not hold is refused."""

import gzip
import stat
import tarfile
import zipfile

import numpy as np
import pytest
from experiments.importers.archives import (
    ArchiveError,
    ArchiveLimits,
    collect,
    collect_files,
    read_members,
)

from tests.experiments.importers.packing import link, tar_bytes, zip_bytes

FILES = {"data/a.txt": b"alpha\n", "data/deep/b.txt": b"", "data/picture.jpg": b"\xff" * 2000}


def everything(name):
    return True


def texts(name):
    return name.endswith(".txt")


def write(folder, data, name="archive"):
    path = folder / name
    path.write_bytes(data)
    return path


def packed(kind):
    return zip_bytes(FILES) if kind == "zip" else tar_bytes(FILES, kind)


# -- what is in it --


@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
def test_the_wanted_members_are_read(tmp_path, kind):
    path = write(tmp_path, packed(kind))
    assert collect(path, texts) == {"data/a.txt": b"alpha\n", "data/deep/b.txt": b""}


def test_the_kind_of_an_archive_does_not_depend_on_its_name(tmp_path):
    assert len(collect(write(tmp_path, packed("zip"), "x.tar.gz"), everything)) == 3


def test_a_tar_file_without_a_magic_number_is_read(tmp_path):
    data = bytearray(tar_bytes({"a.txt": b"old"}))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert collect(write(tmp_path, data), texts) == {"a.txt": b"old"}


def test_a_folder_already_unpacked_is_read_like_its_archive(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_bytes(b"alpha\n")
    (tmp_path / "data/b.jpg").write_bytes(b"")
    assert collect(tmp_path, texts) == {"data/a.txt": b"alpha\n"}


def test_a_single_file_is_its_own_member(tmp_path):
    assert collect(write(tmp_path, b"alpha", "a.txt"), texts) == {"a.txt": b"alpha"}


@pytest.mark.parametrize("inner", ["inner.tar.bz2", "inner.zip"])
def test_an_archive_in_an_archive_is_opened(tmp_path, inner):
    data = packed("zip" if inner.endswith("zip") else "bz2")
    path = write(tmp_path, zip_bytes({inner: data, "Readme.txt": b"about"}))
    assert set(collect(path, texts)) == {"Readme.txt", "data/a.txt", "data/deep/b.txt"}


def test_no_deeper_than_one_archive_in_another(tmp_path):
    data = tar_bytes({"a.txt": b"x"})
    for _ in range(3):
        data = zip_bytes({"inner.zip": data, "b.txt": b"y"})
    assert [name for name, _ in read_members(write(tmp_path, data), texts)] == ["b.txt", "b.txt"]


def test_nothing_is_written(tmp_path):
    path = write(tmp_path, packed("gz"))
    collect(path, everything)
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_found_in_any_folder(tmp_path):
    path = write(tmp_path, packed("gz"))
    assert collect_files(path, ["a.txt", "b.txt"]) == {"a.txt": b"alpha\n", "b.txt": b""}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArchiveError, match=r"has no 'c\.txt'"):
        collect_files(write(tmp_path, packed("gz")), ["a.txt", "c.txt"])


def test_a_file_that_is_there_twice_is_refused(tmp_path):
    path = write(tmp_path, tar_bytes({"old/a.txt": b"1", "new/a.txt": b"2"}))
    with pytest.raises(ArchiveError, match=r"'a\.txt' twice"):
        collect_files(path, ["a.txt"])


def test_no_archive_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match="no archive"):
        collect(tmp_path / "nothing.zip", everything)


def test_something_else_than_an_archive(tmp_path):
    with pytest.raises(ArchiveError, match="no zip or tar archive"):
        collect(write(tmp_path, b"<html>not found</html>"), texts)


# -- names and links --

WRONG_NAMES = [
    "../a.txt",
    "data/../../a.txt",
    "/etc/a.txt",
    "C:/a.txt",
    "..\\a.txt",
    "\\\\h\\a.txt",
]


@pytest.mark.parametrize("name", WRONG_NAMES)
@pytest.mark.parametrize("pack", [tar_bytes, zip_bytes])
def test_names_that_lead_out_are_refused(tmp_path, pack, name):
    path = write(tmp_path, pack({"fine.txt": b"", name: b"gotcha"}))
    with pytest.raises(ArchiveError, match="leads out of the archive"):
        collect(path, lambda name: name == "fine.txt")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar_file_are_refused(tmp_path, kind):
    path = write(tmp_path, tar_bytes({"a.txt": link("a.txt", "/etc/passwd", kind)}))
    with pytest.raises(ArchiveError, match="a link or a device"):
        collect(path, everything)


def test_links_in_a_zip_file_are_refused(tmp_path):
    info = zipfile.ZipInfo("a.txt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = write(tmp_path, zip_bytes({info: b"/etc/passwd"}))
    with pytest.raises(ArchiveError, match="a link or a device"):
        collect(path, everything)


def test_links_in_a_folder_are_left_out(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "b.txt").symlink_to("/etc/passwd")
    assert collect(tmp_path, texts) == {"a.txt": b"1"}


def test_names_are_shown_without_control_characters(tmp_path):
    path = write(tmp_path, tar_bytes({"../\x1b[31m.txt": b""}))
    with pytest.raises(ArchiveError) as caught:
        collect(path, everything)
    assert "\x1b" not in str(caught.value)


# -- sizes --


@pytest.mark.parametrize("pack", [zip_bytes, lambda files: tar_bytes(files, "gz")])
def test_a_bomb_is_refused_by_its_ratio(tmp_path, pack):
    path = write(tmp_path, pack({"a.txt": bytes(70 << 20)}))
    assert path.stat().st_size < 100_000
    with pytest.raises(ArchiveError, match="times its size"):
        collect(path, everything)


def test_a_bomb_is_refused_even_in_a_member_nobody_wants(tmp_path):
    path = write(tmp_path, tar_bytes({"bomb": bytes(70 << 20), "a.txt": b""}, "gz"))
    with pytest.raises(ArchiveError, match="times its size"):
        collect(path, texts)


def test_a_bomb_in_an_inner_archive_is_refused(tmp_path):
    inner = zip_bytes({"a.txt": bytes(70 << 20)})
    with pytest.raises(ArchiveError, match="times its size"):
        collect(write(tmp_path, zip_bytes({"inner.zip": inner})), texts)


@pytest.mark.parametrize("kind", ["zip", "", "gz"])
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ArchiveLimits(members=2), "more than 2 members"),
        (ArchiveLimits(member_bytes=1999), "'data/picture.jpg' with more than 1,999 bytes"),
        (ArchiveLimits(total_bytes=2000), "more than 2,000 bytes"),
        (ArchiveLimits(ratio=1e-3, ratio_from=0), "0.001 times its size"),
    ],
)
def test_every_limit_holds(tmp_path, kind, limits, words):
    with pytest.raises(ArchiveError, match=words):
        collect(write(tmp_path, packed(kind)), everything, limits=limits)


def test_the_limits_are_those_said(tmp_path):
    limits = ArchiveLimits(members=3, member_bytes=2000, total_bytes=2006, ratio=1e9)
    assert len(collect(write(tmp_path, packed("zip")), everything, limits=limits)) == 3


def test_what_a_zip_file_says_of_its_sizes_is_not_believed(tmp_path):
    data = bytearray(zip_bytes({"a.txt": bytes(5000)}))
    for at in (data.find(b"PK\x03\x04") + 22, data.find(b"PK\x01\x02") + 24):
        data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(ArchiveError, match="damaged"):
        collect(write(tmp_path, data), everything)


def test_the_error_says_how_to_go_on(tmp_path):
    with pytest.raises(ArchiveError, match="unpack it and import the folder"):
        collect(write(tmp_path, packed("zip")), everything, limits=ArchiveLimits(members=1))


# -- damage --


@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_archive_is_refused(tmp_path, kind, share):
    rng = np.random.default_rng(0)
    files = {f"{i}.txt": rng.bytes(3000) for i in range(5)}
    data = zip_bytes(files) if kind == "zip" else tar_bytes(files, kind).rstrip(b"\0")
    with pytest.raises(ArchiveError, match=r"damaged or incomplete.*Fetch it again"):
        collect(write(tmp_path, data[: int(share * len(data))]), everything)


def test_a_tar_file_cut_between_two_members_is_refused(tmp_path):
    data = tar_bytes({"a.txt": b"a" * 512, "b.txt": b"b" * 512})
    with pytest.raises(ArchiveError, match="it has no end"):
        collect(write(tmp_path, data[:1024]), everything)


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path):
    data = bytearray(tar_bytes({"a.txt": b"a" * 512, "b.txt": b"b" * 512}))
    data[1024 + 150] ^= 1
    with pytest.raises(ArchiveError, match="header in the middle"):
        collect(write(tmp_path, data), everything)


def test_a_compressed_file_that_is_no_tar_file(tmp_path):
    with pytest.raises(ArchiveError, match="damaged or incomplete"):
        collect(write(tmp_path, gzip.compress(b"just text" * 100)), texts)


def test_an_encrypted_member_is_refused(tmp_path):
    data = bytearray(zip_bytes({"a.txt": b"secret"}))
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ArchiveError, match="encrypted"):
        collect(write(tmp_path, data), everything)


@pytest.mark.parametrize("kind", ["zip", "", "gz"])
def test_whatever_is_flipped_gives_the_bytes_or_our_error(tmp_path, kind):
    files = FILES | {"é" * 120: b"a name that needs headers of its own"}
    original = zip_bytes(files) if kind == "zip" else tar_bytes(files, kind)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(150):
        data = bytearray(original)
        for at in rng.integers(len(data), size=3):
            data[at] ^= int(rng.integers(1, 256))
        try:
            collect(write(tmp_path, data), everything)
        except ArchiveError:
            refused += 1
    assert refused > 20
