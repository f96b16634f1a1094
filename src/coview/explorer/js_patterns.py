r"""Patterns of Python as patterns of JavaScript that match the same texts.

The page splits a query into the same tokens as Python does, so `token_pattern` must mean the same
there: `\w` is any letter or digit and `\s` the white space of Python. What has no counterpart is
refused, and the page then says that it cannot read texts of this view.
"""

from __future__ import annotations

import re

WORD = r"\p{L}\p{N}_"
DIGIT = r"\p{Nd}"
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
ASCII = {"w": "A-Za-z0-9_", "d": "0-9", "s": r"\t-\r\x20"}
UNICODE = {"w": WORD, "d": DIGIT, "s": SPACE}

_FLAGS = re.compile(r"\(\?([a-zA-Z]+)\)")
_REPEAT = re.compile(r"(?:[*+?]|\{(\d*)(,?)(\d*)\})\??")
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!))?")
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7}


class NoCounterpart(ValueError):
    """A pattern that JavaScript does not have."""


def javascript_pattern(pattern: str) -> tuple[str, int]:
    r"""Return the source of a pattern for JavaScript's flags "gu", and its number of groups.

    >>> javascript_pattern(r"[^\W\d_]{2,}")
    ('(?:(?![\\p{Nd}\\u{5f}])[\\p{L}\\p{N}_]){2,}', 0)
    >>> javascript_pattern("(?P<name>a)")
    Traceback (most recent call last):
        ...
    coview.explorer.js_patterns.NoCounterpart: '(?P<name>a)' has '(?P' in it
    """
    return _Translation(pattern).result()


class _Translation:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0
        self.out: list[str] = []
        self.groups = 0
        flags = _FLAGS.match(pattern)
        names = flags[1] if flags else ""
        if set(names) - set("au"):
            raise NoCounterpart(f"{pattern!r} has the flags {names!r}")
        self.sets = ASCII if "a" in names else UNICODE
        self.at = flags.end() if flags else 0

    def result(self) -> tuple[str, int]:
        """Translate all of it."""
        while self.at < len(self.pattern):
            self._next()
        return "".join(self.out), self.groups

    def _next(self) -> None:
        char = self.pattern[self.at]
        if char == "\\":
            self.at += 1
            self.out.append(self._escape())
        elif char == "[":
            self.out.append(self._class())
        elif char == "(":
            self._group()
        elif char in "*+?{":
            self._repeat()
        else:
            self.at += 1
            self.out.append({".": r"[^\n]", "$": r"(?=\n?(?![^]))"}.get(char) or _plain(char))

    def _group(self) -> None:
        found = _GROUP.match(self.pattern, self.at)
        assert found is not None
        if found[0] == "(" and self.pattern[self.at + 1 : self.at + 2] == "?":
            raise NoCounterpart(
                f"{self.pattern!r} has {self.pattern[self.at : self.at + 3]!r} in it"
            )
        self.groups += found[0] == "("
        self.out.append(found[0])
        self.at = found.end()

    def _repeat(self) -> None:
        found = _REPEAT.match(self.pattern, self.at)
        if found is None or found[0].startswith("{}") or found[0].startswith("{,}"):
            self.at += 1
            self.out.append(r"\{")
            return
        if self.pattern[found.end() : found.end() + 1] == "+":
            raise NoCounterpart(f"{self.pattern!r} has a possessive repetition in it")
        text = found[0]
        self.out.append(text.replace("{,", "{0,", 1))
        self.at = found.end()

    def _escape(self) -> str:
        """Translate what stands after a backslash, outside of a class."""
        char = self.pattern[self.at : self.at + 1]
        word = f"[{self.sets['w']}]"
        if char == "b":
            self.at += 1
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        if char == "B":
            self.at += 1
            return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"
        if char in ("A", "Z"):
            self.at += 1
            return "(?<![^])" if char == "A" else "(?![^])"
        if char.lower() in self.sets:
            self.at += 1
            return f"[{'^' if char.isupper() else ''}{self.sets[char.lower()]}]"
        return _plain(self._character())

    def _character(self) -> str:
        """Return the character that an escape stands for."""
        char = self.pattern[self.at : self.at + 1]
        found = _HEX.match(self.pattern, self.at)
        if found is not None:
            self.at = found.end()
            return chr(int(found[1] or found[2] or found[3], 16))
        self.at += 1
        if char in _CONTROL:
            return chr(_CONTROL[char])
        if not char or (char.isascii() and char.isalnum()):
            raise NoCounterpart(f"{self.pattern!r} has '\\{char}' in it")
        return char

    def _class(self) -> str:
        """Translate a class of characters, [...]; JavaScript has no complements within one."""
        self.at += 1
        negated = self.pattern[self.at : self.at + 1] == "^"
        self.at += negated
        inside: list[str] = []
        complements: list[str] = []
        first = True
        while first or self.pattern[self.at : self.at + 1] != "]":
            if self.at >= len(self.pattern):
                raise NoCounterpart(f"{self.pattern!r} has a class without an end")
            if (named := self._named_set()) is not None:
                (complements if named[0] else inside).append(named[1])
            else:
                inside.append(self._range())
            first = False
        self.at += 1
        return _joined("".join(inside), complements, negated)

    def _named_set(self) -> tuple[bool, str] | None:
        r"""Return a set such as \w in a class, and whether it is a complement such as \W."""
        char, named = self.pattern[self.at], self.pattern[self.at + 1 : self.at + 2]
        if char != "\\" or named.lower() not in self.sets:
            return None
        self.at += 2
        return named.isupper(), self.sets[named.lower()]

    def _range(self) -> str:
        item = self._member()
        after = self.pattern[self.at : self.at + 2]
        if after[:1] == "-" and after[1:] not in ("]", ""):
            self.at += 1
            item = f"{item}-{self._member()}"
        return item

    def _member(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char == "\\" and self.pattern[self.at : self.at + 1] == "b":
            self.at += 1
            return _in_class("\b")
        return _in_class(self._character() if char == "\\" else char)


def _joined(inside: str, complements: list[str], negated: bool) -> str:
    if not complements:
        return f"[{'^' if negated else ''}{inside}]"
    own = [f"[{inside}]"] if inside else []
    if not negated:
        return f"(?:{'|'.join([*own, *(f'[^{c}]' for c in complements)])})"
    not_own = "".join(f"(?!{part})" for part in own)
    return f"(?:{not_own}{''.join(f'(?=[{c}])' for c in complements[1:])}[{complements[0]}])"


def _plain(char: str) -> str:
    r"""Return a character outside of a class; operators that mean the same stay as they are."""
    if char in "|^()":
        return char
    return char if char.isalnum() else rf"\u{{{ord(char):x}}}"


def _in_class(char: str) -> str:
    return char if char.isascii() and char.isalnum() else rf"\u{{{ord(char):x}}}"
