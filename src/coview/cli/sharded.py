"""Sharded folders as inputs and outputs of commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coview.cli.inputs import DataSource
from coview.cli.options import UsageError, parse_pairs, refuse_options

if TYPE_CHECKING:
    from coview.shards.sharded import ShardedViews
    from coview.views.container import Views

SEARCH_BYTES = 200_000_000  # of arrays that a model keeps for a search, at the most
SEARCH_SHARE = 10  # times its counts: the memory that it takes to learn what a search needs
MOST_TO_CHOOSE = 20_000  # documents by which a model for a sharded folder is chosen


def open_sharded(source: DataSource, memory: Any = "1GB") -> ShardedViews:
    """Open the sharded folder that the data are; its rows stay on disk.

    Parameters
    ----------
    source : DataSource
        One whose `is_sharded` is true.
    memory : str or number, default="1GB"
        How much memory a fit may take.
    """
    from coview.shards.sharded import open_shards

    options = {"--use": source.use, "--links": source.links, "--embedding": source.embedding}
    for name, given in options.items():
        if given:
            raise UsageError(
                f"{name} cannot change a sharded folder: give it to `coview convert --shards`."
            )
    return open_shards(source.path(), memory=memory)


def views_to_fit(
    source: DataSource, memory: str, in_memory: bool = False, dask: str | None = None
) -> tuple[Views, Views | ShardedViews]:
    """Return views by which a model is chosen, and what it is fitted to.

    These are the same, but for a sharded folder, which stays on disk: there a sample is the first.
    `in_memory` reads the folder into memory, for what cannot be done from disk. `dask` is the
    address of a cluster, which works on such a folder alone.
    """
    if dask is not None and (in_memory or not source.is_sharded):
        raise UsageError(
            "--dask needs a sharded folder that all workers see (coview convert --shards), and can "
            "neither --concat nor --classify."
        )
    if in_memory or not source.is_sharded:
        views = source.views()
        return views, views
    from numpy.random import default_rng

    from coview.memory import memory_bytes

    sharded = open_sharded(source, memory_bytes("--memory", memory))
    return sharded.sample(MOST_TO_CHOOSE, default_rng(0)), sharded


def keep_search(
    fitted: Any, views: Views | ShardedViews, titles: list[str] | None, memory: str
) -> str | None:
    """Keep in a model what a search needs; where that is too large, return a line that says so."""
    from coview.memory import memory_bytes
    from coview.models import topic_model
    from coview.views.container import Views

    most = SEARCH_BYTES
    if isinstance(views, Views):
        size = 8 * sum(matrix.nnz for matrix in views.matrices.values())
    else:
        most = min(most, memory_bytes("--memory", memory) // SEARCH_SHARE)
        size = 8 * sum(view.nonzeros for view in views.manifest.views)
    if size <= most:
        known = views if isinstance(views, Views) else views.to_views()
        model, most = topic_model(fitted.keep_search(known, titles=titles)), SEARCH_BYTES
        size = model.search_.nbytes
        if size <= most:
            return None
        del model.search_
    return (
        f"What a search needs takes {size / 1e6:,.0f} MB, more than {most / 1e6:,.0f} MB: it is "
        "left out of the file, and searches rank by topics alone, unless --show gives the table."
    )


def refuse_memory(context: typer.Context, source: DataSource, in_memory: bool) -> None:
    """Refuse a limit of memory for a fit whose data are in memory."""
    if in_memory or not source.is_sharded:
        refuse_options(
            context,
            ["memory"],
            "Memory is limited where data stay on disk: in a sharded folder (coview convert "
            "--shards), and without --concat and --classify",
        )


def why_in_memory(source: DataSource) -> str | None:
    """Return why data cannot be read in a stream, as the start of a sentence; None if they can."""
    kinds = {
        "Matrix files are": source.view and not _all_svmlight(source),
        "Pictures are": source.image,
        "Vectors are": source.embedding,
        "Links are": source.links,
        "Folders are": source.data is not None and source.data.is_dir(),
        "Multi-omics data are": source.is_h5mu,
    }
    return next((what for what, given in kinds.items() if given), None)


def write_sharded(source: DataSource, folder: Path, memory: Any, overwrite: bool) -> ShardedViews:
    """Write a sharded folder: from a table in a stream, from anything else in memory."""
    from coview.shards.tables import convert_table
    from coview.shards.writing import write_shards

    if why_in_memory(source) is not None:
        return write_shards(source.views(), folder, overwrite=overwrite)
    if source.view:
        return _from_svmlight(source, folder, memory, overwrite)
    path = source.path()
    with source.table_bar(path) as progress:
        return convert_table(
            path,
            folder,
            use=source.use or None,
            memory=memory,
            overwrite=overwrite,
            progress=progress,
            **source.table_options(path, ["text", "tokens"]),
        )


def _all_svmlight(source: DataSource) -> bool:
    from coview.shards.svmlight import is_svmlight

    files = parse_pairs(source.view, "--view").values()
    return source.data is None and all(map(is_svmlight, files))


def _from_svmlight(source: DataSource, folder: Path, memory: Any, overwrite: bool) -> ShardedViews:
    from coview.shards.svmlight import convert_svmlight
    from coview.views.checks import check_known

    files = parse_pairs(source.view, "--view")
    check_known(source.use or (), files, "The selection")
    return convert_svmlight(
        {name: files[name] for name in source.use or files},
        folder,
        ids=source.ids,
        labels=source.labels,
        memory=memory,
        overwrite=overwrite,
    )
