"""Shell patterns (``*``, ``?``, ``[…]``) in linear time: sets of places, no backtracking.

Source: bash manual, *Pattern Matching*. Extended patterns (``@(a|b)``) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

MAX_CELLS = 4_000_000
_EXTENDED = re.compile(r"[?*+@!]\(")
_MEMBER = re.compile(r"\[:(?P<named>.*?):\]|(?P<first>\\?.)(?:-(?P<last>\\?.))?", re.S)
_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "lower": str.islower,
    "upper": str.isupper,
    "space": str.isspace,
    "blank": lambda char: char in " \t",
    "punct": lambda char: char.isprintable() and not char.isalnum() and not char.isspace(),
}


class TooLarge(Exception):
    """Pattern times text exceeds ``MAX_CELLS``, or a kind of pattern that is not matched here."""


def longest(pattern: Sequence[str], text: str) -> int | None:
    """The length of the longest prefix of ``text`` that ``pattern`` matches, None if none does.

    ``pattern`` is a list of units: a quoted or plain character, ``*``, ``?`` or a bracket set; see ``units``.
    Time is pattern × text. Raises TooLarge.
    """
    ends = _ends(pattern, text)
    return ends.bit_length() - 1 if ends else None


def shortest(pattern: Sequence[str], text: str) -> int | None:
    """The length of the shortest such prefix."""
    ends = _ends(pattern, text)
    return (ends & -ends).bit_length() - 1 if ends else None


def matches(pattern: Sequence[str], text: str) -> bool:
    """True if ``pattern`` matches the whole of ``text``. Raises TooLarge."""
    return longest(pattern, text) == len(text)


def _ends(pattern: Sequence[str], text: str) -> int:
    """Where a match of ``pattern`` from the start of ``text`` may end: bit n stands for the length n."""
    if len(pattern) * (len(text) + 1) > MAX_CELLS:
        raise TooLarge
    reachable = 1
    for unit in pattern:
        first = reachable & -reachable
        if unit == "*":
            reachable = (1 << (len(text) + 1)) - first if reachable else 0
        elif reachable == first:
            at = first.bit_length() - 1
            reachable = first << 1 if 0 <= at < len(text) and _matches(unit, text[at]) else 0
        else:
            reachable = (reachable & _places(unit, text)) << 1
    return reachable


def _places(unit: str, text: str) -> int:
    """The places in ``text`` of the characters that ``unit`` matches, as bits."""
    table = {ord(char): "1" if _matches(unit, char) else "0" for char in set(text)}
    return int(text[::-1].translate(table) or "0", 2)


def could_match(pattern: Sequence[str], pieces: Sequence[str | None]) -> bool:
    """False if no text that consists of ``pieces``, None standing for any text, is matched by ``pattern``."""
    if len(pattern) * sum(len(piece or " ") for piece in pieces) > MAX_CELLS:
        raise TooLarge
    states = _with_empty_stars(pattern, {0})
    for piece in pieces:
        if piece is None:
            states = set(range(min(states), len(pattern) + 1)) if states else set()
            continue
        for char in piece:
            stepped = {
                at if pattern[at] == "*" else at + 1
                for at in states
                if at < len(pattern) and (pattern[at] == "*" or _matches(pattern[at], char))
            }
            states = _with_empty_stars(pattern, stepped)
    return len(pattern) in states


def _with_empty_stars(pattern: Sequence[str], states: set[int]) -> set[int]:
    for at in sorted(states):
        following = at
        while following < len(pattern) and pattern[following] == "*":
            following += 1
            states.add(following)
    return states


def always_matches(pattern: Sequence[str], pieces: Sequence[str]) -> bool:
    """True for ``*``, and for ``*text*`` if one of ``pieces`` holds the text: whatever is around them."""
    if pattern and all(unit == "*" for unit in pattern):
        return True
    inner = pattern[1:-1]
    if len(pattern) < 2 or pattern[0] != "*" or pattern[-1] != "*":
        return False
    if not all(unit.startswith("\\") for unit in inner):
        return False
    text = "".join(unit[1:] for unit in inner)
    return any(text in piece for piece in pieces)


def replaced(pattern: Sequence[str], text: str, replacement: str, *, every: bool) -> str:
    """``text`` with the leftmost longest match replaced, or every one. Raises TooLarge."""
    if len(pattern) * (len(text) + 1) ** 2 > 16 * MAX_CELLS:
        raise TooLarge
    if not text:
        return replacement if matches(pattern, text) else text
    result: list[str] = []
    at = 0
    first = pattern[0] if pattern else "*"
    while at < len(text):
        length = longest(pattern, text[at:]) if first == "*" or _matches(first, text[at]) else None
        if not length:
            result.append(text[at])
            at += 1
            continue
        result.append(replacement)
        at += length
        if not every:
            break
    return "".join(result) + text[at:]


def units(pieces: Iterable[tuple[str, bool]]) -> list[str]:
    """Pieces of text, each with whether it is quoted, as pattern units.

    A unit is ``*``, ``?``, a set ``[…]`` or ``\\c`` for the character ``c`` itself, also inside a set. Raises
    TooLarge for an extended pattern.
    """
    chars = list(_characters(pieces))
    result: list[str] = []
    at = 0
    while at < len(chars):
        char, quoted = chars[at]
        close = _end_of_set(chars, at) if (char, quoted) == ("[", False) else at
        if close > at:
            result.append("".join("\\" * quoted + char for char, quoted in chars[at : close + 1]))
        else:
            result.append(char if char in "*?" and not quoted else "\\" + char)
        at = close + 1
    return result


def _characters(pieces: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Each character and whether it stands for itself; a backslash makes the next one do so."""
    escapes = False
    for text, quoted in pieces:
        if not quoted and _EXTENDED.search(text):
            raise TooLarge
        for char in text:
            if escapes and quoted:
                yield "\\", True
            if char == "\\" and not (quoted or escapes):
                escapes = True
            else:
                yield char, quoted or escapes
                escapes = False
    if escapes:
        yield "\\", True


