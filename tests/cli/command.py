"""The command, run as a person would, or within the process of the test where that will do."""

import contextlib
import io
import subprocess
import sys
import warnings
from unittest import mock

from coview.cli import main


def coview(*args):
    """The finished process of `coview ARGS`, which must have succeeded."""
    command = [sys.executable, "-m", "coview", *map(str, args)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return ran


def inside(*args):
    """Exit code, standard output and standard error of the command, without a new process."""
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
    """What a command that must fail with this exit code says."""
    code, _, said = inside(*args)
    assert code == expected, (args, code, said)
    return said


def working(*args):
    """What a command that must succeed writes to standard output."""
    code, out, said = inside(*args)
    assert code == 0, (args, code, said)
    return out
