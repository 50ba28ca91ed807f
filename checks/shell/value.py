"""Values of the interpreter: text with unknown parts, and words that remember where they were written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from checks.model import Span


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that cannot be known from the tree: why, and the place in the source."""

    reason: str
    path: str
    line: int


Text: TypeAlias = tuple[str | Unknown, ...]
"""Known and unknown stretches, left to right; no empty strings, no two strings side by side."""

EMPTY: Text = ()
ROOT = Unknown("the folder of the checkout", "", 0)
"""Stands for the absolute path of the repository's root."""
GITHUB_ENV = Unknown("the file behind `GITHUB_ENV`", "", 0)
GITHUB_PATH = Unknown("the file behind `GITHUB_PATH`", "", 0)
GITHUB_OUTPUT = Unknown("the file behind `GITHUB_OUTPUT`", "", 0)


def join(pieces: Iterable[str | Unknown]) -> Text:
    """Normalise: drop empty strings and merge neighbours."""
    result: list[str | Unknown] = []
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        if text := "".join(run):
            result.append(text)
        run.clear()
        result.append(piece)
    if text := "".join(run):
        result.append(text)
    return tuple(result)


def text_of(known: str) -> Text:
    """A wholly known text."""
    return (known,) if known else EMPTY


def lines_of(text: str) -> list[str]:
    """The lines of ``text``, each with its newline: only a newline ends a line, as for every Unix tool."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def known(text: Text) -> str | None:
    """The text if it is wholly known, else None."""
    if not text:
        return ""
    if len(text) == 1 and isinstance(text[0], str):
        return text[0]
    return None


def first_unknown(text: Text) -> Unknown | None:
    """The first unknown part, if any."""
    return next((piece for piece in text if isinstance(piece, Unknown)), None)


@dataclass(frozen=True, slots=True)
class Field:
    """One word after expansion.

    ``span`` is where the word is written (inside an array: the element), ``origins`` where the variables
    in it were last set. ``may_split`` is set for an unquoted unknown, which could be no word or many.
    """

    text: Text
    span: Span
    origins: tuple[Span, ...] = ()
    may_split: bool = False

    @property
    def known(self) -> str | None:
        """The text if it is wholly known, else None."""
        return known(self.text)


def _bucket(key: str) -> int:
    """Where bash keeps the element of an associative array: the order of its elements.

    Source: bash 5, ``hashlib.c``, ``hash_string`` (FNV-1), and ``assoc.h``, 1024 buckets.
    """
    number = 2166136261
    for byte in key.encode():
        number = (number * 16777619 & 0xFFFFFFFF) ^ byte
    return number & 1023


Key: TypeAlias = int | str
"""The index of an array's element, or the key of an associative array's."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A shell variable: one field, or several with their ``keys`` for an array.

    No fields at all is a variable that the script has unset or declared without a value.
    """

    fields: tuple[Field, ...]
    keys: tuple[Key, ...] | None = None
    associative: bool = False
    exported: bool = False
    readonly: bool = False
    refers_to: str | None = None
    """The other variable's name, for a name reference (``declare -n``)."""

    @property
    def is_array(self) -> bool:
        """True for both kinds of array."""
        return self.keys is not None

    @property
    def goes_out(self) -> bool:
        """True if another process gets it: exported, set, and no array."""
        return self.exported and bool(self.fields) and not self.is_array

    @property
    def text(self) -> Text:
        """The value of ``$name``: the element 0 of an array."""
        first = self.element(0) if not self.associative else self.element("0")
        return first.text if first else EMPTY

    def element(self, key: Key) -> Field | None:
        """The element at ``key``, None if there is none."""
        if self.keys is None:
            return self.fields[0] if self.fields and key == 0 else None
        return self.fields[self.keys.index(key)] if key in self.keys else None

    @property
    def listed(self) -> tuple[tuple[Key, Field], ...]:
        """Keys and elements in the order in which ``${A[@]}`` and ``${!A[@]}`` give them."""
        pairs = tuple(zip(self.keys if self.keys is not None else (0,), self.fields, strict=False))
        if not self.associative:
            return pairs
        return tuple(sorted(pairs, key=lambda pair: _bucket(str(pair[0]))))

    def with_element(self, key: Key, value: Field) -> Variable:
        """With one element set; indexes stay in order."""
        keys = self.keys if self.keys is not None else tuple(range(len(self.fields)))
        elements = dict(zip(keys, self.fields, strict=True))
        elements[key] = value
        order = list(elements)
        if not self.associative:
            order.sort(key=lambda each: each if isinstance(each, int) else 0)
        return replace(self, fields=tuple(elements[each] for each in order), keys=tuple(order))

    def next_index(self) -> int:
        """Where ``+=( … )`` goes on."""
        numbers = [each for each in self.keys or () if isinstance(each, int)]
        return max(numbers) + 1 if numbers else (0 if self.keys is not None else len(self.fields))


def array(fields: Iterable[Field], *, exported: bool = False) -> Variable:
    """An indexed array without gaps."""
    elements = tuple(fields)
    return Variable(elements, tuple(range(len(elements))), exported=exported)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A condition that cannot be known: what it is, in words, and a key that is equal for equal questions.

    ``external`` for the exit status of a program that is taken to succeed after ``&&``; ``first`` is the side
    that a run would take if nobody has set what is not known.
    """

    what: str
    key: tuple[object, ...]
    negated: bool = False
    external: bool = False
    first: bool = True

    def turned(self) -> Undecided:
        """The opposite question."""
        return replace(self, negated=not self.negated)


Truth: TypeAlias = bool | Undecided
Status: TypeAlias = int | Undecided


def turned(truth: Truth) -> Truth:
    """Logical not."""
    return truth.turned() if isinstance(truth, Undecided) else not truth


def truth_of(status: Status) -> Truth:
    """Success of a command."""
    return status if isinstance(status, Undecided) else status == 0


def status_of(truth: Truth) -> Status:
    """0 for true, 1 for false."""
    return truth if isinstance(truth, Undecided) else int(not truth)
