"""Archives made in the tests."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.io

from experiments.importers import ArchiveError


def tar_bytes(files, compression=""):
    """A tar file in memory; `files` is {name: bytes or TarInfo}."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_bytes(files):
    """A zip file in memory; `files` is {name or ZipInfo: bytes}."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def write(path, data):
    path.write_bytes(data)
    return path


def refused(words):
    return pytest.raises(ArchiveError, match=words)


def mat_file(path, matrices, y, name="y"):
    X = np.empty((1, len(matrices)), dtype=object)
    X[0, :] = matrices
    scipy.io.savemat(path, {"X": X, name: np.array(y)[:, None]}, do_compression=True)
    return path


PAGES = b"""http://a/1\t1\t0\t1\tcourse
http://a/2\t0\t0\t0\tstaff
http://a/3\t0\t1\t1\tstudent
"""
LINKS = b"http://a/1 http://a/2\nhttp://a/3 http://a/1\nhttp://a/3 http://a/3\n"


def webkb(folder, content=PAGES, cites=LINKS):
    files = {"WebKB/texas.content": content, "WebKB/texas.cites": cites, "WebKB/README": b""}
    return write(folder / "WebKB.tgz", tar_bytes(files, "gz"))
