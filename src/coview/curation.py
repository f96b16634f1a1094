"""What a person says about topics: names, topics that are one, and topics not worth showing.

The explorer writes it as JSON, and `model.with_topics` applies it:

    {"coview_curation": 1, "model": fingerprint, "names": {"3": "Sports"}, "merge": [[1, 4]],
     "hide": [7]}

Topics are those of the model that the fingerprint is of. Merged topics become one in the place of
the lowest: its share of a document is the sum of theirs, and its words are their mean, weighted by
how much of the documents each has,

    p(z|d) = sum_y p(y|d)        p(w|z) = sum_y p(y) p(w|y) / sum_y p(y)        y in the group

The topics after it move up. Hidden topics stay in the model, since documents have shares in them;
lists of topics leave them out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coview.models import topic_model
from coview.reporting import topic_names
from coview.retrieval.files import model_fingerprint
from coview.wording import listing, plural, quoted

VERSION = 1
MOST_BYTES = 10_000_000  # of a curation file


@dataclass(frozen=True)
class Curation:
    """Checked changes to the topics of one model.

    Attributes
    ----------
    names : dict of int to str
    groups : list of list of int
        Topics that become one, each list in ascending order; no topic is in two of them.
    hidden : list of int
    """

    names: dict[int, str]
    groups: list[list[int]]
    hidden: list[int]


def with_topics(model: Any, curation: Any) -> Any:
    """Return a copy of a model with curated topics: see `BaseViewsModel.with_topics`."""
    check_is_fitted(model)
    if topic_model(model) is not model:
        raise ValueError(
            "The topics of a classifier are its classes, which have names and cannot be merged. "
            "Curate a model without labels."
        )
    found = read_curation(model, curation)
    names: list[str | None] = list(topic_names(model))
    for z, name in found.names.items():
        names[z] = name
    new_of = _new_numbers(len(names), found.groups)
    names = _merged_names(names, found, new_of)
    _check_unique(names)
    made = _merged(model, new_of) if found.groups else copy(model)
    made.topic_names_ = names
    hidden = {*found.hidden, *(int(z) for z in getattr(model, "hidden_topics_", ()))}
    made.__dict__.pop("hidden_topics_", None)
    if hidden:
        made.hidden_topics_ = np.unique([new_of[z] for z in hidden])
    if len(hidden) and len(made.hidden_topics_) == len(names):
        raise ValueError("The curation hides all topics: leave at least one.")
    return made


# -- reading ---------------------------------------------------------------------------------------


def read_curation(model: Any, curation: Any) -> Curation:
    """Return a curation given as a dict, as JSON or as a file; refuse that of another model."""
    given = _as_dict(curation)
    if given.get("coview_curation") != VERSION:
        raise ValueError(
            'A curation has the entry "coview_curation": 1, as the explorer writes it; found '
            f"{given.get('coview_curation')!r}."
        )
    own = model_fingerprint(model)
    if given.get("model") != own:
        raise ValueError(
            f"The curation belongs to another model (its fingerprint is "
            f"{str(given.get('model'))[:12]!r}, that of this one {own[:12]!r}): topics with the "
            "same numbers are others. Curate the explorer of this model."
        )
    n_topics = model.doc_topic_.shape[1]
    names = {
        _topic(z, n_topics, "names"): _name(name)
        for z, name in _entry(given, "names", Mapping, {}).items()
    }
    groups = [
        [_topic(z, n_topics, "merge") for z in _entry({"merge": group}, "merge", list, [])]
        for group in _entry(given, "merge", list, [])
    ]
    hidden = [_topic(z, n_topics, "hide") for z in _entry(given, "hide", list, [])]
    return Curation(names, _disjoint(groups), sorted(set(hidden)))


def _as_dict(curation: Any) -> Mapping[str, Any]:
    if isinstance(curation, Mapping):
        return curation
    if not isinstance(curation, str | PathLike):
        raise TypeError(
            "A curation is a dict, JSON, or the path of a file that the explorer wrote; got "
            f"{type(curation).__name__}."
        )
    text, where = curation, "The curation"
    if not (isinstance(curation, str) and curation.lstrip().startswith("{")):
        path = Path(curation)
        where = str(path)
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"{path} is too large for a curation.")
        text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise ValueError(f"{where} is no curation: it must be a JSON object.")
    return found


def _entry(given: Mapping[str, Any], key: str, kind: Any, default: Any) -> Any:
    value = given.get(key, default)
    if not isinstance(value, kind):
        raise ValueError(
            f"{key!r} of the curation is {type(value).__name__}, which is not expected."
        )
    return value


def _topic(value: Any, n_topics: int, key: str) -> int:
    text = str(value)
    whole = isinstance(value, int | np.integer | str) and not isinstance(value, bool)
    if not (whole and text.isascii() and text.isdigit() and int(text[:9]) < n_topics):
        raise ValueError(
            f"{key!r} of the curation has the topic {text[:50]!r}; the model has the topics 0 to "
            f"{n_topics - 1}."
        )
    return int(text[:9])


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"A name of a topic must be a text that is not empty; got {value!r}.")
    return value.strip()


def _disjoint(groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return groups without topics in common: those that share one become one."""
    found: list[set[int]] = []
    for group in groups:
        joined = set(group)
        apart = [other for other in found if not other & joined]
        for other in found:
            if other & joined:
                joined |= other
        found = [*apart, joined]
    return sorted(sorted(group) for group in found if len(group) > 1)


