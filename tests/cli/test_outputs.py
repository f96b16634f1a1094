"""Outputs of commands: places that cannot be written to, full disks, states of interrupted fits."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from coview import Checkpoint, LinkPLSA
from coview.datasets import make_views
from tests.cli.command import failing, inside, working
from tests.cli.test_errors import TABLE

NO_SUCH_DATA = "nowhere.csv"  # whatever is refused for its output is refused before the data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("outputs")
    (made / "news.csv").write_text(TABLE)
    text = ("--text", "en", "--text", "de", "--id", "id")
    working("fit", made / "news.csv", *text, "-k", 3, "-o", made / "m.coview")
    return made


def writing_commands(folder, output):
    """Commands that write to `output`, of data that are not there."""
    model = folder / "m.coview"
    yield "fit", NO_SUCH_DATA, "--text", "en", "-o", f"{output}.coview"
    yield "predict", model, NO_SUCH_DATA, "-o", f"{output}.csv"
    yield "transform", model, NO_SUCH_DATA, "-o", f"{output}.parquet"
    yield "transform", model, "nowhere.h5mu", "-o", f"{output}.h5mu"
    yield "evaluate", model, NO_SUCH_DATA, "-o", f"{output}.csv"
    yield "suggest", model, NO_SUCH_DATA, "-o", f"{output}.csv"
    yield "topics", "nowhere.coview", "-o", f"{output}.csv"
    yield "search", "nowhere.coview", "moon", "-o", f"{output}.csv"
    yield "search", "nowhere.coview", "moon", "--index", f"{output}.idx"
    yield "compare", NO_SUCH_DATA, "-o", f"{output}.csv"
    yield "compare", NO_SUCH_DATA, "--plot", f"{output}.png"
    yield "demo", "--save", f"{output}.coview"
    yield "convert", NO_SUCH_DATA, "--text", "en", "-o", f"{output}/views"


def test_a_place_that_cannot_be_written_is_noticed_before_the_data_are_read(folder):
    for args in writing_commands(folder, "/proc/results"):
        said = failing(1, *args)
        assert "/proc/results" in said, args
        assert "be written" in said, args
        assert "nowhere" not in said, args
        assert "checkpoint" not in said, args


def test_a_folder_that_is_not_there_is_noticed_before_the_data_are_read(folder):
    for args in writing_commands(folder, folder / "no" / "results"):
        if args[0] != "convert":  # which makes folders
            assert "There is no folder" in failing(2, *args), args


def test_a_folder_that_is_not_empty_is_noticed_before_the_data_are_read(folder):
    said = failing(2, "convert", NO_SUCH_DATA, "--text", "en", "-o", folder)
    assert "is not empty" in said
    assert "--overwrite" in said


def test_a_format_that_cannot_be_written_is_noticed_before_the_data_are_read(folder):
    for command in ("predict", "transform", "evaluate", "suggest"):
        said = failing(2, command, folder / "m.coview", NO_SUCH_DATA, "-o", folder / "x.doc")
        assert "must be one of" in said


def test_a_device_is_not_replaced(folder):
    said = failing(1, "fit", folder / "news.csv", "--text", "en", "-o", "/dev/null")
    assert "/dev/null is a device" in said
    assert not os.path.isfile("/dev/null")


def test_the_place_of_a_checkpoint_of_its_own_is_checked_too(folder):
    args = ("fit", NO_SUCH_DATA, "--text", "en", "-o", folder / "x.coview")
    assert "/proc/state.0" in failing(1, *args, "--checkpoint", "/proc/state")


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))


def test_a_full_disk_is_no_error_of_coview_itself(folder, tmp_path):
    args = ["fit", folder / "news.csv", "--text", "en", "-k", "2", "-o"]
    working(*args, folder / "x.coview")  # compiles, and writes what it has compiled
    args = [*map(str, args), str(tmp_path / "m.coview")]
    ran = subprocess.run(
        [sys.executable, "-m", "coview", *args],
        capture_output=True,
        text=True,
        preexec_fn=limited,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    assert f"Error: {tmp_path}/m.coview" in ran.stderr
    assert "a bug in coview" not in ran.stderr


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("unbuffered", [[], ["-u"]])
def test_results_that_cannot_be_printed_are_an_error(folder, more, unbuffered):
    with open("/dev/full", "w") as full:
        command = [sys.executable, *unbuffered, "-m", "coview", "info"]
        ran = subprocess.run(
            [*command, str(folder / "m.coview"), *more],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: standard output")
    assert ran.stderr.endswith("No space left on device.\n")
    assert ran.stderr.count("\n") == 1


# -- states of interrupted fits --


def test_resuming_without_a_state_says_that_it_starts_anew(folder, tmp_path):
    args = ["fit", folder / "news.csv", "--text", "en", "-k", 2, "-o", tmp_path / "m.coview"]
    code, _, said = inside(*args, "--resume")
    assert code == 0
    assert f"no state of an earlier fit in {tmp_path}/m.coview.checkpoint" in said
    assert "starting from the beginning" in said
    assert "starting" not in inside(*args)[2]
    assert not inside(*args, "--resume", "--quiet")[2]


def test_info_shows_what_a_checkpoint_holds(tmp_path):
    views = make_views(30, 2, [10, 8], random_state=0)
    state = Checkpoint(tmp_path / "run", every=1)
    model = LinkPLSA(2, n_init=2, max_iter=4, tol=0, init="random", random_state=7)
    model.fit(views, checkpoint=state)
    for path in (tmp_path / "run.0", tmp_path / "run.1", tmp_path / "run"):
        out = working("info", path)
        for words in ("checkpoint", "LinkPLSA", "iteration", "objective", "restarts", "saved"):
            assert words in out, (path, words)
    assert "7" in working("info", tmp_path / "run", "--json")
