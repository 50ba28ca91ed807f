"""From a word of the source to fields: parameters, arithmetic, splitting, with unknown parts kept.

Source: bash manual, *Shell Expansions*. Brace and filename expansion are not done here: a word that would
need them raises NotUnderstood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from checks.markdown import code
from checks.model import Span
from checks.shell import arithmetic, pattern
from checks.shell.state import NotUnderstood, Shell, set_by_caller
from checks.shell.syntax import (
    Arithmetic,
    ArrayLiteral,
    CommandSubstitution,
    Literal,
    NotRead,
    Parameter,
    Word,
)
from checks.shell.value import EMPTY, Field, Text, Unknown, Variable, first_unknown, join, known, text_of

_BRACE_EXPANSION = re.compile(r"\{[^{}\s]*(,|\.\.)[^{}\s]*\}")
_IFS = re.compile(r"[ \t\n]+")
MAX_TEXT = 1 << 20


@dataclass
class _Building:
    """The fields of one word while it is expanded."""

    span: Span
    done: list[Field] = field(default_factory=list)
    pieces: list[str | Unknown] = field(default_factory=list)
    origins: list[Span] = field(default_factory=list)
    started: bool = False
    may_split: bool = False
    written_at: Span | None = None

    def add(self, text: Text, origins: tuple[Span, ...] = (), written_at: Span | None = None) -> None:
        if not self.started:
            self.written_at = written_at
        self.pieces += text
        self.origins += origins
        self.started = True

    def finish(self) -> None:
        if self.started:
            origins = tuple(dict.fromkeys(self.origins))
            span = self.written_at or self.span
            self.done.append(Field(join(self.pieces), span, origins, self.may_split))
        self.pieces, self.origins, self.started, self.may_split = [], [], False, False

    def split(self, text: Text, origins: tuple[Span, ...]) -> None:
        """Add unquoted text: blanks in its known parts end a field."""
        for piece in text:
            if isinstance(piece, Unknown):
                self.add((piece,), origins)
                self.may_split = True
                continue
            for number, stretch in enumerate(_IFS.split(piece)):
                if number:
                    self.finish()
                if stretch:
                    self.add((stretch,), origins)


def expand(shell: Shell, word: Word) -> list[Field]:
    """The fields of ``word``: none, one or many. Raises NotUnderstood."""
    building = _Building(shell.source.span(word.start, word.end))
    for number, part in enumerate(word.parts):
        match part:
            case Literal(text=text, quoted=True):
                building.add(text_of(text))
            case Literal(text=text):
                _literal(shell, word, text, number == 0, building)
            case Parameter() if part.quoted and (part.name == "@" or part.index == "@") and not part.operator:
                _splice(list_value(shell, part), building)
            case _:
                value, origins = value_of(shell, part)
                if getattr(part, "quoted", False):
                    building.add(value, origins)
                else:
                    building.split(value, origins)
    building.finish()
    return building.done


def expand_text(shell: Shell, word: Word) -> tuple[Text, tuple[Span, ...]]:
    """The value of ``word`` where bash does not split (an assignment, an operator's argument)."""
    pieces: list[str | Unknown] = []
    origins: list[Span] = []
    for number, part in enumerate(word.parts):
        if isinstance(part, Literal):
            tilde = number == 0 and not part.quoted and part.text[:1] == "~"
            pieces += _tilde(shell, part.text, word.start) if tilde else [part.text]
            continue
        text, used = value_of(shell, part)
        pieces += text
        origins += used
    text = join(pieces)
    if sum(len(piece) for piece in text if isinstance(piece, str)) > MAX_TEXT:
        raise NotUnderstood(word.start, f"a value of more than {MAX_TEXT} characters")
    return text, tuple(dict.fromkeys(origins))


def expand_array(shell: Shell, array: ArrayLiteral) -> tuple[Field, ...]:
    """The fields of an array literal; each keeps the span of its own element."""
    for element in array.elements:
        first = element.parts[0] if element.parts else None
        if isinstance(first, Literal) and not first.quoted and re.match(r"\[[^\]]*\]=", first.text):
            raise NotUnderstood(element.start, "an array with given indexes")
    return tuple(field_ for element in array.elements for field_ in expand(shell, element))


def _literal(shell: Shell, word: Word, text: str, first: bool, building: _Building) -> None:
    if _BRACE_EXPANSION.search(text):
        raise NotUnderstood(word.start, f"brace expansion {code(text)}")
    if first and text.startswith("~"):
        building.add(tuple(_tilde(shell, text, word.start)))
    else:
        building.add(text_of(text))


def _tilde(shell: Shell, text: str, start: int) -> list[str | Unknown]:
    head, slash, tail = text.partition("/")
    return [shell.unknown(f"{code(head)} is a home directory of the runner", start), slash + tail]


def _splice(fields: tuple[Field, ...], building: _Building) -> None:
    """``"${A[@]}"``: one field per element, each with the element's own span."""
    for number, each in enumerate(fields):
        if number:
            building.finish()
        building.add(each.text, each.origins, each.span)
        building.may_split = building.may_split or each.may_split


def list_value(shell: Shell, part: Parameter) -> tuple[Field, ...]:
    """The fields of ``$@`` or ``${A[@]}``. Raises NotUnderstood for an array that nobody sets."""
    if part.name in ("@", "*"):
        return shell.arguments
    variable = shell.variables.get(part.name)
    if variable is None:
        return ()
    return variable.fields


def value_of(shell: Shell, part: object) -> tuple[Text, tuple[Span, ...]]:
    """The text of one expansion and where the variables in it were set."""
    match part:
        case Parameter():
            return _parameter(shell, part)
        case Arithmetic():
            return (_arithmetic(shell, part.text, part.start), ())
        case CommandSubstitution():
            return ((shell.unknown(f"the output of {code(part.text.strip())}", part.start),), ())
        case NotRead():
            raise NotUnderstood(part.start, f"{code(part.what)}")
        case _:
            raise TypeError(f"no expansion: {part!r}")


def _arithmetic(shell: Shell, expression: str, start: int) -> Text:
    def lookup(name: str) -> str | None:
        variable = shell.variables.get(name)
        if variable is None:
            return None
        return known(variable.text)

    try:
        value = arithmetic.evaluate(expression, lookup)
    except arithmetic.NotEvaluated as error:
        raise NotUnderstood(start, f"`$(({expression}))`: {error}") from None
    if value is None:
        return (shell.unknown(f"`$(({expression}))` uses a value that is not known", start),)
    return (str(value),)


def _parameter(shell: Shell, part: Parameter) -> tuple[Text, tuple[Span, ...]]:
    if part.operator == "length":
        return _length(shell, part), ()
    text, origins, is_set = _lookup(shell, part)
    operator = part.operator
    if operator == "":
        return (text if is_set else (shell.outside(part.name, part.start),)), origins
    assert part.argument is not None
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        return _default(shell, part, text, origins, is_set)
    return _trim(shell, part, text if is_set else (shell.outside(part.name, part.start),)), origins


def _lookup(shell: Shell, part: Parameter) -> tuple[Text, tuple[Span, ...], bool]:
    name = part.name
    if name.isdigit():
        if name == "0":
            return shell.zero or (shell.unknown("`$0`", part.start),), (), True
        if int(name) > len(shell.arguments):
            return EMPTY, (), False
        argument = shell.arguments[int(name) - 1]
        return argument.text, argument.origins, True
    if name == "#":
        return text_of(str(len(shell.arguments))), (), True
    if name in "@*":
        return _joined(shell.arguments), (), True
    if name in "?$!-":
        return (shell.unknown(f"`${name}`", part.start),), (), True
    variable = shell.variables.get(name)
    if variable is None:
        return EMPTY, (), False
    if part.index in ("@", "*"):
        return _joined(variable.fields), (), True
    chosen = _element(shell, variable, part)
    if chosen is None:
        return EMPTY, (), False
    return chosen.text, (chosen.span, *chosen.origins), True


def _element(shell: Shell, variable: Variable, part: Parameter) -> Field | None:
    index = 0
    if part.index is not None:
        value = known(_arithmetic(shell, part.index, part.start))
        if value is None:
            raise NotUnderstood(part.start, f"the index {code(part.index or '')} of {code(part.name)}")
        index = int(value)
    if index < 0:
        index += len(variable.fields)
    return variable.fields[index] if 0 <= index < len(variable.fields) else None


def _joined(fields: tuple[Field, ...]) -> Text:
    pieces: list[str | Unknown] = []
    for number, each in enumerate(fields):
        pieces += [" ", *each.text] if number else each.text
    return join(pieces)


def _length(shell: Shell, part: Parameter) -> Text:
    if part.index in ("@", "*") or part.name in ("@", "*"):
        return text_of(str(len(list_value(shell, part))))
    text, _, is_set = _lookup(shell, part)
    value = known(text) if is_set else None
    if value is None:
        return (shell.unknown(f"the length of {code(part.name)}", part.start),)
    return text_of(str(len(value)))


def _default(
    shell: Shell, part: Parameter, text: Text, origins: tuple[Span, ...], is_set: bool
) -> tuple[Text, tuple[Span, ...]]:
    """``:-``, ``:=``, ``:+``, ``:?`` and their forms without a colon.

    A variable that no file sets counts as unset: its default is what runs unless somebody decides
    otherwise. Names that every caller sets stay unknown.
    """
    assert part.argument is not None
    operator, colon = part.operator[-1], part.operator.startswith(":")
    if not is_set and set_by_caller(part.name):
        return (shell.outside(part.name, part.start),), ()
    if colon and is_set and first_unknown(text) and not any(isinstance(piece, str) for piece in text):
        return text, origins
    present = is_set and not (colon and text == EMPTY)
    if operator == "+":
        return expand_text(shell, part.argument) if present else (EMPTY, ())
    if present:
        return text, origins
    if operator == "?":
        return (shell.outside(part.name, part.start),), ()
    value, used = expand_text(shell, part.argument)
    span = shell.source.span(part.start, part.end)
    if operator == "=":
        shell.assign(part.name, Variable((Field(value, span, used),)))
    return value, (span, *used)


def _trim(shell: Shell, part: Parameter, text: Text) -> Text:
    """``#``, ``##``, ``%``, ``%%``."""
    assert part.argument is not None
    wanted = _pattern(shell, part.argument)
    value = known(text)
    if value is None or wanted is None:
        return (shell.unknown(f"a part of {code(part.name)}, which is not known", part.start),)
    try:
        if part.operator[0] == "#":
            lengths = pattern.matching_lengths(wanted, value)
            cut = (lengths[-1] if part.operator == "##" else lengths[0]) if lengths else 0
            return text_of(value[cut:])
        lengths = pattern.matching_lengths(wanted[::-1], value[::-1])
    except pattern.TooLarge:
        raise NotUnderstood(part.start, f"a pattern too large for {code(part.name)}") from None
    cut = (lengths[-1] if part.operator == "%%" else lengths[0]) if lengths else 0
    return text_of(value[: len(value) - cut])


def _pattern(shell: Shell, argument: Word) -> list[str] | None:
    units: list[str] = []
    for part in argument.parts:
        if isinstance(part, Literal):
            units += pattern.units(part.text, quoted=part.quoted)
            continue
        text = known(value_of(shell, part)[0])
        if text is None:
            return None
        units += pattern.units(text, quoted=bool(getattr(part, "quoted", False)))
    return units
