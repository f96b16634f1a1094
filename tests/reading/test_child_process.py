"""Files are read in a child process, which may die; the parent goes on."""

import os
import subprocess
import sys
import threading

import pytest

from coview import DataWarning
from coview.reading import child_process
from coview.reading.child_process import call_in_child, iterate_in_child
from tests.reading import deaths

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "some file.h5").write_text("contents")
    return tmp_path / "some file.h5"


def test_the_result_of_another_process_comes_back(path):
    assert call_in_child(deaths.process, path) not in (None, os.getpid())


def test_items_come_one_by_one(path):
    assert list(iterate_in_child(deaths.many, path, 2000)) == list(range(2000))
    some = iterate_in_child(deaths.many, path, 10**12)
    assert next(some) == 0
    some.close()  # the child ends with it


def test_warnings_come_along_and_prints_do_not_disturb(path, capfd):
    with pytest.warns(DataWarning, match="about the data") as caught:
        assert call_in_child(deaths.chatter, path, 1, "ä") == ("contents", (1, "ä"))
    assert [str(warning.message) for warning in caught] == ["about the data"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "error"), [("OSError", OSError), ("unicode", ValueError), ("own", ValueError)]
)
def test_errors_come_along_and_name_the_file(path, kind, error):
    with pytest.raises(error, match=r"some file\.h5: .*of its own"):
        call_in_child(deaths.fail, path, kind)


@pytest.mark.parametrize("kind", ["RuntimeError", "KeyError", "IndexError", "AttributeError"])
@pytest.mark.parametrize("child", [True, False], ids=["child", "no child"])
def test_an_error_of_a_library_is_a_named_one(path, kind, child, monkeypatch):
    if not child:
        monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(ValueError, match=r"Cannot read .*some file\.h5: .*of its own"):
        call_in_child(deaths.fail, path, kind)


def test_a_file_that_is_named_already_is_not_named_twice(path):
    with pytest.raises(ValueError, match=r"^[^:]*some file\.h5 is bad\.$"):
        call_in_child(deaths.complain, path)


@unix_only
@pytest.mark.parametrize(("death", "name"), [("segfault", "SIGSEGV"), ("abort", "SIGABRT")])
def test_a_crash_is_an_error_that_names_the_file(path, death, name):
    with pytest.raises(ValueError, match=rf"Cannot read .*some file\.h5: it is damaged.*{name}"):
        call_in_child(getattr(deaths, death), path)


def test_a_child_that_leaves_is_quoted(path):
    with pytest.raises(ValueError, match=r"some file\.h5: .* code 7 \(what went wrong\)"):
        call_in_child(deaths.leave, path)


@unix_only
def test_a_child_that_is_killed_may_have_lacked_memory(path):
    with pytest.raises(MemoryError, match=r"some file\.h5: .*lack of memory"):
        call_in_child(deaths.be_killed, path)


@unix_only
def test_a_crash_between_items_is_noticed(path):
    items = iterate_in_child(deaths.die_later, path)
    assert [next(items), next(items)] == ["first", "second"]
    with pytest.raises(ValueError, match=r"some file\.h5: it is damaged"):
        next(items)


def test_a_child_that_does_not_end_is_ended(path, monkeypatch):
    monkeypatch.setattr(child_process, "SECONDS", 2.0)
    with pytest.raises(ValueError, match=r"some file\.h5: that took more than 2 seconds"):
        call_in_child(deaths.hang, path)
    assert threading.active_count() < 10


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_child_cannot_take_all_memory(path):
    with pytest.raises(MemoryError):
        call_in_child(deaths.hoard, path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere"):
        call_in_child(deaths.process, tmp_path / "nowhere")


@pytest.mark.parametrize("why", ["no executable", "frozen", "no processes"])
def test_without_a_child_the_function_is_called_here(path, why, monkeypatch):
    if why == "no executable":
        monkeypatch.setattr(sys, "executable", None)
    elif why == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:

        def refuse(*arguments, **options):
            raise OSError("no processes here")

        monkeypatch.setattr(subprocess, "Popen", refuse)
    assert call_in_child(deaths.process, path) == os.getpid()
    assert list(iterate_in_child(deaths.many, path, 3)) == [0, 1, 2]


def test_modules_of_the_current_folder_take_no_part(path, tmp_path, monkeypatch):
    for name in ("json", "pickle", "subprocess"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    assert call_in_child(deaths.process, path) != os.getpid()


def test_a_script_without_a_main_guard_is_not_run_again(path, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys; from pathlib import Path; print('once')\n"
        "from coview.reading.child_process import call_in_child\n"
        "from tests.reading.deaths import process\n"
        "call_in_child(process, Path(sys.argv[1]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(script), str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout == "once\n"
