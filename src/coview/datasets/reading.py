"""One way from the name of a data set to its views."""

import os
from collections.abc import Sequence

from coview.data.views import Views
from coview.datasets.home import need_folder
from coview.datasets.manifest import check_manifest
from coview.datasets.registry import dataset


def load_folder(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    views: Sequence[str] | None = None,
    check: bool = False,
) -> Views:
    """Views of a data set from its folder.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    data_home : path, optional
        As :func:`coview.datasets.home.data_home` takes it.
    views : sequence of str, optional
        By default those the registry says, else all that it lists.
    check : bool, default=False
        Whether to compare the files with their checksums first.
    """
    data = dataset(name)
    folder = need_folder(data, data_home)
    if check:
        check_manifest(folder)
    return Views.load(folder, views=views or data.default_views or tuple(data.views))
