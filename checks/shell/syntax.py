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
    """``$name`` or ``${…}``: ``operator`` is "" for the plain form, "length" for ``${#name}``.

    ``index`` is the text between brackets (``@``, ``*``, an arithmetic expression or a key); ``indirect``
    for ``${!name}``. The operator ``:`` has its offset and length as ``argument`` and ``second``, ``/`` its
    pattern and replacement.
    """

    name: str
    quoted: bool
    start: int
    end: int
    index: str | None = None
    operator: str = ""
    argument: Word | None = None
    second: Word | None = None
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class CommandSubstitution:
    """``$(…)`` or backquotes; ``text`` is what stands inside, from offset ``inner`` of the source.

    ``inner`` is None where backslashes inside backquotes were taken off.
    """

    text: str
    quoted: bool
    start: int
    end: int
    inner: int | None


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """``<(…)`` or ``>(…)``: a file that a command writes or reads."""

    command: CommandSubstitution


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((…))``; ``text`` is the expression."""

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """Text that is not known: ``written`` says what stands for it in the file."""

    written: str
    quoted: bool
    start: int


@dataclass(frozen=True, slots=True)
class NotRead:
    """An expansion this evaluator does not know; ``what`` names it."""

    what: str
    start: int
    end: int


Part: TypeAlias = (
    Literal | Parameter | CommandSubstitution | ProcessSubstitution | Arithmetic | Opaque | NotRead
)


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
    """A redirection of ``descriptor`` (None: the operator's own). A here-document's target is its body."""

    operator: str
    target: Word | None
    descriptor: int | None
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
    """``{ …; }`` or, with ``subshell``, ``( … )``; also any compound command that has redirections."""

    body: Command
    subshell: bool
    start: int
    end: int
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """``branches`` are (condition, body) pairs; the last condition is None for ``else``."""

    branches: tuple[tuple[Command | None, Command], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words``; ``words`` is None for the form without ``in``.

    ``chosen`` for ``select``, where a person picks from the words.
    """

    name: str
    words: tuple[Word, ...] | None
    body: Command
    start: int
    end: int
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class CountingFor:
    """``for ((first; condition; step))``: three arithmetic expressions as text."""

    first: str
    condition: str
    step: str
    body: Command
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class While:
    """``while condition; do body; done``; with ``until`` the condition is turned round."""

    condition: Command
    body: Command
    until: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """One arm of a ``case``; ``then`` is what closes it: ``;;``, ``;&`` or ``;;&``."""

    patterns: tuple[Word, ...]
    body: Command
    then: str


@dataclass(frozen=True, slots=True)
class Case:
    """``case word in pattern) body ;; … esac``."""

    word: Word
    clauses: tuple[Clause, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unary:
    """``-z word`` and the like inside ``[[ ]]``; a lone word is ``-n word``."""

    operator: str
    operand: Word


@dataclass(frozen=True, slots=True)
class Binary:
    """``left == right`` and the like inside ``[[ ]]``."""

    left: Word
    operator: str
    right: Word


@dataclass(frozen=True, slots=True)
class Not:
    """``! condition`` inside ``[[ ]]``."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """``left && right`` inside ``[[ ]]``."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """``left || right`` inside ``[[ ]]``."""

    left: Condition
    right: Condition


Condition: TypeAlias = Unary | Binary | Not | Both | Either


@dataclass(frozen=True, slots=True)
class Test:
    """``[[ condition ]]``."""

    condition: Condition
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ArithmeticCommand:
    """``((expression))``."""

    text: str
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
    """A construct whose extent is known but which is not evaluated; ``what`` names it."""

    what: str
    start: int
    end: int


Command: TypeAlias = (
    Simple
    | Pipeline
    | Sequence
    | Group
    | If
    | For
    | CountingFor
    | While
    | Case
    | Test
    | ArithmeticCommand
    | Function
    | Unsupported
)
