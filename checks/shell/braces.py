"""Brace expansion: ``a{b,c}d``, ``{1..5}``, ``{a..e..2}``. Source: bash manual, *Brace Expansion*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from checks.shell.syntax import Literal, Part, Word

MAX_WORDS = 10_000
_SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")

_Unit: TypeAlias = str | Part
"""A plain character, or something that braces do not look into."""


class TooMany(Exception):
    """The expansion has more than ``MAX_WORDS`` words."""


def expand_braces(word: Word) -> list[Word]:
    """The words that ``word`` stands for, itself if it has no braces to expand. Raises TooMany."""
    if not any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in word.parts):
        return [word]
    units = [unit for part in word.parts for unit in _units(part)]
    return [replace(word, parts=tuple(_joined(each))) for each in _expand(units, 0)]


def _units(part: Part) -> Iterator[_Unit]:
    if isinstance(part, Literal) and not part.quoted:
        yield from part.text
    else:
        yield part


def _joined(units: Sequence[_Unit]) -> Iterator[Part]:
    text = ""
    for unit in units:
        if isinstance(unit, str):
            text += unit
            continue
        if text:
            yield Literal(text, quoted=False)
        text = ""
        yield unit
    if text:
        yield Literal(text, quoted=False)


def _expand(units: list[_Unit], depth: int) -> list[list[_Unit]]:
    if depth > 20:
        raise TooMany
    for start, unit in enumerate(units):
        if unit != "{":
            continue
        end, commas = _matching(units, start)
        if end is None:
            continue
        if len(commas) > MAX_WORDS:
            raise TooMany
        choices = _choices(units[start + 1 : end], start + 1, commas, depth)
        if choices is None:
            continue
        tails = _expand(units[end + 1 :], depth + 1)
        if len(choices) * len(tails) > MAX_WORDS:
            raise TooMany
        return [[*units[:start], *choice, *tail] for choice in choices for tail in tails]
    return [units]


def _matching(units: list[_Unit], start: int) -> tuple[int | None, list[int]]:
    """The closing brace of the one at ``start``, and the commas between them at the same depth."""
    depth = 0
    commas: list[int] = []
    for at in range(start, len(units)):
        if units[at] == "{":
            depth += 1
        elif units[at] == "}":
            depth -= 1
            if depth == 0:
                return at, commas
        elif units[at] == "," and depth == 1:
            commas.append(at)
    return None, commas


def _choices(inner: list[_Unit], offset: int, commas: list[int], depth: int) -> list[list[_Unit]] | None:
    if commas:
        cuts = [-1, *(comma - offset for comma in commas), len(inner)]
        pieces = [inner[before + 1 : after] for before, after in pairwise(cuts)]
        return [choice for piece in pieces for choice in _expand(piece, depth + 1)]
    if all(isinstance(unit, str) for unit in inner):
        return _sequence("".join(str(unit) for unit in inner))
    return None


def _sequence(text: str) -> list[list[_Unit]] | None:
    match = _SEQUENCE.fullmatch(text)
    if match is None:
        return None
    first, last, by = match.groups()
    numeric = first.lstrip("-").isdigit()
    if numeric != last.lstrip("-").isdigit():
        return None
    if any(len(each) > 18 for each in (first, last, by or "")):
        raise TooMany
    low, high = (int(first), int(last)) if numeric else (ord(first), ord(last))
    step = abs(int(by)) if by and int(by) else 1
    if abs(high - low) // step >= MAX_WORDS:
        raise TooMany
    numbers = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    if not numeric:
        return [[chr(number)] for number in numbers]
    width = max(len(first), len(last)) if _is_padded(first) or _is_padded(last) else 0
    return [list(f"{number:0{width}d}") for number in numbers]


def _is_padded(number: str) -> bool:
    digits = number.lstrip("-")
    return len(digits) > 1 and digits.startswith("0")
