"""Multi-omics data (MuData, .h5mu files of scverse): read as views, and results written back.

Cells are documents, modalities are views, and genes or proteins are terms. A cell that a modality
does not list lacks the view. Results are written where the tools of scverse expect them:

    obsm["X_<key>"]                  mixtures p(z|d), cells x topics
    obs["<key>"]                     topic of each cell, as a category
    mod[view].varm["<key>_topics"]   p(w|z), variables x topics
    uns["<key>"]                     the model and its settings

Files are read by the HDF5 library. If it notices damage, the error names the file; but some damaged
files crash the library itself, so read only files from a source you trust.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.extras import need
from coview.reading.plain_files import check_room, read_file
from coview.views.checks import check_names
from coview.views.contents import take_documents
from coview.views.labels import is_unlabeled
from coview.views.matrix_checks import check_matrix
from coview.wording import argument, listing, plural, quoted

if TYPE_CHECKING:
    from coview.views.container import Views

# warnings of the two libraries about themselves, which our callers cannot change
_NOISE = "Cannot join columns|(obs|var)_names are not unique|The HDF5 file was not created"


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        for kind in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", message=_NOISE, category=UserWarning)
        yield


# -- reading --------------------------------------------------------------------------------------


def read_mudata(
    data: Any,
    modalities: Sequence[str] | None = None,
    layers: Mapping[str, str] | None = None,
    label: str | None = None,
) -> dict[str, Any]:
    """Read multi-omics data as keyword arguments of `Views`; see `Views.from_mudata`."""
    mdata = open_mudata(data)
    layers = layers or {}
    cells = _unique(mdata.obs_names, "cells", "obs")
    arguments: dict[str, Any] = {"data": {}, "present": {}, "features": {}, "ids": cells}
    for name in _chosen(mdata, modalities, layers):
        modality = mdata.mod[name]
        names = _unique(modality.var_names, f"variables of modality {quoted(name)}", "var")
        listed = _unique(modality.obs_names, f"cells of modality {quoted(name)}", "obs")
        matrix = _counts_of(modality, name, layers.get(name))
        counts = check_matrix(matrix, name, ids=listed, features=names)
        arguments["data"][name] = take_documents(counts, listed, cells.tolist())
        arguments["present"][name] = np.isin(cells.astype(str), listed.astype(str))
        arguments["features"][name] = names
    return arguments if label is None else arguments | _labels(mdata.obs, label)


def open_mudata(data: Any) -> Any:
    """Return a MuData object, read from a file if a path is given."""
    with _quiet():
        mudata = need("mudata", extra="scverse")
        if isinstance(data, str | os.PathLike):
            data = read_file(Path(data), _load)
    if not isinstance(data, mudata.MuData):
        raise TypeError(
            f"Expected a MuData object or the path of an .h5mu file, found {type(data).__name__}. "
            'An AnnData object is one modality: mudata.MuData({"rna": adata}).'
        )
    if data.axis != 0:
        raise ValueError(
            "The modalities of this MuData do not share their cells but their variables "
            f"(axis={data.axis}); views must describe the same cells."
        )
    return data


def _load(path: Path) -> Any:
    with need("h5py", extra="scverse").File(path, "r") as file:
        sizes: list[int] = []
        # append returns None; anything else would end the walk
        file.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
    check_room(sum(sizes))
    return need("mudata", extra="scverse").read_h5mu(path)


def _chosen(mdata: Any, modalities: Sequence[str] | None, layers: Mapping[str, str]) -> list[str]:
    known = list(mdata.mod)
    chosen = known if modalities is None else list(modalities)
    for given, what in ((chosen, "modalities"), (layers, "layers")):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"{what} names {listing(unknown)}; there are {listing(known, 20)}.")
    if not chosen:
        raise ValueError("There is no modality to read.")
    return chosen


def _unique(names: Iterable[Any], what: str, axis: str) -> np.ndarray:
    try:
        return check_names(names, what)
    except ValueError as error:
        raise ValueError(f"{error} In MuData: mdata.{axis}_names_make_unique().") from error


def _counts_of(part: Any, name: str, layer: str | None) -> Any:
    """Return the matrix of a modality, if it can be counts."""
    if not hasattr(part, "layers") or part.layers is None:
        raise ValueError(f"Modality {quoted(name)} has modalities of its own; read them alone.")
    layers = list(part.layers)
    if layer is not None and layer not in layers:
        raise ValueError(
            f"Modality {quoted(name)} has no layer {quoted(layer)}; it has {_listed(layers)}."
        )
    matrix = part.X if layer is None else part.layers[layer]
    where = f"{'X' if layer is None else f'Layer {quoted(layer)}'} of modality {quoted(name)}"
    choice = argument("layers", {name: "..."}) if layers else argument("layers")
    advice = f"Choose raw counts: {choice}; it has {_listed(layers)}."
    if matrix is None:
        raise ValueError(f"{where} is empty. {advice}")
    if 0 not in matrix.shape and matrix.min() < 0:
        raise ValueError(f"{where} has negative values, so it was scaled. {advice}")
    return matrix


def _listed(layers: Sequence[str]) -> str:
    return f"the layers {listing(layers, 20)}" if layers else "no layers"


def _labels(obs: Any, column: str) -> dict[str, Any]:
    """Return integers unchanged, anything else as categories; -1 for missing values."""
    if column not in obs.columns:
        raise ValueError(f"obs has no column {quoted(column)}; it has {listing(obs.columns, 20)}.")
    values = obs[column]
    if values.dtype.kind in "iu":
        return {"labels": values.to_numpy()}
    categories = values.astype("category").cat
    names = np.array([str(name) for name in categories.categories], dtype=object)
    kept = ~is_unlabeled(names)
    # a cell without a category has the code -1, which picks the last number
    numbers = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    return {"labels": numbers[categories.codes.to_numpy()], "label_names": names[kept].tolist()}


# -- writing --------------------------------------------------------------------------------------


def to_mudata(
    model: Any,
    data: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    key: str = "coview",
    layers: Mapping[str, str] | None = None,
) -> Any:
    """Write a fitted model's mixtures, labels and topics into multi-omics data.

    Cells that the model was trained on, identified by name, get their mixtures of training; if
    there is any other cell, all cells are folded in.

    Parameters
    ----------
    model : fitted model
    data : MuData, path of an .h5mu file, or Views
        A MuData object is changed in place, unless it is a view of another: then a copy is.
    path : path, default=None
        Where to write an .h5mu file, whole or not at all; an older file is replaced.
    key : str, default="coview"
        Name of the results; see the docstring of this module.
    layers : dict modality -> layer, default=None
        Layers that hold the counts, used if cells must be folded in.

    Returns
    -------
    MuData

    Examples
    --------
    >>> from coview import LinkPLSA, Views
    >>> views = Views({"rna": [[3, 0], [0, 2]], "protein": [[1, 2], [4, 0]]}, ids=["c1", "c2"])
    >>> model = LinkPLSA(2, random_state=0).fit(views)
    >>> mdata = to_mudata(model, views)
    >>> mdata.obsm["X_coview"].shape, mdata.mod["rna"].varm["coview_topics"].shape
    ((2, 2), (2, 2))
    """
    from coview.views.container import Views

    mdata = _as_mudata(data) if isinstance(data, Views) else open_mudata(data)
    with _quiet():
        mdata = mdata.copy() if mdata.is_view else mdata
        mixtures, labels = _results(model, mdata, layers)
        topics = {name: _topics(model, mdata.mod[name], name) for name in _shared(model, mdata)}
        mdata.obsm[f"X_{key}"] = mixtures
        mdata.obs[key] = _as_categories(labels, _topic_names(model))
        for name, p_w_z in topics.items():
            mdata.mod[name].varm[f"{key}_topics"] = p_w_z
        mdata.uns[key] = _settings(model)
        if path is not None:
            _write(mdata, Path(path))
    return mdata


def _as_mudata(views: Views) -> Any:
    """Return views as modalities; a cell that lacks a view is not listed in it."""
    with _quiet():
        mudata, anndata = need("mudata", extra="scverse"), need("anndata", extra="scverse")
        pandas = need("pandas", extra="scverse")
        cells = np.arange(len(views)) if views.ids is None else views.ids
        parts = {}
        for name, there in zip(views.names, views.present.T, strict=True):
            known = views.features[name]
            names = np.arange(views[name].shape[1]) if known is None else known
            parts[name] = anndata.AnnData(
                sp.csr_matrix(views[name][there]),
                obs=pandas.DataFrame(index=cells[there].astype(str)),
                var=pandas.DataFrame(index=names.astype(str)),
            )
        return mudata.MuData(parts)


def _shared(model: Any, mdata: Any) -> list[str]:
    shared = [name for name in model.view_names_ if name in mdata.mod]
    if not shared:
        raise ValueError(
            f"The model knows the views {listing(model.view_names_, 20)}, the data have the "
            f"modalities {listing(mdata.mod, 20)}: none in common."
        )
    return shared


def _results(
    model: Any, mdata: Any, layers: Mapping[str, str] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return mixtures (cells, topics) and labels of all cells, in their order."""
    shared = _shared(model, mdata)
    known = getattr(model, "doc_ids_", None)
    row_of = {} if known is None else {name: row for row, name in enumerate(known)}
    rows = [row_of.get(name, -1) for name in mdata.obs_names]
    if min(rows) >= 0:
        return model.doc_topic_[rows], model.labels_[rows]
    from coview.views.container import Views

    used = {name: layer for name, layer in (layers or {}).items() if name in shared}
    views = Views(**read_mudata(mdata, shared, used))
    return np.asarray(model.predict_proba(views)), model.predict(views)


