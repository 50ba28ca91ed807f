"""Values of ``$name`` and ``${…}``: defaults, lists, lengths.

Source: bash manual, *Shell Parameter Expansion*.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from checks.markdown import code
from checks.model import Span
from checks.shell.operators import changed, slice_bounds, sliced
from checks.shell.state import DYNAMIC, Exit, Shell, set_by_caller
from checks.shell.syntax import Parameter, Word
from checks.shell.value import EMPTY, Field, Text, Undecided, Unknown, join, known, text_of
from checks.shell.variables import Found, lookup
from checks.shell.word import is_name

Valued: TypeAlias = tuple[Text, tuple[Span, ...]]
"""A text and where the variables in it were set."""


def is_list(part: Parameter) -> bool:
    """True if the part stands for all elements: ``$@``, ``${A[@]}``, ``${!A[@]}`` with any operator."""
    return part.operator != "length" and (part.name in ("@", "*") or part.index in ("@", "*"))


def default(shell: Shell, part: Parameter) -> Word | Valued:
    """``${V:-w}``, ``:=``, ``:+``, ``:?``: the word, or V's value.

    A variable that no file sets counts as unset: its default is what runs unless somebody decides
    otherwise. Names that every caller sets stay unknown.
    """
    part = _direct(shell, part)
    assert part.argument is not None
    operator, colon = part.operator[-1], part.operator.startswith(":")
    text, origins, found = _plain(shell, part)
    if found == "outside" and (set_by_caller(part.name) or shell.tainted):
        return (shell.outside(part.name, part.start),), ()
    outside = (shell.outside(part.name, part.start),) if found == "outside" else EMPTY
    if found == "outside" and shell.running.answered(("empty", outside)) is False:
        text, found = outside, "set"
    present = found == "set" and not (colon and text == EMPTY)
    if present and colon and all(isinstance(piece, Unknown) for piece in text):
        if operator != "+":
            return text, origins
        present = _is_given(shell, part, text)
    if operator == "+":
        return part.argument if present else (EMPTY, ())
    if present:
        return text, origins
    if operator == "?":
        if found == "outside":
            return outside, ()
        raise Exit(1)
    return part.argument


def _is_given(shell: Shell, part: Parameter, text: Text) -> bool:
    if part.name in DYNAMIC:
        return True
    return not shell.running.decide(Undecided(f"{code('$' + part.name)} is empty", ("empty", text)))


def _plain(shell: Shell, part: Parameter) -> tuple[Text, tuple[Span, ...], Found]:
    if is_list(part):
        if part.index is not None and shell.variable(part.name) is None:
            return EMPTY, (), "outside"
        fields = elements(shell, replace(part, operator="", argument=None))
        return joined(fields, " "), (), "set" if fields else "unset"
    return lookup(shell, part)


def value(shell: Shell, part: Parameter) -> Valued:
    """The text of any other ``$name`` or ``${…}``; lists are joined by a blank."""
    if part.operator == "length":
        return _length(shell, part), ()
    if is_list(part):
        fields = elements(shell, part)
        separator = (shell.separators or "")[:1] if "*" in (part.name, part.index) else " "
        return joined(fields, separator), tuple(
            origin for each in fields for origin in (each.span, *each.origins)
        )
    part = _direct(shell, part)
    text, origins, found = lookup(shell, part)
    if found == "outside":
        text = (shell.outside(part.name, part.start),)
    elif found == "unset" and "nounset" in shell.options:
        raise Exit(1)
    elif found == "unset":
        return EMPTY, origins
    return changed(shell, part, text), origins


def elements(shell: Shell, part: Parameter) -> tuple[Field, ...]:
    """The fields of a list, with the operator applied to each."""
    if part.indirect and part.index is None and part.name not in ("@", "*"):
        part = _direct(shell, part)
    elif part.indirect:
        variable = shell.variable(part.name)
        span = shell.source.span(part.start, part.end)
        listed = variable.listed if variable else ()
        return tuple(Field(text_of(str(key)), span) for key, _ in listed)
    fields = _all(shell, part)
    if part.operator == ":":
        return _slice(shell, part, fields)
    if part.operator:
        return tuple(
            replace(each, text=changed(shell, part, each.text), origins=(each.span, *each.origins))
            for each in fields
        )
    return fields


def _slice(shell: Shell, part: Parameter, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """``${A[@]:offset:length}``: the offset is an index, the length a number of elements."""
    offset, length = slice_bounds(shell, part)
    if part.name in ("@", "*"):
        fields = (Field(shell.zero, shell.source.span(part.start, part.end)), *fields)
        return fields[sliced(len(fields), offset, length)]
    variable = shell.variable(part.name)
    if variable is None or variable.keys is None or variable.associative:
        return fields[sliced(len(fields), offset, length)]
    start = offset if offset >= 0 else variable.next_index() + offset
    indexes = [key for key in variable.keys if isinstance(key, int)]
    kept = [each for key, each in zip(indexes, fields, strict=True) if key >= start >= 0]
    return tuple(kept if length is None else kept[: max(length, 0)])


def joined(fields: tuple[Field, ...], separator: str) -> Text:
    """All fields as one text."""
    pieces: list[str | Unknown] = []
    for number, each in enumerate(fields):
        pieces += [separator, *each.text] if number else each.text
    return join(pieces)


def _all(shell: Shell, part: Parameter) -> tuple[Field, ...]:
    if part.name in ("@", "*"):
        return shell.arguments
    if part.name == "BASH_SOURCE":
        span = shell.source.span(part.start, part.end)
        return tuple(Field(name, span) for name in shell.names)
    variable = shell.variable(part.name)
    if variable is not None:
        return tuple(each for _, each in variable.listed)
    is_set = Undecided(f"{code(part.name)} is set by the caller", ("set", part.name), first=False)
    if not set_by_caller(part.name) and not shell.tainted and not shell.running.decide(is_set):
        return ()
    outside = shell.outside(part.name, part.start)
    return (Field((outside,), shell.source.span(part.start, part.end), may_split=True),)


def _direct(shell: Shell, part: Parameter) -> Parameter:
    """``${!ref}`` as the parameter that ``ref`` names."""
    if not part.indirect:
        return part
    behind = shell.variables.get(part.name)
    if behind is not None and behind.refers_to is not None:
        raise shell.not_understood(part.start, f"the name behind the name reference {code(part.name)}")
    text, _, found = lookup(shell, replace(part, indirect=False))
    target = known(text) if found == "set" else None
    name, bracket, rest = (target or "").partition("[")
    if not (is_name(name) or name.isdigit() or name in ("@", "*")) or (bracket and not rest.endswith("]")):
        raise shell.not_understood(part.start, f"{code('${!' + part.name + '}')} of a name that is not known")
    return replace(part, name=name, index=rest[:-1] if bracket else None, indirect=False)


def _length(shell: Shell, part: Parameter) -> Text:
    if part.index in ("@", "*") or part.name in ("@", "*"):
        fields = _all(shell, part)
        if any(each.may_split for each in fields):
            return (shell.unknown(f"the number of elements of {code(part.name)}", part.start),)
        return text_of(str(len(fields)))
    text, _, found = lookup(shell, part)
    length = known(text) if found != "outside" else None
    if length is None:
        return (shell.unknown(f"the length of {code(part.name)}", part.start),)
    return text_of(str(len(length)))
