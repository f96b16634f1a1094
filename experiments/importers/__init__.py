"""Importers of the papers' data sets: from the publisher's archive to a views folder.

Each `import_<name>(archive, out)` reads what the publisher offers (an archive, or a folder with its
unpacked files), writes a views folder with checksums and returns the views. `import_dataset` finds
the importer by name. `archives` reads archives safely, `matfiles` and `matlab` read MATLAB files,
`words` counts words, `writing` writes the folder; every other module is a publisher's format.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from coview.datasets.folders import data_home
from coview.datasets.registry import UNIVERSITIES, dataset
from coview.views.container import Views
from experiments.importers.archives import ArchiveError, ArchiveLimits
from experiments.importers.linqs import import_cora, import_webkb
from experiments.importers.mfeat import import_mfeat
from experiments.importers.msrc import import_msrcv1
from experiments.importers.newsgroups import import_20newsgroups
from experiments.importers.reuters import import_reuters, import_reuters1200
from experiments.importers.wikipedia import import_wikipedia

__all__ = [
    "ArchiveError",
    "ArchiveLimits",
    "differences",
    "import_20newsgroups",
    "import_cora",
    "import_dataset",
    "import_mfeat",
    "import_msrcv1",
    "import_reuters",
    "import_reuters1200",
    "import_webkb",
    "import_wikipedia",
]

_IMPORTERS: dict[str, Callable[..., Views]] = {
    "mfeat": import_mfeat,
    "reuters1200": import_reuters1200,
    "reuters": import_reuters,
    "20newsgroups": import_20newsgroups,
    **{f"webkb_{u}": partial(import_webkb, university=u) for u in UNIVERSITIES},
    "cora": import_cora,
    "wikipedia": import_wikipedia,
    "msrcv1": import_msrcv1,
}


def import_dataset(
    name: str,
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
    source: str = "en",
) -> tuple[Views, Path]:
    """Import a data set of the papers from its publisher's archive.

    Parameters
    ----------
    name : str
        A key of `DATASETS`; for one that is built from another, that one is imported.
    archive : path
        The archive, or a folder with its files.
    out : path, optional
        The folder to make. By default where the loaders look: the folder of that name in
        `$COVIEW_DATA`, else in the user's data folder.
    overwrite : bool, default=False
        Replace a data set that was imported before.
    limits : ArchiveLimits, optional
        How much the archive may hold.
    source : {"en", "fr", "gr", "it", "sp"}, default="en"
        Of "reuters", the language in which the stories were written; any but English has a folder
        of its own, such as `reuters-fr`.

    Returns
    -------
    views : Views
    folder : Path
        The folder that was written.

    Examples
    --------
    Two papers in the publisher's format, the first of which is cited by the second:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as at:
    ...     _ = Path(at, "cora.content").write_text("p1\\t1\\t0\\tTheory\\np2\\t0\\t1\\tTheory\\n")
    ...     _ = Path(at, "cora.cites").write_text("p1\\tp2\\n")
    ...     views, folder = import_dataset("cora", at, f"{at}/out")
    >>> views["inbound"].toarray().tolist(), folder.name
    ([[0.0, 1.0], [0.0, 0.0]], 'out')
    """
    data = dataset(name)
    own, options = data.folder, {}
    if source != "en":
        if own != "reuters":
            raise ValueError(f"source={source!r} is for the data set reuters; got {name!r}.")
        own, options = f"{own}-{source}", {"source": source}
    folder = data_home() / own if out is None else Path(out).expanduser()
    views = _IMPORTERS[data.folder](archive, folder, overwrite=overwrite, limits=limits, **options)
    return views, folder


def differences(name: str, views: Views) -> list[str]:
    """Return differences to the registry: number of documents, views and their columns.

    >>> differences("mfeat", Views({"pix": [[1, 2]]}))[0]
    '1 document, expected 2,000'
    """
    data = dataset(dataset(name).folder)
    found = {view: matrix.shape[1] for view, matrix in views.matrices.items()}
    notes = []
    if len(views) != data.n_docs:
        noun = "document" if len(views) == 1 else "documents"
        notes.append(f"{len(views):,} {noun}, expected {data.n_docs:,}")
    for view, width in data.views.items():
        if view not in found:
            notes.append(f"no view {view}")
        elif found[view] != width:
            notes.append(f"view {view} has {found[view]:,} columns, expected {width:,}")
    return notes
