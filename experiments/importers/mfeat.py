"""Importer of UCI Multiple Features: six text files of numbers, one row for each digit."""

import os
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np

from coview.datasets.registry import dataset
from coview.views.container import Views
from coview.wording import quoted
from experiments.importers.archives import ArchiveError, ArchiveLimits, collect_files
from experiments.importers.writing import check_target, write_dataset


def import_mfeat(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `mfeat` from the archive of the UCI repository.

    The archive holds `mfeat-fac`, `mfeat-fou`, `mfeat-kar`, `mfeat-mor`, `mfeat-pix` and
    `mfeat-zer`: numbers with white space between them, one line for each digit, the same order in
    all files, as many lines for 0 as for each of the others. The files may stand in folders or in
    an archive inside the archive.

    Parameters
    ----------
    archive : path
    out : path
        The folder to make.
    overwrite : bool, default=False
        Replace a data set that was imported before.
    limits : ArchiveLimits, optional
        How much the archive may hold.

    Returns
    -------
    views : Views
        What was written, `kar` with its negative values. Values are rounded to single precision.
    """
    check_target(out, overwrite)
    data = dataset("mfeat")
    files = collect_files(archive, [f"mfeat-{view}" for view in data.views], limits=limits)
    matrices = {view: _numbers(files[f"mfeat-{view}"], f"mfeat-{view}") for view in data.views}
    views = Views(
        matrices,
        labels=_labels({view: len(matrix) for view, matrix in matrices.items()}, Path(archive)),
        label_names=data.classes,
    )
    write_dataset(out, views, overwrite=overwrite)
    return views


def _numbers(text: bytes, name: str) -> np.ndarray:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns of an empty file
            return np.loadtxt(BytesIO(text), dtype=np.float32, ndmin=2, comments=None)
    except (ValueError, UserWarning) as error:
        raise ArchiveError(f"{quoted(name)} must hold rows of numbers: {error}") from error


def _labels(heights: dict[str, int], archive: Path) -> np.ndarray:
    n_docs = heights["pix"]
    if set(heights.values()) != {n_docs} or n_docs % 10:
        raise ArchiveError(
            f"The files of {archive} must have the same number of rows, a multiple of 10; "
            f"found {heights}."
        )
    return np.repeat(np.arange(10), n_docs // 10)
