"""Where a fit on a cluster has its documents: in a sharded folder on storage that all hosts see.

What is learned before EM begins is learned on the driver, as with documents on disk. The passes
over all documents are tasks of the cluster; what they write, generation after generation, is in a
folder beside the shards, which goes away with the fit.
"""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from coview.disk_memory import mapped_room
from coview.em.checkpoint import CheckpointWriter
from coview.em.shard_step import RowsRecipe
from coview.em.simplex import Room
from coview.fit_source import OnDisk
from coview.outputs import temporary_folder
from coview.runners.cluster import ClusterRunner
from coview.runners.dask import DaskRunner
from coview.shards import storage
from coview.shards.sharded import ShardedViews
from coview.views.container import Views

SIGN_OF_LIFE = 60.0  # seconds; folders of writers on other hosts are left alone for ten minutes


def cluster_source(
    model: Any, views: Views | ShardedViews, writer: CheckpointWriter, runner: Any
) -> OnCluster:
    """Return the source of a fit whose `runner` is a cluster."""
    tasks = runner if isinstance(runner, DaskRunner) else DaskRunner(runner)
    if not isinstance(views, ShardedViews):
        raise TypeError(
            "A cluster works on files that all its workers see. Write the views to a shared folder "
            "with coview.write_shards(views, path), and fit coview.open_shards(path)."
        )
    return OnCluster(model, views, writer, tasks)


class OnCluster(OnDisk):
    """Documents in a sharded folder that the workers of a cluster read."""

    def __init__(
        self, model: Any, sharded: ShardedViews, writer: CheckpointWriter, tasks: DaskRunner
    ):
        super().__init__(model, sharded, writer)
        self._tasks = tasks

    def _work_folder(self) -> AbstractContextManager[str]:
        """Return a folder that all workers see: beside the shards, or where the runner says."""
        near = self._tasks.scratch or self._sharded.path
        return _folder_of_objects(near) if "://" in near else _shared_folder(near)

    def _make_runner(self, recipe: RowsRecipe, internal: sp.csr_array | None) -> ClusterRunner:
        jobs = self._model.n_jobs
        return ClusterRunner(self._tasks, self._sharded, recipe, self._store, jobs, internal)

    def __enter__(self) -> OnCluster:
        super().__enter__()
        try:
            # before anything is learned: the cluster is there, and its workers see the files
            self._open.enter_context(self._tasks)
            self._tasks.check_storage(self._store.folder, [self._sharded.manifest_file])
        except BaseException:
            self._open.close()
            raise
        return self

    @property
    def room(self) -> Room:
        """What makes arrays of all documents: in memory, or in a file of the driver."""
        folder = self._store.folder
        return mapped_room(
            tempfile.gettempdir() if "://" in folder else folder, self._budget.arrays
        )


@contextmanager
def _folder_of_objects(near: str) -> Iterator[str]:
    """Yield a folder on storage with a URL, removed in the end."""
    folder = f"{near.rstrip('/')}.fit-{uuid.uuid4().hex[:16]}"
    storage.make_folder(folder)
    try:
        yield folder
    finally:
        with suppress(OSError):  # the error that ended the fit is the one to be seen
            storage.remove_tree(folder)


@contextmanager
def _shared_folder(near: str) -> Iterator[str]:
    """Yield a folder beside a path, removed in the end, and with signs of life until then."""
    with temporary_folder(Path(near)) as folder:
        ended = threading.Event()
        sign = threading.Thread(target=_touch, args=(folder, ended), daemon=True)
        sign.start()
        try:
            yield str(folder)
        finally:
            ended.set()
            sign.join()


def _touch(folder: Path, ended: threading.Event) -> None:
    while not ended.wait(SIGN_OF_LIFE):
        with suppress(OSError):
            os.utime(folder)
