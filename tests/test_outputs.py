"""Outputs: links are followed, modes kept, special files refused; full disks have words."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coview import PLSA, Views
from coview.outputs import check_output, explained, remove_leftovers, temporary_path
from coview.store import replacing, write_sealed

LIMIT = (
    "import resource, signal\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
)


def write(path, text="new"):
    with replacing(path) as beside:
        beside.write_text(text)


def run(code, *args):
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# -- links, modes, special files --


def test_a_link_is_followed(tmp_path):
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(Path("far", "real.csv"))
    write(link)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["far", "link.csv"]


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to("later.csv")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "later.csv").read_text() == "new"


def test_a_circle_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="could not be written"):
        write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


def test_a_link_to_a_views_folder_is_followed(tmp_path):
    views = Views([[1, 2]])
    views.save(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    views.save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_mode_of_an_existing_file_is_kept(tmp_path, mode):
    path = tmp_path / "model.coview"
    path.touch()
    path.chmod(mode)
    write_sealed(path, "thing", {}, {"x": np.zeros(3)})
    assert path.stat().st_mode & 0o7777 == mode


def test_what_is_written_can_never_be_read_by_more_than_the_old_file(tmp_path):
    path = tmp_path / "secret.csv"
    path.touch()
    path.chmod(0o600)
    with replacing(path) as beside:
        assert beside.stat().st_mode & 0o077 == 0


def special_files(folder):
    os.mkfifo(folder / "pipe")
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(folder / "socket"))
    made.close()
    return [("/dev/null", "device"), (folder / "pipe", "pipe"), (folder / "socket", "socket")]


def test_special_files_are_refused_and_stay(tmp_path):
    (tmp_path / "link").symlink_to("/dev/null")
    for path, kind in [*special_files(tmp_path), (tmp_path / "link", "device")]:
        before = os.stat(path).st_mode
        for refuse in (write, check_output, PLSA(1).fit([[1, 2]]).save):
            with pytest.raises(OSError, match=f"is a {kind}, and would be replaced"):
                refuse(path)
        assert os.stat(path).st_mode == before


def test_names_as_long_as_the_file_system_allows_can_be_written(tmp_path):
    write(tmp_path / ("ü" * 127))
    assert (tmp_path / ("ü" * 127)).read_text() == "new"


# -- full disks --


def test_a_model_on_a_full_disk_is_an_error_with_the_place(tmp_path):
    code = (
        "import sys, numpy as np; from coview import PLSA\n"
        "model = PLSA(2, max_iter=2).fit(np.eye(300, dtype=int) + 1)\n"
        f"{LIMIT.format(size=2000)}"
        "try: model.save(sys.argv[1])\n"
        "except OSError as error: print(error.errno, error)"
    )
    found = run(code, tmp_path / "m.coview").stdout
    assert found.startswith(f"{errno.EFBIG} {tmp_path}/m.coview could not be written")
    assert "Write to another place" in found
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "write_it",
    [
        "Views(np.random.default_rng(0).random((300, 300))).save(path)",
        "Views(np.ones((2, 2)), labels=[0, 1], features=[x * 3000 for x in 'ab']).save(path)",
        "write_rows(['a'], [['x' * 9000]], Path(path + '.csv'))",
        "write_rows(['a'], [['x' * 9000]], Path(path + '.json'))",
        "write_rows(['a'], [[str(i)] for i in range(9000)], Path(path + '.parquet'))",
        "Results([Run('d' * 9000, 'm', 'l', {}, 0)]).to_csv(path)",
        "Journal(path).add('k', {}, {'error': 'x' * 9000})",
        "ConvergenceDisplay(np.arange(5.0)).plot().save(path + '.png')",
    ],
)
def test_whatever_is_written_to_a_full_disk_says_where(tmp_path, write_it):
    code = (
        "import sys, numpy as np\nfrom pathlib import Path\n"
        "import matplotlib; matplotlib.use('Agg'); from matplotlib import pyplot\n"
        "from coview import Views\nfrom coview.cli.output import write_rows\n"
        "from coview.compare import Results, Run\nfrom coview.compare.file_formats import Journal\n"
        "from coview.plot import ConvergenceDisplay\n"
        "import pyarrow.parquet, scipy.sparse\n"
        "pyplot.subplots()[0].savefig('/dev/null', format='png')\n"
        f"path = sys.argv[1]\n{LIMIT.format(size=1000)}"
        f"try: {write_it}\n"
        "except OSError as error: print(error)"
    )
    ran = run(code, tmp_path / "out")
    assert f"{tmp_path}/out" in ran.stdout, ran.stderr
    assert "Write to another place" in ran.stdout or "Make room" in ran.stdout
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_errors_of_libraries_become_oserrors(tmp_path):
    class LibraryError(Exception):
        pass

    texts = ["I/O error: No space left on device (os error 28)", "write failed: errno = 28, so"]
    for text in texts:
        made = pytest.raises(OSError, match=r"no space left in .*Make room there")
        with made as found, explained(tmp_path / "x"):
            raise LibraryError(text)
        assert found.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match="no space left"), explained(tmp_path / "x"):
        raise OSError("90000 requested and 2432 written")  # NumPy's
    with pytest.raises(LibraryError, match="no I/O"), explained(tmp_path / "x"):
        raise LibraryError("no I/O")


def test_errors_about_other_files_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), explained(tmp_path / "x"):
        Path("/elsewhere/data.csv").read_text()


# -- places that cannot be written to --


def test_a_place_that_cannot_be_written_to_is_noticed_at_once(tmp_path):
    with pytest.raises(OSError, match=r"/proc/model\.coview c.* be written"):
        check_output("/proc/model.coview")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        check_output(tmp_path / "no" / "x")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="There is no folder"):
        check_output(tmp_path / "file" / "x")
    check_output(tmp_path / "x")
    assert os.listdir(tmp_path) == ["file"]


# -- what killed writers leave --


def killed_writer(path):
    code = (
        "import os, sys; from coview.store import replacing\n"
        "with replacing(sys.argv[1]) as beside: beside.write_text('half'); os._exit(9)"
    )
    assert run(code, path).returncode == 9


def test_what_a_killed_writer_left_goes_at_the_next_start(tmp_path):
    killed_writer(tmp_path / "a.csv")
    assert len(os.listdir(tmp_path)) == 1
    check_output(tmp_path / "b.csv")  # of whatever output in this folder
    assert not os.listdir(tmp_path)


def test_a_killed_writer_of_a_folder_leaves_nothing_for_long(tmp_path):
    code = (
        "import os, sys; from coview import Views; import coview.views.folder as folder\n"
        "folder.replace_folder = lambda *_: os._exit(9)\n"
        "Views([[1, 2]]).save(sys.argv[1])"
    )
    assert run(code, tmp_path / "views").returncode == 9
    assert len(os.listdir(tmp_path)) == 1
    Views([[1, 2]]).save(tmp_path / "views")
    assert os.listdir(tmp_path) == ["views"]


def test_files_of_running_writers_and_of_others_stay(tmp_path):
    ours = temporary_path(tmp_path / "a.csv")
    _, system, clock = ours.name.split(".")[-2].split("-")
    elsewhere = ours.with_name(f".a.csv.999999-00000000-{clock}.tmp")
    foreign = tmp_path / ".a.csv.999999999.tmp"
    dead = ours.with_name(f".a.csv.99999999-{system}-{clock}.tmp")
    for path in (ours, elsewhere, foreign, dead):
        path.touch()
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([ours, elsewhere, foreign])
    for path in (elsewhere, foreign):
        os.utime(path, (0, 0))
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([ours, foreign])
