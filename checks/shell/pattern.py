"""Shell patterns (``*``, ``?``, ``[…]``) for ``${V#…}`` and ``${V%…}``, without backtracking blow-up."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CELLS = 4_000_000


class TooLarge(Exception):
    """Pattern times text exceeds ``MAX_CELLS``."""


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


def units(text: str, *, quoted: bool) -> list[str]:
    """``text`` as pattern units; a quoted stretch is literal throughout (written ``\\c`` per character)."""
    if quoted:
        return ["\\" + char for char in text]
    result: list[str] = []
    at = 0
    while at < len(text):
        close = text.find("]", at + 2) if text[at] == "[" else -1
        unit = text[at : close + 1] if close > 0 else text[at]
        result.append(unit if len(unit) > 1 or unit in "*?" else "\\" + unit)
        at += len(unit)
    return result


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
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            if members[at] <= char <= members[at + 2]:
                return True
            at += 3
        else:
            if members[at] == char:
                return True
            at += 1
    return False
