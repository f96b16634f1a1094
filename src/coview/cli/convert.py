"""The command `coview convert`: raw data to a views folder, or to a sharded folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coview.cli import options
from coview.cli.inputs import ALL_DATA_OPTIONS, DataSource, check_not_input, data_options
from coview.cli.options import UsageError
from coview.cli.output import note
from coview.cli.sharded import why_in_memory, write_sharded
from coview.outputs import check_output_folder
from coview.views.repr import describe as describe_views


@data_options(*ALL_DATA_OPTIONS)
def convert(
    source: DataSource,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write the views to.")
    ] = None,
    shards: Annotated[
        Path | None,
        typer.Option(
            "--shards",
            metavar="FOLDER",
            help="Write a sharded folder instead, from which models are fitted in little memory. "
            "Texts and tokens of a table, and svmlight files, are read in a stream and may be "
            "larger than memory; anything else is read in memory.",
        ),
    ] = None,
    memory: options.Memory = "1GB",
    overwrite: Annotated[
        bool, typer.Option(help="Replace an existing views folder or sharded folder.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert raw data to a views folder: plain files that any tool can read.

    The folder also holds vocabularies and visual words, so a model fitted to it can read new raw
    documents.

    Examples:

      coview convert news.csv --text en --text de --id id -o news_views

      coview convert news.csv --text en --text de --shards news.shards --memory 1GB
    """
    if (output is None) == (shards is None):
        raise UsageError("Give the folder to write to: -o FOLDER, or --shards FOLDER.")
    target = output or shards
    assert target is not None
    check_not_input(target, *source.files)
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise UsageError(f"{target} is not empty: give another folder, or --overwrite.")
    check_output_folder(target)
    if shards is not None:
        _convert_to_shards(source, shards, memory, overwrite, quiet)
        return
    views = source.views()
    views.save(target, overwrite=overwrite)
    if not quiet:
        note(f"{describe_views(views)}\nSaved in {target}.")


def _convert_to_shards(
    source: DataSource, folder: Path, memory: str, overwrite: bool, quiet: bool
) -> None:
    from coview.memory import memory_bytes

    amount = memory_bytes("--memory", memory)
    why = why_in_memory(source)
    if why is not None and not quiet:
        note(f"{why} read in memory, not in a stream: --memory does not limit that.")
    sharded = write_sharded(source, folder, amount, overwrite)
    if not quiet:
        note(f"{sharded!r}\nSaved in {folder}.")
