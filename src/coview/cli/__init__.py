"""The command line `coview`: one module for each group of commands.

Exit codes: 0 success; 1 a problem with the data, a file or an optional package; 2 wrong usage;
130 interrupted with Ctrl-C.
"""

import os
import sys
import warnings
from typing import TextIO

import typer

from coview import __version__
from coview.cli.annotate import annotate
from coview.cli.apply import evaluate, predict, transform
from coview.cli.compare import compare
from coview.cli.convert import convert
from coview.cli.curate import curate
from coview.cli.data import data_app
from coview.cli.demo import demo
from coview.cli.explore import explore
from coview.cli.fit import fit
from coview.cli.inspect import info, topics
from coview.cli.options import ARGUMENTS, UsageError
from coview.cli.output import note
from coview.cli.plot import plot
from coview.cli.report import report
from coview.cli.search import search
from coview.cli.serve import serve
from coview.cli.suggest import suggest
from coview.cli.translate import translate
from coview.cli.update import update
from coview.compiling import tell_when_compiling
from coview.wording import words_for_options

# raised for bad input, bad files and missing packages; anything else is a bug in coview
EXPECTED_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError, KeyError)

app = typer.Typer(
    name="coview",
    help=(
        "Multi-view topic models: cluster, classify and search documents that have several "
        "views.\n\n"
        "Example: coview fit news.csv --text en --text de --id id --topics 20 -o news.coview"
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (
    *(fit, update, topics, report, explore, plot, curate, predict, transform, search),
    *(annotate, translate, suggest, evaluate, compare, info, convert, serve, demo),
):
    app.command()(command)
app.add_typer(data_app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coview {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
    debug: bool = typer.Option(
        False,
        "--debug",
        help="Show the full traceback of an error. May stand anywhere on the command line.",
    ),
) -> None:
    """Declare the options that stand before a command; `main` handles --debug."""


def main() -> None:
    """Run the `coview` command with the arguments of the process."""
    try:
        _run()
    finally:
        _flush_results()


def _run() -> None:
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    if debug:  # it is often appended to the command that failed
        arguments = ["--debug", *(a for a in arguments if a != "--debug")]
    warnings.showwarning = _show_warning
    if not {"--quiet", "-q"} & set(arguments):
        tell_when_compiling(note)
    try:
        with words_for_options(ARGUMENTS):
            app(args=arguments, prog_name="coview", standalone_mode=True)
    except KeyboardInterrupt:
        if debug:
            raise
        note("Stopped.")
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        note(f"Error: {_error_message(error)}")
        if isinstance(error, OSError) and error.filename is None:
            _stop_printing()  # it may have been standard output: once is enough
        sys.exit(2 if isinstance(error, UsageError) else 1)


def _flush_results() -> None:
    """Write what was printed; where that is impossible, such as on a full disk, say so."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _stop_printing()
        if not isinstance(error, BrokenPipeError):  # somebody has read enough
            note(f"Error: {_error_message(error)}")
            sys.exit(1)


def _stop_printing() -> None:
    """Write nothing more to standard output, also not what Python has left when it ends."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without its place in the code."""
    note(f"Warning: {message}")


def _error_message(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, KeyError):  # its str() is quoted
        text = str(error.args[0]) if error.args else text
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        # of files coview says more (`coview.outputs`)
        text = f"standard output, or a cache of compiled code, could not be used: {error.strerror}."
    known = isinstance(error, EXPECTED_ERRORS)
    advice = "" if known else " (a bug in coview: run again with --debug and report it)"
    return f"{text}{advice}"