def _check_unique(names: Sequence[str | None]) -> None:
    known: dict[str, int] = {}
    for z, name in enumerate(names):
        if name is None:
            continue
        if name in known:
            raise ValueError(
                f"Two topics would be called {quoted(name)}: {known[name]} and {z} (as numbered "
                "after merging). Give them different names, or merge them."
            )
        known[name] = z


# -- merging ---------------------------------------------------------------------------------------


def _new_numbers(n_topics: int, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the number of each topic after merging."""
    first = np.arange(n_topics)
    for group in groups:
        first[group] = group[0]
    return np.unique(first, return_inverse=True)[1]


def _merged_names(
    names: Sequence[str | None], found: Curation, new_of: np.ndarray
) -> list[str | None]:
    """Return the names after merging: of a group, the one given now, else the first it had."""
    merged: list[str | None] = [None] * (int(new_of.max()) + 1)
    for group in ([z for z in range(len(names)) if new_of[z] == k] for k in range(len(merged))):
        given = {found.names[z] for z in group if z in found.names}
        if len(given) > 1:
            raise ValueError(
                f"The topics {listing(group)} are merged, and have {plural(len(given), 'name')}: "
                f"{listing(sorted(given))}. Name one of them."
            )
        own = [names[z] for z in group if names[z] is not None]
        merged[int(new_of[group[0]])] = next(iter(given), own[0] if own else None)
    return merged


def _merged(model: Any, new_of: np.ndarray) -> Any:
    """Return a copy of a model in which some topics are one."""
    made, n_new = copy(model), int(new_of.max()) + 1
    together = np.zeros((len(new_of), n_new))
    together[np.arange(len(new_of)), new_of] = 1.0
    p_z = _shares_of_topics(model)
    mean = _weighted_mean(together, p_z)
    made.n_components = made._n_features_out = n_new
    made.seeds = None  # they may be of topics that are gone
    made.__dict__.pop("first_docs_", None)  # a stream must not fit them to other topics
    made.doc_topic_ = _summed(model.doc_topic_, together)
    made.view_doc_topic_ = _once_each(model.view_doc_topic_, together)
    made.components_ = {n: _times(mean, p) for n, p in model.components_.items()}
    if model.topic_stability_ is not None:  # of a merged topic it is not known
        alone = np.bincount(new_of) == 1
        made.topic_stability_ = np.full(n_new, np.nan)
        made.topic_stability_[new_of] = model.topic_stability_
        made.topic_stability_[~alone] = np.nan
    _merge_own(model, made, new_of, mean, together)
    as_assigned = np.array_equal(model.labels_, model._assign(model.doc_topic_))
    made.labels_ = made._assign(made.doc_topic_) if as_assigned else new_of[model.labels_]
    return made


def _shares_of_topics(model: Any) -> np.ndarray:
    """Return how much of the documents each topic has; after `partial_fit`, of all so far."""
    if hasattr(model, "topic_counts_"):
        return sum(model.topic_counts_.values())
    return model.doc_topic_.mean(axis=0, dtype=np.float64)


def _merge_own(
    model: Any, made: Any, new_of: np.ndarray, mean: np.ndarray, together: np.ndarray
) -> None:
    """Merge what some models have beyond the common attributes."""
    own = vars(model)
    if "term_docs_" in own:
        made.term_docs_ = {n: _times(together.T, p) for n, p in model.term_docs_.items()}
        made.view_docs_ = {n: c @ together for n, c in model.view_docs_.items()}
    if "topic_counts_" in own:
        made.topic_counts_ = {n: c @ together for n, c in model.topic_counts_.items()}
    if "topic_links_" in own:
        made.topic_links_ = {n: _times(mean, p) for n, p in model.topic_links_.items()}
    if "view_shares_" in own:
        made.view_shares_ = _times(mean, model.view_shares_)
    if "topic_centers_" in own:
        made.topic_centers_ = _summed(_times(mean, model.topic_centers_), together)
    if "view_labels_" in own:
        made.view_labels_ = {n: new_of[labels] for n, labels in model.view_labels_.items()}
    if "preassigned_" in own:
        known = model.preassigned_
        made.preassigned_ = np.where(known >= 0, new_of[known], known)


def _weighted_mean(together: np.ndarray, p_z: np.ndarray) -> np.ndarray:
    """Return the weights (new topics, topics) of the mean over each group."""
    weights = together.T * np.maximum(p_z, np.finfo(float).tiny)
    return weights / weights.sum(axis=1, keepdims=True)


def _times(mean: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return (mean @ rows.astype(np.float64)).astype(rows.dtype)


def _summed(mixtures: np.ndarray, together: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((mixtures.astype(np.float64) @ together).astype(mixtures.dtype))


def _once_each(by_view: Mapping[str, np.ndarray], together: np.ndarray) -> dict[str, np.ndarray]:
    """Merge the mixtures of all views; views that share an array share the new one."""
    done: dict[int, np.ndarray] = {}
    for mixtures in by_view.values():
        if id(mixtures) not in done:
            done[id(mixtures)] = _summed(mixtures, together)
    return {name: done[id(mixtures)] for name, mixtures in by_view.items()}
