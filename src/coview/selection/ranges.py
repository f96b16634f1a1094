"""Candidates for a number of topics: how they are written, and which are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from coview.params import check_int
from coview.wording import plural

if TYPE_CHECKING:
    import numpy as np

MAX_CANDIDATES = 40  # with more, a coarse grid first


def parse_topics(topics: Any) -> list[int]:
    """Return candidates in ascending order from "5:40", "5:40:5", or numbers.

    >>> parse_topics("5:20:5"), parse_topics([8, 4])
    ([5, 10, 15, 20], [4, 8])
    """
    numbers = _parse_range(topics) if isinstance(topics, str) else _listed(topics)
    if not numbers:
        raise ValueError("There is no number of topics to try; give a range such as '5:40'.")
    return sorted({check_int("topics", k, 2, " to be compared with others") for k in numbers})


def _listed(topics: Any) -> list[Any]:
    if isinstance(topics, Iterable):
        return list(topics)
    raise ValueError(
        f"topics must be a range such as '5:40', or several numbers of topics; got {topics!r}."
    )


def _parse_range(text: str) -> list[int]:
    try:
        low, high, *step = (int(part) for part in text.split(":"))
    except ValueError as error:
        raise ValueError(
            f"A range of topics looks like 5:40, or 5:40:5 in steps of 5; got {text!r}."
        ) from error
    if len(step) > 1 or (step and step[0] < 1):
        raise ValueError(f"A range of topics is LOW:HIGH or LOW:HIGH:STEP; got {text!r}.")
    if low > high:
        raise ValueError(
            f"The range of topics {text!r} is reversed: the smaller number comes first, "
            f"{high}:{low}."
        )
    return list(range(low, high + 1, *step))


def check_candidates(candidates: Sequence[int], n_docs: int, n_all: int) -> None:
    """Refuse more topics than there are documents to look at."""
    if candidates[-1] <= n_docs:
        return
    looked_at = "" if n_docs == n_all else f", of which {n_docs:,} are looked at"
    raise ValueError(
        f"{candidates[-1]:,} topics are more than there are documents: the data have "
        f"{plural(n_all, 'document')}{looked_at}. Try at most {max(n_docs // 2, 2):,}."
    )


def coarse_grid(candidates: Sequence[int], extra: Sequence[int]) -> list[int]:
    """Return all candidates, or forty if there are more: dense where numbers are small."""
    import numpy as np

    if len(candidates) <= MAX_CANDIDATES:
        return list(candidates)
    known = np.array(candidates)
    wanted = np.concatenate([np.geomspace(known[0], known[-1], MAX_CANDIDATES - len(extra)), extra])
    return np.unique(known[nearest_places(known, wanted)]).tolist()


def refined_grid(candidates: Sequence[int], coarse: Sequence[int], best: int) -> list[int]:
    """Return the candidates from the coarse number below the best to the one above it.

    >>> refined_grid(range(2, 20), coarse=[2, 4, 8, 16], best=8)
    [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    """
    place = list(coarse).index(best)
    low, high = coarse[max(place - 1, 0)], coarse[min(place + 1, len(coarse) - 1)]
    return [k for k in candidates if low <= k <= high]


def fit_grid(topics: Sequence[int], around: Sequence[int], n_coarse: int = 7) -> list[int]:
    """Return where to fit: a few numbers over the whole range, and all those next to some.

    >>> fit_grid(range(2, 31), around=[12])
    [2, 3, 5, 8, 10, 11, 12, 13, 14, 19, 30]
    """
    import numpy as np

    known = np.unique(topics)
    coarse = known[nearest_places(known, np.geomspace(known[0], known[-1], n_coarse))]
    places = {
        p
        for place in nearest_places(known, np.asarray(around, float))
        for p in range(place - 2, place + 3)
        if 0 <= p < len(known)
    }
    return sorted({*coarse.tolist(), *known[sorted(places)].tolist()})


def nearest_places(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the places of the values nearest to those wanted."""
    import numpy as np

    return np.abs(values[None, :] - np.asarray(wanted)[:, None]).argmin(axis=1)
