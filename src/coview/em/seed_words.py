"""The parameter `seeds`: its forms, its checks, and the names and numbers of topics.

    {"sport": {"en": ["goal", "coach"], "de": {"tor": 2.0}}, 3: {"en": ["vote"]}}

A topic is named or numbered; its words are a list or have weights; a model of one view also takes
the words without the name of the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np

from coview.params import check_factor, check_positive
from coview.wording import plural

EXAMPLE = '{"sport": {"en": ["goal", "coach"]}}'
Word = str | int
TopicNames = list[str | None]


def check_seeds(seeds: Any) -> None:
    """Check the form of `seeds`, as far as it can be without data."""
    if seeds is None:
        return
    if not isinstance(seeds, Mapping):
        raise ValueError(
            f"seeds must be a dict of topics, each with its words by view, such as {EXAMPLE}, or "
            f"None; got {seeds!r}."
        )
    for topic, by_view in seeds.items():
        if not _is_number(topic) and not (isinstance(topic, str) and topic):
            raise ValueError(
                f"The topics of seeds must be names or numbers, such as {EXAMPLE}; got {topic!r}."
            )
        for view, words in _by_view(by_view).items():
            _weighted_words(words, f"seeds[{topic!r}]" + ("" if view is None else f"[{view!r}]"))


def names_of(init: Any, n_topics: int) -> TopicNames:
    """Return the names of the topics of a model given as init, None for those without one."""
    names = getattr(init, "topic_names_", ())
    return list(names) if len(names) == n_topics else [None] * n_topics


def hidden_of(init: Any, n_topics: int) -> np.ndarray:
    """Return the topics that a model given as init hides: a refit keeps them, as it does names."""
    hidden = getattr(init, "hidden_topics_", ())
    same = getattr(init, "_n_features_out", None) == n_topics
    return np.asarray(hidden if same else (), dtype=np.int64)


def number_seeds(
    seeds: Mapping[Any, Any] | None, n_topics: int, names: Sequence[str | None]
) -> tuple[dict[int, Any], TopicNames]:
    """Return seeds by the number of their topic, and the name of each topic.

    A topic given by number has it; a name among `names` has its place there; the other names take
    the first numbers that are free, in their order.
    """
    if seeds is None:
        return {}, list(names)
    found = {int(key): words for key, words in seeds.items() if not isinstance(key, str)}
    outside = [z for z in found if not 0 <= z < n_topics]
    if outside:
        raise ValueError(
            f"seeds give words to topic {outside[0]}; n_components={n_topics} has the topics 0 to "
            f"{n_topics - 1}."
        )
    if len(seeds) > n_topics:
        raise ValueError(
            f"seeds name {plural(len(seeds), 'topic')}; n_components is {n_topics}. Give more "
            "topics, or seeds for fewer."
        )
    named = list(names)
    for key in (k for k in seeds if isinstance(k, str)):
        z = named.index(key) if key in named else _free(n_topics, found, seeds, named)
        if z in found:
            raise ValueError(f"seeds have words for topic {z} twice: as {z} and as {key!r}.")
        found[z], named[z] = seeds[key], key
    return found, named


def _free(n_topics: int, taken: Iterable[int], seeds: Mapping, names: TopicNames) -> int:
    """Return the first topic without seeds and a name; without seeds, if all have names."""
    kept = {names.index(key) for key in seeds if key in names}
    free = [z for z in range(n_topics) if z not in taken and z not in kept]
    return next((z for z in free if names[z] is None), free[0])


def find_words(
    seeds: Mapping[int, Any],
    features: Mapping[str, np.ndarray | None],
    widths: Sequence[int],
    recipes: Mapping[str, Any],
) -> list[dict[int, dict[int, float]]]:
    """Return the weights of seeds by view, topic and column, from their words.

    Recipes know why they left out a word.
    """
    found: dict[str, dict[int, dict[int, float]]] = {name: {} for name in features}
    for z, by_view in seeds.items():
        for view, words in _by_view(by_view).items():
            name = _known_view(view, tuple(features))
            width = widths[list(features).index(name)]
            weighted = _weighted_words(words, "seeds")
            found[name][z] = _columns(weighted, features[name], width, name, recipes[name])
    return list(found.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _by_view(words: Any) -> dict[Any, Any]:
    """Return the words of a topic by view; None stands for the only view."""
    if not isinstance(words, Mapping):
        return {None: words}
    weights = words.values()
    if weights and not any(isinstance(w, Mapping | Sequence | np.ndarray) for w in weights):
        return {None: words}  # weights of words, not words of views
    return dict(words)


def _weight(name: str, value: Any) -> float:
    return check_factor(name, check_positive(name, value))


def _weighted_words(words: Any, where: str) -> dict[Word, float]:
    """Return words with their weights, 1 unless given."""
    if isinstance(words, Mapping):
        return {_word(w, where): _weight(f"{where}[{w!r}]", x) for w, x in words.items()}
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ValueError(
            f"{where} must be a list of words or a dict of their weights; got {words!r}. Seeds are "
            f"given as in {EXAMPLE}."
        )
    return {_word(w, where): 1.0 for w in words}


def _word(word: Any, where: str) -> Word:
    if isinstance(word, str):
        return str(word)
    if _is_number(word):
        return int(word)
    raise ValueError(f"{where} must have words, or numbers of columns; got {word!r}.")


def _known_view(view: Any, names: tuple[str, ...]) -> str:
    if view is None and len(names) == 1:
        return names[0]
    if view is None:
        raise ValueError(
            f"seeds must say of which view their words are: the data have {', '.join(names)}. Give "
            f"them as in {EXAMPLE}."
        )
    if view not in names:
        raise ValueError(f"seeds name the view {view!r}; the data have {', '.join(names)}.")
    return view


def _columns(
    words: Mapping[Word, float], features: np.ndarray | None, width: int, view: str, recipe: Any
) -> dict[int, float]:
    """Return the weights by column."""
    places = {} if features is None else {str(name): i for i, name in enumerate(features)}
    columns, unknown = {}, []
    for word, weight in words.items():
        is_column = _is_number(word) or (features is None and str(word).isdecimal())
        place = int(word) if is_column else places.get(str(word), -1)
        if 0 <= place < width:
            columns[place] = weight
        else:
            unknown.append(word)
    if unknown:
        raise ValueError(_unknown_words(unknown, features, width, view, recipe))
    return columns


def _unknown_words(
    unknown: Sequence[Word], features: np.ndarray | None, width: int, view: str, recipe: Any
) -> str:
    listed = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
    what = f"View {view!r} has no {'term' if len(unknown) == 1 else 'terms'} {listed}"
    if features is None:
        return f"{what}: its terms have no names; give the numbers of columns, 0 to {width - 1}."
    close = get_close_matches(str(unknown[0]).lower(), map(str, features), n=3)
    hint = f" Close to {unknown[0]!r}: {', '.join(close)}." if close else ""
    reasons = recipe.unknown_words(str(unknown[0])) if hasattr(recipe, "unknown_words") else {}
    told = [f" {word!r} is {why}." for word, why in reasons.items()]
    return (
        f"{what}, which seeds give to a topic.{''.join(told)}{hint} Leave them out, or read the "
        "data so that they are kept (lower case, min_df, max_df, stop words)."
    )
