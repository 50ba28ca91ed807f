"""Shell patterns (``*``, ``?``, ``[…]``) in linear time: sets of positions, no backtracking.

Source: bash manual, *Pattern Matching*. Extended patterns (``@(a|b)``) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MAX_CELLS = 4_000_000
_EXTENDED = re.compile(r"[?*+@!]\(")
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


def matching_lengths(pattern: Sequence[str], text: str) -> list[int]:
    """The lengths of the prefixes of ``text`` that ``pattern`` matches, ascending.

    ``pattern`` is a list of units: a quoted or plain character, ``*``, ``?`` or a bracket set; see ``units``.
    Time is pattern × text. Raises TooLarge.
    """
    if len(pattern) * (len(text) + 1) > MAX_CELLS:
        raise TooLarge
    reachable = {0}
    for unit in pattern:
        if unit == "*":
            reachable = set(range(min(reachable), len(text) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(text) and _matches(unit, text[at])}
    return sorted(reachable)


def matches(pattern: Sequence[str], text: str) -> bool:
    """True if ``pattern`` matches the whole of ``text``. Raises TooLarge."""
    lengths = matching_lengths(pattern, text)
    return bool(lengths) and lengths[-1] == len(text)


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
    result: list[str] = []
    at = 0
    while at < len(text):
        lengths = matching_lengths(pattern, text[at:])
        if not lengths or lengths[-1] == 0:
            result.append(text[at])
            at += 1
            continue
        result.append(replacement)
        at += lengths[-1]
        if not every:
            break
    return "".join(result) + text[at:]


def units(text: str, *, quoted: bool) -> list[str]:
    """``text`` as pattern units; a quoted stretch is literal throughout (written ``\\c`` per character).

    Raises TooLarge for an extended pattern.
    """
    if quoted:
        return ["\\" + char for char in text]
    if _EXTENDED.search(text):
        raise TooLarge
    result: list[str] = []
    at = 0
    while at < len(text):
        close = _end_of_set(text, at) if text[at] == "[" else -1
        unit = text[at : close + 1] if close > 0 else text[at]
        result.append(unit if len(unit) > 1 or unit in "*?" else "\\" + unit)
        at += len(unit)
    return result


def has_wildcard(text: str) -> bool:
    """True if an unquoted ``text`` would be taken for a file name pattern."""
    return any(char in text for char in "*?") or re.search(r"\[.+\]", text, re.S) is not None


def _end_of_set(text: str, start: int) -> int:
    at = start + 1
    if text[at : at + 1] in ("!", "^"):
        at += 1
    if text[at : at + 1] == "]":
        at += 1
    while at < len(text) and text[at] != "]":
        end = text.find(":]", at + 2) if text.startswith("[:", at) else -1
        at = end + 2 if end > 0 else at + 1
    return at if at < len(text) else -1


def _matches(unit: str, char: str) -> bool:
    if unit == "?":
        return True
    if unit.startswith("\\"):
        return char == unit[1]
    inner = unit[1:-1]
    negated = inner[:1] in ("!", "^")
    members = inner[1:] if negated else inner
    return _in_set(members, char) != negated


def _in_set(members: str, char: str) -> bool:
    at = 0
    while at < len(members):
        end = members.find(":]", at + 2) if members.startswith("[:", at) else -1
        if end > 0:
            named = _CLASSES.get(members[at + 2 : end])
            if named is None:
                raise TooLarge
            if named(char):
                return True
            at = end + 2
        elif members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            if members[at] <= char <= members[at + 2]:
                return True
            at += 3
        else:
            if members[at] == char:
                return True
            at += 1
    return False
