"""What a person says about topics: names, topics that are one, and topics not worth showing.

The explorer writes it as JSON, and `model.with_topics` applies it:

    {"coview_curation": 1, "model": fingerprint, "names": {"3": "Sports"}, "merge": [[1, 4]],
     "hide": [7]}

Topics are those of the model that the fingerprint is of. Merged topics become one, in the place of
the lowest: the sum of its parts, see `coview.merging`. The topics after it move up. Hidden topics
stay in the model, since documents have shares in them; lists of topics leave them out.
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

from coview.merging import merge_topics
from coview.models import topic_model
from coview.reporting import topic_names
from coview.retrieval.files import model_fingerprint
from coview.tree import tree_of
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
    made = merge_topics(model, new_of) if found.groups else copy(model)
    made.topic_names_ = names
    if getattr(made, "topic_tree_", None) is not None:
        made.topic_tree_ = tree_of(made)  # with these names
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
