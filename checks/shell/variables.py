"""Reading variables: what ``$name`` holds, elements of arrays, and numbers computed from them.

Source: bash manual, *Shell Parameters*, *Arrays*, *Shell Arithmetic*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from checks.markdown import code
from checks.model import Span
from checks.shell import arithmetic
from checks.shell.state import BLANK_SEPARATORS, DYNAMIC, Shell
from checks.shell.syntax import Parameter
from checks.shell.value import EMPTY, Field, Text, Unknown, Variable, first_unknown, known, text_of
from checks.shell.word import read_quoted

Found: TypeAlias = OneOf["set", "unset", "outside"]


def lookup(shell: Shell, part: Parameter) -> tuple[Text, tuple[Span, ...], Found]:
    """The value without any operator, and whether it is set, unset, or decided outside."""
    name = part.name
    if name.isdigit():
        return _positional(shell, part)
    special = _special(shell, part)
    if special is not None:
        return special, (), "set"
    variable = shell.variable(name)
    if variable is None:
        return EMPTY, (), "outside"
    chosen = _element(shell, variable, part)
    if chosen is None:
        return EMPTY, (), "unset"
    return chosen.text, (chosen.span, *chosen.origins), "set"


def _positional(shell: Shell, part: Parameter) -> tuple[Text, tuple[Span, ...], Found]:
    number = int(part.name) if len(part.name) < 10 else len(shell.arguments) + 1
    if number == 0:
        return shell.zero or (shell.unknown("`$0`", part.start),), (), "set"
    if number > len(shell.arguments):
        return EMPTY, (), "outside" if shell.open else "unset"
    argument = shell.arguments[number - 1]
    return argument.text, (argument.span, *argument.origins), "set"


def _special(shell: Shell, part: Parameter) -> Text | None:
    name = part.name
    if name == "#":
        if shell.open and shell.count_unknown:
            return (shell.unknown("the number of arguments", part.start),)
        return text_of(str(len(shell.arguments)))
    if name == "?" and isinstance(shell.status, int):
        return text_of(str(shell.status))
    if name in "?$!-" or (name in DYNAMIC and name not in shell.variables):
        return (shell.unknown(f"{code('$' + name)}", part.start),)
    if name == "OPTIND" and name not in shell.variables:
        return ("1",)
    if name == "IFS" and name not in shell.variables:
        return (BLANK_SEPARATORS,)
    if name == "PWD":
        return shell.folder
    if name == "BASH" and name not in shell.variables:
        return ("/bin/bash",)
    if name == "BASH_SOURCE":
        written = part.index or "0"
        index = int(written) if re.fullmatch(r"-?[0-9]{1,4}", written) else 0
        return shell.names[index] if -len(shell.names) <= index < len(shell.names) else EMPTY
    return None


def _element(shell: Shell, variable: Variable, part: Parameter) -> Field | None:
    if part.index is None:
        return variable.element("0" if variable.associative else 0)
    return variable.element(key_of(shell, variable, part.index, part.start))


def key_of(shell: Shell, variable: Variable | None, index: str, start: int) -> int | str:
    """The key that the text between brackets means for ``variable``."""
    if variable is not None and variable.associative:
        if len(index) > 1 and index[0] == index[-1] == "'":
            return index[1:-1]
        key = known(inner_text(shell, index.strip("\"'"), start))
        if key is None:
            raise shell.not_understood(start, f"the key {code(index)}, which is not known,")
        return key
    number = arithmetic_value(shell, index, start)
    if number is None:
        raise shell.not_understood(start, f"the index {code(index)}, which is not known,")
    return number if number >= 0 or variable is None else variable.next_index() + number


def inner_text(shell: Shell, text: str, start: int) -> Text:
    """``text``, found at or after offset ``start``, expanded as between double quotes."""
    at = shell.source.text.find(text, start)
    source, at = (shell.source.text, at) if at >= 0 else (text, 0)
    return shell.running.expanded(shell, read_quoted(source, at, at + len(text)))


def arithmetic_value(shell: Shell, expression: str, start: int) -> int | None:
    """The number that ``expression`` gives; None if it is not known. Raises NotUnderstood."""
    text = inner_text(shell, expression, start) if "$" in expression or "`" in expression else (expression,)
    written = "".join(arithmetic.UNKNOWN if isinstance(piece, Unknown) else piece for piece in text)
    try:
        return arithmetic.evaluate(written.replace('"', ""), _Variables(shell, start))
    except arithmetic.NotEvaluated as error:
        if first_unknown(text):
            return None
        raise shell.not_understood(start, f"{code(f'$(({expression}))')}: {error}, so it") from None


@dataclass(frozen=True)
class _Variables:
    """What an arithmetic expression reads and sets in ``shell``."""

    shell: Shell
    start: int

    def get(self, name: str, index: str | None) -> str | None:
        self._refuse_associative(name)
        part = Parameter(name, True, self.start, self.start, index)
        text, _, found = lookup(self.shell, part)
        return None if found == "outside" else known(text)

    def set(self, name: str, index: str | None, value: int | None) -> None:
        self._refuse_associative(name)
        text: Text = (
            (self.shell.unknown(f"the value of {code(name)}", self.start),)
            if value is None
            else text_of(str(value))
        )
        field = Field(text, self.shell.source.span(self.start, self.start + 1))
        if index is None:
            self.shell.assign(name, Variable((field,)))
        else:
            before = self.shell.variable(name) or Variable((), ())
            number = int(index) if int(index) >= 0 else before.next_index() + int(index)
            self.shell.assign(name, before.with_element(number, field))

    def _refuse_associative(self, name: str) -> None:
        variable = self.shell.variable(name)
        if variable is not None and variable.associative:
            raise arithmetic.NotEvaluated(f"{code(name)} has keys instead of indexes")
