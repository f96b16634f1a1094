"""The command line."""

from enum import StrEnum
from typing import Annotated

import typer

from coview import __version__


class DemoModel(StrEnum):
    """The models of several views, by their short names."""

    link = "link"
    voted = "voted"
    pairwise = "pairwise"
    divergence = "divergence"
    mvplsa = "mvplsa"
    mggm = "mggm"


app = typer.Typer(
    name="coview",
    help="Multi-view topic models: cluster, classify and search things seen several ways.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coview {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    model: Annotated[
        DemoModel, typer.Option(help="The model to fit: one of those for several views.")
    ] = DemoModel.link,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the start.")] = 0,
) -> None:
    """Topics, clusters and cross-view search on embedded data.

    Fits a model to functions and classes of the installed numpy, scipy and scikit-learn, seen as
    docstring and as code, and finds held-out code by its docstring.

    Example: coview demo --model mggm
    """
    from coview.demo import run_demo

    run_demo(model.value, seed)


def main() -> None:
    """Entry point of the `coview` command."""
    app()
