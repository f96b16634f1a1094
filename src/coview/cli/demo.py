"""The command `coview demo`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from coview.cli.output import check_output
from coview.models import MODEL_NAMES, ONE_VIEW

DemoModel = StrEnum("DemoModel", [(n, n) for n in MODEL_NAMES if n not in ONE_VIEW])  # type: ignore[misc]


def demo(
    model: Annotated[DemoModel, typer.Option(help="The multi-view model to fit.")] = DemoModel.link,  # type: ignore[attr-defined]
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the model.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Save the model to this file, for `coview search`.")
    ] = None,
    explore: Annotated[
        Path, typer.Option(help="Where to write the explorer, a page for a browser.")
    ] = Path("coview-demo.html"),
) -> None:
    """Show topics, clusters and cross-view search on built-in data, and write the explorer.

    Fits a model to the functions and classes of the installed numpy, scipy and scikit-learn, with
    docstring and code as the two views, and finds held-out code by its docstring.

    Example: coview demo --model mggm --save demo.coview
    """
    from coview.demo import run_demo

    check_output(save)
    check_output(explore)
    run_demo(model.value, seed, save=save, explore=explore)
