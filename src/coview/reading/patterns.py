r"""Regular expressions that come from a file: only those whose search takes linear time.

Python's `re` tries alternatives one after the other. Where a text can be read in several ways their
number may double with every character: `(x+x+)+y` takes years on forty letters x. A search cannot
be stopped from within, so a pattern is examined before it is used. `check_pattern` reads a subset
of the syntax, makes the automaton of its characters (Glushkov's: which character of the pattern can
follow which), and asks three things:

    1. Within a repetition, at most one way to go on leads to the same or another repetition.
    2. The ways are few otherwise.
    3. A search that has failed in a repetition is not begun anew at each of its characters: a
       repetition may end anywhere, or the pattern begins with \b and repeats letters only.

With 1 and 2 an attempt takes time proportional to the text it reads, with 3 all attempts together.
The patterns people write for words have these properties; the others are refused with the reason.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from typing import Any

LONGEST = 1000  # characters of a pattern
MOST_PLACES = 400  # characters of a pattern whose repetitions {m,n} are written out
MOST_WAYS = 10_000  # see 2 above
ADVICE = r"A pattern such as r'\b\w\w+\b' or r'[^\s,;]+' is fine"

Node = tuple[Any, ...]  # ("char", text), ("assert", text), ("seq" or "alt", nodes), ("repeat", ...)


class UnsafePattern(ValueError):
    """A pattern that may take for ever, or that cannot be examined."""


def check_pattern(pattern: str) -> str:
    r"""Return a regular expression, if a search with it takes time proportional to the text.

    Examples
    --------
    >>> check_pattern(r"(?u)\b\w\w+\b")
    '(?u)\\b\\w\\w+\\b'
    >>> check_pattern("(x+x+)+y")
    Traceback (most recent call last):
        ...
    coview.reading.patterns.UnsafePattern: The pattern '(x+x+)+y' could take for ever: ...
    """
    if not isinstance(pattern, str) or len(pattern) > LONGEST:
        raise UnsafePattern(f"A pattern must be a text of at most {LONGEST:,} characters.")
    try:
        re.compile(pattern)
        reader = _Reader(pattern)
        reason = _Automaton(reader.read(), reader.flags).reason()
    except (re.error, RecursionError, OverflowError, UnsafePattern) as error:
        raise UnsafePattern(f"The pattern {pattern!r} cannot be used: {error}.") from error
    if reason is not None:
        raise UnsafePattern(f"The pattern {pattern!r} could take for ever: {reason}. {ADVICE}.")
    return pattern


# -- syntax ----------------------------------------------------------------------------------------

_FLAGS = re.compile(r"\(\?([aiu]+)\)")
_REPEAT = re.compile(r"(?:([*+?])|\{(\d*)(?:(,)(\d*))?\})[?+]?")
_LOOK = re.compile(r"\(\?<?[=!]")
_ESCAPE = re.compile(r"\\(?:[wWdDsSnrtfva]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\W|_)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ASSERTIONS = ("\\b", "\\B", "\\A", "\\Z", "^", "$")


class _Reader:
    """Read a pattern into nodes; what is not known is an error."""

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern, 0
        found = _FLAGS.match(pattern)
        self.flags = f"(?{found[1]})" if found else ""
        self._at = found.end() if found else 0

    def read(self) -> Node:
        """Return the node of the whole pattern."""
        node = self._alternatives()
        if self._at < len(self._text):
            raise UnsafePattern(f"it has a {self._text[self._at]!r} too many")
        return node

    def _alternatives(self) -> Node:
        branches = [self._sequence()]
        while self._takes("|"):
            branches.append(self._sequence())
        return ("alt", branches) if len(branches) > 1 else branches[0]

    def _sequence(self) -> Node:
        items: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            items.append(self._repeated(self._atom()))
        return ("seq", items)

    def _repeated(self, node: Node) -> Node:
        found = _REPEAT.match(self._text, self._at)
        if found is None or found[0] == "{}":
            return node
        self._at = found.end()
        if found[1]:
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
        else:
            low = int(found[2] or 0)
            high = low if not found[3] else int(found[4]) if found[4] else None
        return ("repeat", node, low, high)

    def _atom(self) -> Node:
        text, at = self._text, self._at
        for assertion in _ASSERTIONS:
            if text.startswith(assertion, at):
                self._at += len(assertion)
                return ("assert", assertion)
        if text[at] == "(":
            return self._group()
        for kind in (_CLASS, _ESCAPE):
            found = kind.match(text, at)
            if found:
                self._at = found.end()
                return ("char", found[0])
        if text[at] in "[\\*+?":
            raise UnsafePattern(f"{text[at : at + 4]!r} is not read from a file")
        self._at += 1
        return ("char", text[at])

    def _group(self) -> Node:
        found = _LOOK.match(self._text, self._at)
        if found:  # what stands around, one character of it
            self._at = found.end()
            inner = self._atom()
            if inner[0] != "char" or not self._takes(")"):
                raise UnsafePattern("it looks around for more than one character")
            return ("assert", found[0])
        self._at += 1
        if self._text.startswith("?", self._at) and not self._takes("?:"):
            raise UnsafePattern(f"{self._text[self._at - 1 : self._at + 3]!r} is not read")
        node = self._alternatives()
        if not self._takes(")"):
            raise UnsafePattern("a group is not closed")
        return node

    def _takes(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found


# -- automaton -------------------------------------------------------------------------------------


@dataclass
class _Part:
    """What a part of a pattern begins and ends with; places are numbers of its characters."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True  # whether it can match nothing
    surely_last: set[int] = field(default_factory=set)  # where it ends whatever comes next
    surely_empty: bool = True  # whether it matches nothing whatever comes next


