"""Multi-omics data (MuData, .h5mu files of scverse): read as views, and results written back.

Cells are documents, modalities are views, and genes or proteins are terms. A cell that a modality
does not list lacks the view. Results are written where the tools of scverse expect them:

    obsm["X_<key>"]                  mixtures p(z|d), cells x topics
    obs["<key>"]                     topic of each cell, as a category
    mod[view].varm["<key>_topics"]   p(w|z), variables x topics
    uns["<key>"]                     the model and its settings

Files are read by the HDF5 library, which some damaged files crash: they are read in a child process
(`coview.reading.child_process`), so that a damaged file is an error that names it.
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
from coview.reading.child_process import call_in_child, iterate_in_child
from coview.reading.plain_files import check_room, read_file
from coview.store import replacing
from coview.views.checks import DataWarning, check_names
from coview.views.contents import take_documents
from coview.views.labels import is_unlabeled
from coview.views.matrix_checks import check_matrix
from coview.wording import argument, listing, plural, quoted

if TYPE_CHECKING:
    from coview.views.container import Views

# names of layers that hold counts, by custom; the first that does is read
COUNT_LAYERS = ("counts", "raw_counts", "umi_counts", "count", "raw", "umi")
_AXES = ("obs", "var")
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
    parts: Iterator[Any]
    if isinstance(data, str | os.PathLike):
        parts = iterate_in_child(_read_file, Path(data), modalities, layers, label)
    else:
        parts = _read_parts(_checked(data), modalities, layers, label)
    arguments: dict[str, Any] = {"data": {}, "present": {}, "features": {}, **next(parts)}
    for name, *of_view in parts:
        for key, value in zip(("data", "present", "features"), of_view, strict=True):
            arguments[key][name] = value
    return arguments


def _read_file(
    path: Path,
    modalities: Sequence[str] | None,
    layers: Mapping[str, str] | None,
    label: str | None,
) -> Iterator[Any]:
    yield from _read_parts(_open_file(path), modalities, layers, label)


def _read_parts(
    mdata: Any,
    modalities: Sequence[str] | None,
    layers: Mapping[str, str] | None,
    label: str | None,
) -> Iterator[Any]:
    """Yield what concerns all views, then name, matrix, mask and features of each view."""
    cells = _unique(mdata.obs_names, "cells", "obs")
    names = _chosen(mdata, modalities, layers or {})
    parts = {name: mdata.mod[name] for name in names}
    yield {"ids": cells, **({} if label is None else _labels(mdata.obs, label))}
    del mdata  # a modality is freed as soon as it is sent: the parent takes as much memory for it
    for name in names:
        part = parts.pop(name)
        features = _unique(part.var_names, f"variables of modality {quoted(name)}", "var")
        listed = _unique(part.obs_names, f"cells of modality {quoted(name)}", "obs")
        matrix = _counts_of(part, name, (layers or {}).get(name))
        counts = check_matrix(matrix, name, ids=listed, features=features)
        present = np.isin(cells.astype(str), listed.astype(str))
        yield name, take_documents(counts, listed, cells.tolist()), present, features


def open_mudata(data: Any) -> Any:
    """Return a MuData object, read from a file if a path is given."""
    if not isinstance(data, str | os.PathLike):
        return _checked(data)
    # an object of MuData cannot be sent, so the child writes a sound copy
    with tempfile.TemporaryDirectory(prefix="coview-") as folder:
        copy = Path(folder, "copy.h5mu")
        call_in_child(_write_copy, Path(data), copy)
        return _open_file(copy)


def _write_copy(path: Path, copy: Path) -> None:
    mdata = _open_file(path)
    with _quiet():
        need("mudata", extra="scverse").write_h5mu(copy, mdata)


def _open_file(path: Path) -> Any:
    with _quiet():
        return _checked(read_file(path, _load))


def _checked(data: Any) -> Any:
    with _quiet():
        mudata = need("mudata", extra="scverse")
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
        n_cells = _check_names_are_there(file)
    check_room(sum(sizes))
    mdata = need("mudata", extra="scverse").read_h5mu(path)
    if mdata.n_obs != n_cells:
        raise ValueError(
            f"its modalities list {plural(mdata.n_obs, 'cell')}, its obs {n_cells:,}. Damage, or a "
            "file that was not brought up to date: mdata.update()"
        )
    return mdata


def _check_names_are_there(file: Any) -> int:
    """Return the number of cells; refuse a file for whose lost names numbers would be made."""
    places = [f"{axis} of modality {quoted(name)}" for name in file["mod"] for axis in _AXES]
    parts = [file[f"mod/{name}"].get(axis) for name in file["mod"] for axis in _AXES]
    for place, part in zip(["obs", *places], [file.get("obs"), *parts], strict=True):
        if part is None or _index_of(part) not in part:
            raise ValueError(f"it has no names in {place}")
    return len(file["obs"][_index_of(file["obs"])])


def _index_of(part: Any) -> str:
    return str(part.attrs.get("_index", "_index"))


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
    """Return the matrix of a modality, if it can be counts.

    If no layer is asked for and X is not whole numbers, a layer of counts is read instead.
    """
    if not hasattr(part, "layers") or part.layers is None:
        raise ValueError(f"Modality {quoted(name)} has modalities of its own; read them alone.")
    layers = list(part.layers)
    if layer is None and (found := _counts_layer(part)) is not None:
        _warn(
            f"X of modality {quoted(name)} is not counts ({_kind(part.X)}), so its layer "
            f"{quoted(found)} is read. To say which: "
            f"{argument('layers', {name: found})}, or {argument('layers', {name: 'X'})} for X."
        )
        return part.layers[found]
    in_x = layer is None or (layer == "X" and layer not in layers)
    if not in_x and layer not in layers:
        raise ValueError(
            f"Modality {quoted(name)} has no layer {quoted(layer)}; it has {_listed(layers)}."
        )
    matrix = part.X if in_x else part.layers[layer]
    where = f"{'X' if in_x else f'Layer {quoted(layer)}'} of modality {quoted(name)}"
    choice = argument("layers", {name: "..."}) if layers else argument("layers")
    advice = f"Choose raw counts: {choice}; it has {_listed(layers)}."
    if matrix is None:
        raise ValueError(f"{where} is empty. {advice}")
    if _has_negative(_values(matrix)):
        raise ValueError(f"{where} has negative values, so it was scaled. {advice}")
    if not _is_counts(matrix):
        _warn(
            f"{where} is not counts ({_kind(matrix)}): models expect counts, not logarithms or "
            f"shares of them. {advice}"
        )
    return matrix


def _counts_layer(part: Any) -> str | None:
    """Return the layer that holds the counts, if X does not."""
    if _is_counts(part.X):
        return None
    by_name = {str(layer).casefold(): layer for layer in part.layers}
    named = (by_name[name] for name in COUNT_LAYERS if name in by_name)
    return next((layer for layer in named if _is_counts(part.layers[layer])), None)


def _is_counts(matrix: Any) -> bool:
    """Return whether all values are whole and none is negative; what is no number is not."""
    if matrix is None:
        return False
    values = _values(matrix)
    return values.dtype.kind in "biu" or bool(
        values.dtype.kind == "f" and ((values == np.floor(values)) & (values >= 0)).all()
    )


def _has_negative(values: np.ndarray) -> bool:
    return values.dtype.kind in "if" and bool((values < 0).any())


def _values(matrix: Any) -> np.ndarray:
    """Return the stored values; where they are is not checked yet, so nothing may use it."""
    return np.asarray(matrix.data if sp.issparse(matrix) else matrix)


def _kind(matrix: Any) -> str:
    """Return what shows that a matrix is not counts."""
    if matrix is None:
        return "it is empty"
    values = _values(matrix)
    if values.dtype.kind != "f":
        return f"it is of the type {values.dtype}"
    bad = values[(values != np.floor(values)) | (values < 0)]
    return f"it has values such as {bad[0]:.4g}"


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)


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
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        need("mudata", extra="scverse").write_h5mu(beside, mdata)
