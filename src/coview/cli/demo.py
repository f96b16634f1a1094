"""`coview demo`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class DemoModel(StrEnum):
    """The models of several views, by their short names."""

    link = "link"
    voted = "voted"
    pairwise = "pairwise"
    divergence = "divergence"
    mvplsa = "mvplsa"
    mggm = "mggm"


def demo(
    model: Annotated[
        DemoModel, typer.Option(help="The model to fit: one of those for several views.")
    ] = DemoModel.link,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the start.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Keep the model in this file, to search it later.")
    ] = None,
) -> None:
    """Topics, clusters and cross-view search on embedded data.

    Fits a model to functions and classes of the installed numpy, scipy and scikit-learn, seen as
    docstring and as code, and finds held-out code by its docstring.

    Example: coview demo --model mggm --save demo.coview
    """
    from coview.demo import run_demo

    run_demo(model.value, seed, save=save)