def _topics(model: Any, part: Any, name: str) -> np.ndarray:
    """Return p(w|z) of a modality (variables, topics); 0 for variables unknown to the model."""
    p_w_z, known = model.components_[name], model.feature_names_[name]
    if known is None:
        if p_w_z.shape[1] != part.n_vars:
            raise ValueError(
                f"Modality {quoted(name)} has {plural(part.n_vars, 'variable')}, the model was "
                f"fitted on {p_w_z.shape[1]:,} without names."
            )
        return np.ascontiguousarray(p_w_z.T)
    column_of = {term: column for column, term in enumerate(known)}
    columns = np.array([column_of.get(term, -1) for term in part.var_names])
    return np.where(columns[:, np.newaxis] >= 0, p_w_z.T[columns], 0)


def _topic_names(model: Any) -> Sequence[str | None]:
    """Return the names of the topics; models of earlier versions have none."""
    return getattr(model, "topic_names_", None) or [None] * model.doc_topic_.shape[1]


def _as_categories(labels: np.ndarray, topic_names: Sequence[str | None]) -> Any:
    """Return topics as categories, so that plots give each its own color.

    Where all have names, such as the topics of a classifier, these; otherwise numbers. A cell that
    the model knows nothing of has none.
    """
    named = None not in topic_names and len(set(topic_names)) == len(topic_names)
    names = topic_names if named else [str(topic) for topic in range(len(topic_names))]
    return need("pandas", extra="scverse").Categorical.from_codes(labels, names)


def _settings(model: Any) -> dict[str, Any]:
    params = model.get_params(deep=False)
    return {
        "model": type(model).__name__,
        "params": json.dumps(params, default=lambda value: f"<{type(value).__name__}>"),
        "views": list(model.view_names_),
        "view_weights": {name: float(weight) for name, weight in model.view_weights_.items()},
        "objective": float(model.objective_),
        "seed": int(model.random_state_used_),
    }


def _write(mdata: Any, path: Path) -> None:
    """Write a file beside the target and move it into place when it is complete."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".coview-") as beside:
        new = Path(beside, "new.h5mu")
        need("mudata", extra="scverse").write_h5mu(new, mdata)
        with new.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
