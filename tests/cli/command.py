"""Run the command: in a process of its own, or in the test's process, which is much faster."""

import contextlib
import io
import subprocess
import sys
import warnings
from unittest import mock

from coview.cli import main


def run_process(*args, **options):
    """Run `coview ARGS` as a real process, and return it when it has finished."""
    command = [sys.executable, "-m", "coview", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def coview(*args):
    """Run a command that must succeed as a real process."""
    ran = run_process(*args)
    assert ran.returncode == 0, ran.stderr
    return ran


def inside(*args):
    """Return exit code, standard output and standard error of a command run in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["coview", *map(str, args)]),
        mock.patch.object(warnings, "showwarning"),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def failing(expected, *args):
    """Return the standard error of a command that must fail with this exit code."""
    code, _, said = inside(*args)
    assert code == expected, (args, code, said)
    return said


def working(*args):
    """Return the standard output of a command that must succeed."""
    code, out, said = inside(*args)
    assert code == 0, (args, code, said)
    return out