class _Automaton:
    """Which character of a pattern can follow which; place 0 is the start."""

    def __init__(self, node: Node, flags: str) -> None:
        self._flags = flags
        self._chars: list[str] = [""]
        self._next: list[list[int]] = [[]]
        whole = self._part(node)
        self._next[0] = whole.first
        self._accepts = whole.surely_last
        self._at_words = _begins_with_boundary(node)

    def _part(self, node: Node) -> _Part:
        kind = node[0]
        if kind == "char":
            if len(self._chars) > MOST_PLACES:
                raise UnsafePattern("it is too long with its repetitions written out")
            self._chars.append(node[1])
            self._next.append([])
            place = len(self._chars) - 1
            return _Part([place], [place], False, {place}, False)
        if kind == "assert":  # takes no character, but may fail
            return _Part(surely_empty=False)
        if kind == "alt":
            return _either([self._part(branch) for branch in node[1]])
        if kind == "seq":
            whole = _Part()
            for item in node[1]:
                whole = self._joined(whole, self._part(item))
            return whole
        return self._repeat(*node[1:])

    def _repeat(self, node: Node, low: int, high: int | None) -> _Part:
        if max(low, high or 0) > MOST_PLACES:
            raise UnsafePattern("it is too long with its repetitions written out")
        whole = _Part()
        for _ in range(low):
            whole = self._joined(whole, self._part(node))
        if high is None:
            return self._joined(whole, self._looped(self._part(node)))
        rest = _Part()
        for _ in range(high - low):  # from the inside: (x(x(x)?)?)?
            rest = _optional(self._joined(self._part(node), rest))
        return self._joined(whole, rest)

    def _joined(self, one: _Part, other: _Part) -> _Part:
        for place in one.last:
            self._next[place] += other.first
        return _Part(
            one.first + (other.first if one.empty else []),
            other.last + (one.last if other.empty else []),
            one.empty and other.empty,
            other.surely_last | (one.surely_last if other.surely_empty else set()),
            one.surely_empty and other.surely_empty,
        )

    def _looped(self, part: _Part) -> _Part:
        for place in part.last:
            self._next[place] += part.first
        return _optional(part)

    # -- questions --

    def reason(self) -> str | None:
        """Return why a search could take for ever, None if it cannot."""
        places = range(len(self._chars))
        after = [self._reachable(place, set(places)) for place in places]
        looping = {place for place in places if place in after[place]}
        for place in sorted(looping):
            found = self._two_ways([q for q in self._next[place] if looping & {q, *after[q]}])
            if found:
                return f"in a repetition {found} can match the same text"
        if self._ways(after) > MOST_WAYS:
            return "there are too many ways to match the same text"
        waiting = set(places) - self._accepts - {0}
        for place in sorted(waiting):
            if place in self._reachable(place, waiting) and not self._within_word(place):
                return (
                    f"what follows the repetition of {self._chars[place]!r} may be missing, and "
                    r"the search begins anew at each character. Begin the pattern with \b, and "
                    "repeat letters only"
                )
        return None

    def _reachable(self, place: int, among: set[int]) -> set[int]:
        """Return the places that can come after one, by way of some places alone."""
        found: set[int] = set()
        todo = [q for q in self._next[place] if q in among]
        while todo:
            place = todo.pop()
            if place not in found:
                found.add(place)
                todo += [q for q in self._next[place] if q in among]
        return found

    def _two_ways(self, places: list[int]) -> str | None:
        """Return two of some places that can match the same character, in words."""
        for i, one in enumerate(places):
            for other in places[:i]:
                if one == other or self._overlap(one, other):
                    return f"{self._chars[other]!r} and {self._chars[one]!r}"
        return None

    def _ways(self, after: list[set[int]]) -> int:
        """Return how many ways a text can be matched, those through repetitions counted once."""

        @cache
        def ways(place: int) -> int:
            loop = {place} | {q for q in after[place] if place in after[q]}
            most = 0
            for member in loop:
                out = [q for q in self._next[member] if q not in loop]
                for q in out:
                    most = max(most, sum(ways(r) for r in out if r == q or self._overlap(q, r)))
            return min(1 + most, MOST_WAYS + 1)

        return max(map(ways, range(len(self._chars))))

    def _within_word(self, place: int) -> bool:
        return self._at_words and not _meet(self._ranges(place), _ranges(r"\W", self._flags))

    def _overlap(self, one: int, other: int) -> bool:
        return _meet(self._ranges(one), self._ranges(other))

    def _ranges(self, place: int) -> tuple[tuple[int, int], ...]:
        return _ranges(self._chars[place], self._flags)


