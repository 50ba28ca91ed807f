"""The structure of a script as frozen values, independent of the parser that found it.

``start`` and ``end`` are offsets into the script's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """Plain text; quoted text is neither split nor globbed."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name`` or ``${…}``: ``operator`` is "" for the plain form, "#" before the name for the length.

    ``index`` is the text between brackets (``@``, ``*`` or an arithmetic expression).
    """

    name: str
    quoted: bool
    start: int
    end: int
    index: str | None = None
    operator: str = ""
    argument: Word | None = None


@dataclass(frozen=True, slots=True)
class CommandSubstitution:
    """``$(…)`` or backquotes; ``text`` is what stands inside."""

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((…))``; ``text`` is the expression."""

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NotRead:
    """An expansion this evaluator does not know; ``what`` names it."""

    what: str
    start: int
    end: int


Part: TypeAlias = Literal | Parameter | CommandSubstitution | Arithmetic | NotRead


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the source with its parts, left to right."""

    parts: tuple[Part, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """``( … )`` after an assignment's equals sign."""

    elements: tuple[Word, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``, ``name+=value``, ``name[index]=value``."""

    name: str
    value: Word | ArrayLiteral
    start: int
    end: int
    append: bool = False
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection; only its operator and target word matter here."""

    operator: str
    target: Word | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command. ``words`` may hold assignments of declaration commands (``export A=b``)."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``a | b``; ``negated`` by a leading ``!``."""

    commands: tuple[Command, ...]
    negated: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """Commands with the operator that follows each: ``;``, newline (as ``;``), ``&``, ``&&``, ``||``."""

    items: tuple[tuple[Command, str], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """``{ …; }`` or, with ``subshell``, ``( … )``."""

    body: Command
    subshell: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class If:
    """``branches`` are (condition, body) pairs; the last condition is None for ``else``."""

    branches: tuple[tuple[Command | None, Command], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words``; ``words`` is None for the form without ``in``."""

    name: str
    words: tuple[Word, ...] | None
    body: Command
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Function:
    """``name() { … }``."""

    name: str
    body: Command
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A construct whose structure is known but which is not evaluated; ``what`` names it."""

    what: str
    start: int
    end: int


Command: TypeAlias = Simple | Pipeline | Sequence | Group | If | For | Function | Unsupported


@dataclass(frozen=True, slots=True)
class Script:
    """A whole file or ``run:`` block."""

    body: Command
    text: str