def has_wildcard(text: str) -> bool:
    """True if an unquoted ``text`` would be taken for a file name pattern."""
    return any(char in text for char in "*?") or re.search(r"\[.+\]", text, re.S) is not None


def _end_of_set(chars: Sequence[tuple[str, bool]], start: int) -> int:
    """The place of the ``]`` that closes the set, ``start`` if none does."""
    plain = "".join("\0" if quoted else char for char, quoted in chars)
    at = start + 1
    if plain[at : at + 1] in ("!", "^"):
        at += 1
    if plain[at : at + 1] == "]":
        at += 1
    while at < len(plain) and plain[at] != "]":
        end = plain.find(":]", at + 2) if plain.startswith("[:", at) else -1
        at = end + 2 if end > 0 else at + 1
    return at if at < len(plain) else start


def _matches(unit: str, char: str) -> bool:
    if unit == "?":
        return True
    if unit.startswith("\\"):
        return char == unit[1]
    members = _set(unit)
    return any(belongs(char) for belongs in members.tests) != members.negated


def _is_between(first: str, last: str, char: str) -> bool:
    return first <= char <= last


@dataclass(frozen=True, slots=True)
class _Set:
    tests: tuple[Callable[[str], bool], ...]
    negated: bool


@lru_cache(maxsize=1024)
def _set(unit: str) -> _Set:
    """What belongs to ``[…]``. Raises TooLarge for a class that is not known."""
    negated = unit[1] in "!^"
    tests: list[Callable[[str], bool]] = []
    for match in _MEMBER.finditer(unit, 2 if negated else 1, len(unit) - 1):
        if match["named"] is not None:
            if match["named"] not in _CLASSES:
                raise TooLarge
            tests.append(_CLASSES[match["named"]])
        else:
            first = match["first"][-1]
            last = match["last"][-1] if match["last"] else first
            tests.append(partial(_is_between, first, last))
    return _Set(tuple(tests), negated)