def _either(parts: list[_Part]) -> _Part:
    return _Part(
        [place for part in parts for place in part.first],
        [place for part in parts for place in part.last],
        any(part.empty for part in parts),
        set().union(*(part.surely_last for part in parts)),
        any(part.surely_empty for part in parts),
    )


def _optional(part: _Part) -> _Part:
    return _Part(part.first, part.last, True, part.surely_last, True)


def _begins_with_boundary(node: Node) -> bool:
    if node[0] == "alt":
        return all(map(_begins_with_boundary, node[1]))
    if node[0] == "seq":
        return bool(node[1]) and _begins_with_boundary(node[1][0])
    return node == ("assert", "\\b")


@cache
def _every_character() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))


@cache
def _ranges(text: str, flags: str) -> tuple[tuple[int, int], ...]:
    """Return the characters that one character of a pattern matches, as ranges of their codes."""
    runs = re.compile(f"{flags}(?:{text})+").finditer(_every_character())
    return tuple(run.span() for run in runs)


def _meet(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """Return whether some character is in ranges of both; the ranges of each are in order."""
    begins = [begin for begin, _ in other]
    for begin, end in one:
        at = bisect_right(begins, begin)
        if (at and other[at - 1][1] > begin) or (at < len(other) and other[at][0] < end):
            return True
    return False
