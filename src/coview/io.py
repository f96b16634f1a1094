"""Model files: save a fitted model to one sealed file (`coview.store`), and load it.

Parameters, fitted attributes, the trace, the names of the features and the recipes of the views
are written as JSON and plain arrays, and read back into classes of a fixed list. Pickle is never
used. A loaded model gives the same bits as the one that was saved.

    model.save("news.coview")
    model = coview.load("news.coview")
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from coview.loaded import understood
from coview.model_checks import check_model
from coview.models import MODEL_NAMES
from coview.store import (
    pack_texts,
    read_header,
    read_sealed,
    renamed,
    unpack_texts,
    write_sealed,
)

if TYPE_CHECKING:  # what only shows a model must not wait for SciPy and scikit-learn
    from coview.reading.recipes import Recipe

KIND = "model"
_CLASSES = {name: f"coview.models.{module}" for module, name in MODEL_NAMES.values()}
_CLASSES["TopicClassifier"] = "coview.classifier"
# names that differ in early files of format 1, {old: new}
_OLD_NAMES = {"model": "estimator", "model_": "estimator_", "topic_centres_": "topic_centers_"}
_OLD_NAMES |= {"unlabelled": "unlabeled"}
_LATER_NAMES = ("topic_stability_", "doc_confidence_")  # None in files written before they existed
_NUMBERS = "biuf"  # kinds of NumPy types that are written as tensors
_NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
_OF_THE_RUN = ("n_jobs", "verbose")  # parameters that do not change a fit, hence not its file
_PRIVATE = ("_n_features_out",)  # fitted attributes in spite of their names
_RECORDS = {  # {kind: (module, class)}
    "trace": ("coview.em.trace", "Trace"),
    "why": ("coview.automatic", "Why"),
    "strength_path": ("coview.strength", "StrengthPath"),
    "topic_tree": ("coview.tree", "TopicTree"),
    "view_reliability": ("coview.ensemble.reliability", "ViewReliability"),
    "search_evidence": ("coview.retrieval.evidence", "SearchEvidence"),
    "view_terms": ("coview.retrieval.evidence", "ViewTerms"),
    "pair_evidence": ("coview.retrieval.evidence", "PairEvidence"),
}


class _NotData(TypeError):
    """A value that is not plain data, such as code or a whole training set."""


@dataclass(frozen=True)
class _RecipeAndTerms:
    """A recipe with its vocabulary, which is written as the names of the features."""

    recipe: Recipe
    features: np.ndarray


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; an existing file is replaced once the new one is complete.

    Parameters that are not plain data (a graph, a random generator, a model given as `init`) are
    left out, with a warning: the loaded model has their default values, and predicts the same.
    A recipe that holds code, such as a user's own function, is left out too: the loaded model
    cannot read raw documents of that view. `n_jobs` and `verbose` are not written, so the same fit
    gives the same bytes whatever they were.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    path : path
        Usually with the suffix ``.coview``.
    """
    from coview.models import fitted_model
    from coview.views.checks import DataWarning

    fitted_model(model)
    packer = Packer()
    header = packer.pack(model)
    for what, values in packer.left_out.items():
        if values:
            warnings.warn(
                f"{what} not saved, since they are not plain data: {', '.join(values)}. The loaded "
                "model does without them.",
                DataWarning,
                stacklevel=3,
            )
    write_sealed(path, KIND, header, packer.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    fitted model or TopicClassifier

    Raises
    ------
    DamagedFile
        If a single bit is not as it was written, if the file was not written by coview (pickles
        are refused unread), or if it needs a newer version of coview.

    Examples
    --------
    >>> import tempfile, coview
    >>> model = coview.PLSA(2, random_state=0).fit([[5, 1, 0], [0, 1, 4]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/small.coview")
    ...     again = coview.load(f"{folder}/small.coview")
    >>> bool((again.transform([[1, 1, 0]]) == model.transform([[1, 1, 0]])).all())
    True
    """
    return read_model(path, Unpacker)


def read_model(path: str | os.PathLike[str], unpacker: type[Unpacker]) -> Any:
    """Read a model file and check it; `unpacker` says what its parts become."""
    header, tensors = read_sealed(path, KIND)
    with understood(path, KIND):
        model = unpacker(tensors).unpack(header)
        check_model(model)
    return model


def info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a model file as plain data, without reading its arrays.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict
        ``class`` and ``model`` (the class of the topic model, which a classifier has inside),
        ``library_version``, ``format_version``, ``params``, ``attributes`` (their names),
        ``tensors`` (their number) and ``bytes``.
    """
    sealed = read_header(path, KIND)
    with understood(path, KIND):
        return _summary(path, sealed)


def _summary(path: str | os.PathLike[str], sealed: dict[str, Any]) -> dict[str, Any]:
    header = sealed["header"]
    attributes = renamed(header["attributes"], _OLD_NAMES)
    inner = attributes["estimator_"] if header["class"] == "TopicClassifier" else header
    return {
        "class": header["class"],
        "model": inner["class"],
        "library_version": sealed["library_version"],
        "format_version": sealed["format_version"],
        "params": Unpacker({}).summary(_rename_params(inner["params"])),
        "attributes": sorted(renamed(inner["attributes"], _OLD_NAMES)),
        "tensors": len(sealed["sha256"]),
        "bytes": os.path.getsize(path),
    }


# -- values as JSON and tensors -------------------------------------------------------------------


class Packer:
    """Turn values into JSON; arrays go to `tensors`, each once even if it is used repeatedly."""

    def __init__(self, prefix: str = "t", sparse: bool = False) -> None:
        self._prefix = prefix
        self.sparse = sparse  # whether sparse matrices are data; a graph as a parameter is not
        self.tensors: dict[str, np.ndarray] = {}
        self.left_out: dict[str, list[str]] = {"Parameters": [], "Attributes": []}
        self._seen: dict[int, tuple[np.ndarray, str]] = {}

    def pack(self, value: Any) -> Any:
        """Return a value as JSON; what JSON lacks becomes {"$": kind, ...}."""
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, np.generic):
            return self.pack(value.item())
        if isinstance(value, float):
            return value if np.isfinite(value) else {"$": "float", "value": str(value)}
        if isinstance(value, list):
            return [self.pack(item) for item in value]
        if isinstance(value, tuple):
            return {"$": "tuple", "items": [self.pack(item) for item in value]}
        if isinstance(value, dict):
            return {"$": "dict", "items": [[k, self.pack(v)] for k, v in self._items(value)]}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, type | np.dtype) and value in (np.float32, np.float64, float):
            return np.dtype(value).name
        if self.sparse and type(value).__name__ == "csr_array":
            parts = [self._tensor(a) for a in (value.data, value.indices, value.indptr)]
            return {"$": "csr", "parts": parts, "width": value.shape[1]}
        for kind, home in _RECORDS.items():
            if (type(value).__module__, type(value).__name__) == home:
                before, self.sparse = self.sparse, self.sparse or kind == "search_evidence"
                packed = {f.name: self.pack(getattr(value, f.name)) for f in fields(value)}
                self.sparse = before
                return {"$": kind, "fields": packed}
        if isinstance(value, _RecipeAndTerms):
            return self._recipe(value)
        if type(value).__name__ in _CLASSES and type(value).__module__.startswith("coview."):
            return self._model(value)
        raise _NotData(type(value).__name__)

    def _items(self, value: dict) -> list[tuple[Any, Any]]:
        # pairs of views in `strength`, numbers of topics in `seeds`; True is no number here
        keys = [part for key in value for part in (key if isinstance(key, tuple) else (key,))]
        if not all(isinstance(key, str) or type(key) is int for key in keys):
            raise _NotData("a dict whose keys are not texts or numbers")
        return list(value.items())

    def _array(self, array: np.ndarray) -> dict[str, Any]:
        if array.dtype.kind in _NUMBERS:
            return {"$": "array", "tensor": self._tensor(array)}
        texts = array.ravel().tolist()
        if array.ndim != 1 or not all(isinstance(text, str) for text in texts):
            raise _NotData(f"an array of {array.dtype}")
        blob, ends = pack_texts(texts)
        kind = "O" if array.dtype.kind == "O" else "U"
        return {"$": "texts", "blob": self._tensor(blob), "ends": self._tensor(ends), "dtype": kind}

    def _tensor(self, array: np.ndarray) -> str:
        """Return the name of the tensor; mixtures that several views share are written once."""
        if id(array) not in self._seen:
            name = f"{self._prefix}{len(self.tensors):03d}"
            self.tensors[name] = array
            self._seen[id(array)] = array, name  # a reference keeps the id from being reused
        return self._seen[id(array)][1]

    def _model(self, model: Any) -> dict[str, Any]:
        state = {n: v for n, v in vars(model).items() if _is_fitted_name(n)}
        recipes, voters = state.pop("recipes_", None), state.pop("voters_", None)
        packed = self._plain(state)
        if recipes is not None:
            names = state["feature_names_"]
            kept = {v: _RecipeAndTerms(r, names[v]) for v, r in recipes.items() if r is not None}
            packed["recipes_"] = self._named(kept)
        if voters is not None:
            packed["voters_"] = self._named(voters)
        given = {n: v for n, v in model.get_params(deep=False).items() if n not in _OF_THE_RUN}
        params = self._plain(given, "Parameters")
        name = type(model).__name__
        return {"$": "model", "class": name, "params": params, "attributes": packed}

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        """Pack values one by one, so that one that is code does not drop the others."""
        return {"$": "dict", "items": [[n, v] for n, v in self._plain(values).items()]}

    def _recipe(self, kept: _RecipeAndTerms) -> dict[str, Any]:
        try:
            settings, arrays = kept.recipe.as_data()
        except ValueError as error:
            raise _NotData(str(error)) from error
        return {
            "$": "recipe",
            "kind": kept.recipe.kind,
            "settings": self.pack(settings),
            "arrays": self.pack(arrays),
            "features": self.pack(kept.features),
        }

    def _plain(self, values: dict[str, Any], what: str = "Attributes") -> dict[str, Any]:
        """Return the values that are data; note the others in `left_out`."""
        packed = {}
        for name, value in values.items():
            try:
                packed[name] = self.pack(value)
            except _NotData as error:
                self.left_out[what].append(f"{name} ({error})")
        return packed


class Unpacker:
    """Turn JSON back into values: only kinds that `Packer` writes, only classes of coview."""

    def __init__(self, tensors: dict[str, np.ndarray]) -> None:
        self._tensors = tensors
        self._readers: dict[str, Callable[[dict], Any]] = {
            "float": self._float,
            "tuple": self._tuple,
            "dict": self._dict,
            "array": self._array,
            "csr": self._csr,
            "texts": self._texts,
            **dict.fromkeys(_RECORDS, self._record),
            "recipe": self._recipe,
            "model": self._model,
        }

    def unpack(self, value: Any) -> Any:
        """Return the value that `Packer.pack` turned into this JSON."""
        if isinstance(value, list):
            return [self.unpack(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value["$"] not in self._readers:
            raise ValueError(f"it holds a value of the kind {value['$']!r}")
        return self._readers[value["$"]](value)

    def summary(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters for display, with a placeholder for each array."""
        return {n: v if not isinstance(v, dict) else self._brief(v) for n, v in params.items()}

    def _brief(self, value: dict) -> Any:
        return "<array>" if value["$"] in ("array", "texts") else self.unpack(value)

    def _float(self, value: dict) -> float:
        return _NON_FINITE[value["value"]]

    def _tuple(self, value: dict) -> tuple:
        return tuple(self.unpack(item) for item in value["items"])

    def _dict(self, value: dict) -> dict:
        # JSON has written a key that is a tuple, such as a pair of views, as a list
        items = ((tuple(k) if isinstance(k, list) else k, v) for k, v in value["items"])
        return {key: self.unpack(item) for key, item in items}

    def _array(self, value: dict) -> np.ndarray:
        return self._tensors[value["tensor"]]

    def _csr(self, value: dict) -> Any:
        from coview.loaded import sparse_rows

        data, indices, indptr = (self._tensors[name] for name in value["parts"])
        return sparse_rows(data, indices, indptr, value["width"])

    def _texts(self, value: dict) -> np.ndarray:
        texts = unpack_texts(self._tensors[value["blob"]], self._tensors[value["ends"]])
        if value["dtype"] == "U":
            return np.array(texts, dtype=str)
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
        return array

    def _record(self, value: dict) -> Any:
        module, name = _RECORDS[value["$"]]
        cls = getattr(import_module(module), name)
        known = {f.name for f in fields(cls)}
        return cls(**{n: self.unpack(v) for n, v in value["fields"].items() if n in known})

    def _recipe(self, value: dict) -> Any:
        from coview.reading.patterns import UnsafePattern
        from coview.reading.recipes import recipe_class, warn_of_unused

        parts = [self.unpack(value[name]) for name in ("settings", "arrays", "features")]
        try:
            return recipe_class(value["kind"]).from_data(*parts)
        except UnsafePattern as error:
            source = str(parts[0].get("source"))
            warn_of_unused(f"The recipe of {source!r}", source, str(error))
            return None

    def _model(self, value: dict) -> Any:
        cls = getattr(import_module(home_of(value["class"])), value["class"])
        known = inspect.signature(cls).parameters
        params = {
            n: self.unpack(v) for n, v in _rename_params(value["params"]).items() if n in known
        }
        model = cls(**params)
        self._set_attributes(model, value)
        return model

    def _set_attributes(self, model: Any, value: dict) -> None:
        for name, attribute in renamed(value["attributes"], _OLD_NAMES).items():
            if not _is_fitted_name(name):
                raise ValueError(f"it has an attribute {name!r}")
            setattr(model, name, self.unpack(attribute))
        for name in _LATER_NAMES if hasattr(model, "doc_topic_") else ():
            model.__dict__.setdefault(name, None)
        if hasattr(model, "recipes_"):  # views without a recipe were not written
            model.recipes_ = {view: model.recipes_.get(view) for view in model.view_names_}


def home_of(name: str) -> str:
    """Return the module of a class of models; refuse any other class."""
    if name not in _CLASSES:
        raise ValueError(f"it is of the class {name!r}, which is not a model")
    return _CLASSES[name]


def _rename_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return packed parameters with their present names and values."""
    params = renamed(params, _OLD_NAMES)
    if "monotone" in params:
        params["step"] = "safe" if params.pop("monotone") else "paper"
    return params


def _is_fitted_name(name: str) -> bool:
    return name in _PRIVATE or (name.endswith("_") and not name.startswith("_"))
