"""Values of the interpreter: text with unknown parts, and words that remember where they were written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


def join(pieces: Iterable[str | Unknown]) -> Text:
    """Normalise: drop empty strings and merge neighbours."""
    result: list[str | Unknown] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        elif piece != "":
            result.append(piece)
    return tuple(result)


def text_of(known: str) -> Text:
    """A wholly known text."""
    return (known,) if known else EMPTY


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


@dataclass(frozen=True, slots=True)
class Variable:
    """A shell variable: one field, or several for an array."""

    fields: tuple[Field, ...]
    is_array: bool = False
    exported: bool = False

    @property
    def text(self) -> Text:
        """The value of ``$name``: the first field of an array."""
        return self.fields[0].text if self.fields else EMPTY
