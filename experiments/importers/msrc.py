"""Importer of MSRC-v1: five feature sets in a MATLAB file."""

import os

import numpy as np

from coview.datasets.registry import dataset
from coview.views.container import Views
from experiments.importers.archives import ArchiveError, ArchiveLimits
from experiments.importers.matlab import labels_from_zero, read_views_and_labels
from experiments.importers.writing import check_target, write_dataset


def import_msrcv1(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `msrcv1` from a MATLAB file, such as `MSRC-v5.mat`.

    The file has a cell array `X` of five matrices and a vector `y` of classes, from 1 to 7. Which
    matrix is which view is told by its number of columns (24, 576, 512, 256 or 254); documents may
    be its rows or its columns.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`; a .mat file, or an archive with one.

    Returns
    -------
    views : Views
        Values are rounded to single precision, as in the ready-made folder.
    """
    check_target(out, overwrite)
    data = dataset("msrcv1")
    matrices, y = read_views_and_labels(archive, limits)
    by_width = {matrix.shape[1]: matrix.astype(np.float32) for matrix in matrices}
    if sorted(by_width) != sorted(data.views.values()) or len(matrices) != len(data.views):
        widths = [matrix.shape[1] for matrix in matrices]
        raise ArchiveError(
            f"{archive} must have views of {sorted(data.views.values())} columns; found {widths}."
        )
    views = Views(
        {name: by_width[width] for name, width in data.views.items()},
        labels=labels_from_zero(y, len(data.classes), archive),
        label_names=data.classes,
    )
    write_dataset(out, views, overwrite=overwrite)
    return views
