"""The command line: one small file for each group of commands.

Exit codes: 0 all is well; 1 the data, a file or an optional package is not as it should be; 2 the
command was not written as it should be; 130 stopped by Ctrl-C.
"""

import sys
import warnings

import typer

from coview import __version__
from coview.cli.apply import evaluate, predict, transform
from coview.cli.compare import compare
from coview.cli.data import data_app
from coview.cli.demo import demo
from coview.cli.fit import fit
from coview.cli.inspect import convert, info, topics
from coview.cli.output import STATE, UsageError
from coview.cli.search import search

# what bad input, bad files and missing packages raise; anything else is our own fault
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, KeyError)

app = typer.Typer(
    name="coview",
    help=(
        "Multi-view topic models: cluster, classify and search things seen several ways.\n\n"
        "Example: coview fit news.csv --text en --text de --id id --topics 20 -o news.coview"
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (fit, topics, predict, transform, search, evaluate, compare, info, convert, demo):
    app.command()(command)
app.add_typer(data_app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coview {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
    debug: bool = typer.Option(
        False, "--debug", help="Show the whole traceback of an error. Works in any place."
    ),
) -> None:
    STATE.debug = debug


def main() -> None:
    """Entry point of the `coview` command."""
    arguments = sys.argv[1:]
    if "--debug" in arguments:  # people add it at the end of the command that failed
        arguments = ["--debug", *(a for a in arguments if a != "--debug")]
    warnings.showwarning = _show_warning
    try:
        app(args=arguments, prog_name="coview", standalone_mode=True)
    except KeyboardInterrupt:
        if STATE.debug:
            raise
        _say("Stopped.")
        sys.exit(130)
    except Exception as error:
        if STATE.debug:
            raise
        _say(f"Error: {_readable(error)}")
        sys.exit(2 if isinstance(error, UsageError) else 1)


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """Warnings for people: what, without where in the code."""
    _say(f"Warning: {_printable(str(message))}")


def _readable(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, KeyError):  # whose text is quoted
        text = str(error.args[0]) if error.args else text
    known = isinstance(
        error, ValueError | TypeError | OSError | ImportError | MemoryError | KeyError
    )
    advice = "" if known else " (an error of coview itself: run again with --debug and report it)"
    return f"{_printable(text)}{advice}"


def _printable(text: str) -> str:
    """Without control characters, which names in data may hold; line breaks stay."""
    from coview.wording import printable

    return "\n".join(printable(line, width=10_000) for line in text.split("\n"))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
