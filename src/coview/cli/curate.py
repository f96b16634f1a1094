"""The command `coview curate`: apply what was said about topics in the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coview.cli import options
from coview.cli.output import check_output, note
from coview.wording import plural


def curate(
    model: options.Model,
    curation: Annotated[Path, typer.Argument(help="The JSON file that the explorer has saved.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)
    ],
) -> None:
    """Name, merge and hide topics of a model, as curated in its explorer.

    Example: coview curate news.coview curation.json -o named.coview
    """
    from coview.curation import with_topics
    from coview.io import load

    check_output(output, model, curation)
    if not curation.exists():
        raise FileNotFoundError(f"There is no {curation}.")
    made = with_topics(load(model), curation)
    made.save(output)
    named = sum(name is not None for name in made.topic_names_)
    hidden = len(getattr(made, "hidden_topics_", ()))
    note(
        f"Wrote {output}: {plural(made.n_components, 'topic')}, {named} with a name, {hidden} "
        "hidden."
    )
