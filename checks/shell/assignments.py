"""Assignments and declarations. Source: bash manual, *Arrays*, *Bash Builtin Commands*."""

from __future__ import annotations

import re
from dataclasses import replace

from checks.markdown import code
from checks.model import Span
from checks.shell.expand import expand, expand_assigned, expand_text, expand_valued
from checks.shell.parameter import Valued
from checks.shell.state import Shell
from checks.shell.syntax import ArrayLiteral, Assignment, Literal, Simple, Word
from checks.shell.value import Field, Key, Status, Text, Variable, join, known
from checks.shell.variables import key_of
from checks.shell.word import is_name, read_word

DECLARATION_OPTIONS = frozenset("aAxrgpftn")
MAX_ELEMENTS = 60_000
_GIVEN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_KEYED = re.compile(r"\[(?P<key>[^\]]*)\]=")


def declare(shell: Shell, command: Simple) -> Status:
    """``export``, ``readonly``, ``local``, ``declare``: all words are expanded before any is set."""
    first = command.words[0]
    name = known(expand_text(shell, first)) if isinstance(first, Word) else None
    letters = {"export": {"x"}, "readonly": {"r"}}.get(name or "", set())
    if name == "local" and not shell.frames:
        # Bash complains: there is no function to be local to.
        return 1
    if name == "local" and any(isinstance(word, Word) and _is_dash(word) for word in command.words[1:]):
        raise shell.not_understood(command.start, code("local -"))
    is_local = bool(shell.frames) and name in ("local", "declare", "typeset")
    words: list[tuple[Assignment, Valued | None] | Field] = []
    for word in command.words[1:]:
        if isinstance(word, Assignment):
            value = expand_assigned(shell, word.value) if isinstance(word.value, Word) else None
            words.append((word, value))
        else:
            words += expand(shell, word)
    if all(not isinstance(each, tuple) and (each.known or "").startswith("-") for each in words):
        written = shell.source.text[command.start : command.end]
        shell.write((shell.unknown(f"the output of {code(written)}", command.start),))
    for each in words:
        local = is_local and "g" not in letters
        if isinstance(each, tuple):
            _declare_assignment(shell, *each, letters, is_local=local)
        elif (each.known or "").startswith("-"):
            given = _letters(shell, command, each.known or "")
            letters = {"-x"} if name == "export" and "n" in given else letters | given
        elif {"f", "x"} <= letters:
            shell.exported_functions |= {each.known or ""}
        elif "p" in letters:
            shell.write((shell.unknown(f"the output of {code('declare -p')}", command.start),))
        elif "f" not in letters:
            _declare_word(shell, command, each, letters, is_local=local)
    return 0


def _is_dash(word: Word) -> bool:
    return word.parts == (Literal("-", quoted=False),)


def _declare_word(shell: Shell, command: Simple, word: Field, letters: set[str], *, is_local: bool) -> None:
    """A word that only after expansion is ``name`` or ``name=value``."""
    head = word.text[0] if word.text and isinstance(word.text[0], str) else ""
    match = _GIVEN.match(head)
    if match is None:
        if word.known is None or word.known.startswith("+"):
            raise shell.not_understood(command.start, "a declaration that is not known")
        _declare_name(shell, word.known, letters, is_local=is_local)
        return
    value = replace(word, text=join([head[match.end() :], *word.text[1:]]))
    assignment = Assignment(match[1], Word((), command.start, command.end), command.start, command.end)
    assignment = replace(assignment, append=bool(match[2]))
    _declare_assignment(shell, assignment, (value.text, value.origins), letters, is_local=is_local)


def _letters(shell: Shell, command: Simple, text: str) -> set[str]:
    if not set(text[1:]) <= DECLARATION_OPTIONS:
        raise shell.not_understood(command.start, f"the declaration option {code(text)}")
    return set(text[1:])


def _make_local(shell: Shell, name: str) -> None:
    if name not in shell.frames[-1]:
        hidden = shell.frames[-1][name] = shell.variables.get(name)
        shell.variables[name] = Variable((), exported=hidden is not None and hidden.exported)


def _declare_assignment(
    shell: Shell, word: Assignment, value: Valued | None, letters: set[str], *, is_local: bool
) -> None:
    if "n" in letters:
        target = known(value[0]) if value is not None else None
        if target is None or not is_name(target) or target == word.name:
            raise shell.not_understood(word.start, f"the name reference {code(word.name)}")
        if is_local:
            _make_local(shell, word.name)
        shell.variables[word.name] = Variable((), refers_to=target)
        return
    if is_local:
        _make_local(shell, word.name)
    if "A" in letters:
        shell.variables[word.name] = Variable((), (), associative=True)
    if value is None:
        assign(shell, word, exported="x" in letters)
    else:
        _refuse_readonly(shell, word)
        if letters & {"a", "A"} and value[0] and str(value[0][0]).startswith("("):
            raise shell.not_understood(word.start, f"the quoted elements of {code(word.name)}")
        _assign_text(shell, word, *value, exported="x" in letters)
    if "r" in letters:
        shell.variables[word.name] = replace(shell.variables[word.name], readonly=True)


def _declare_name(shell: Shell, name: str, letters: set[str], *, is_local: bool) -> None:
    if not is_name(name):
        return
    if "-x" in letters:
        shell.exports -= {name}
        if name in shell.variables:
            shell.variables[name] = replace(shell.variables[name], exported=False)
    if is_local:
        _make_local(shell, name)
    before = shell.variables.get(name)
    if letters & {"a", "A"} and (before is None or not before.is_array):
        fields = before.fields if before else ()
        keys: tuple[Key, ...] = ("0" if "A" in letters else 0,) if fields else ()
        shell.variables[name] = Variable(fields, keys, associative="A" in letters)
    if "r" in letters and name in shell.variables:
        shell.variables[name] = replace(shell.variables[name], readonly=True)
    if "x" in letters:
        shell.export(name)


def assign(shell: Shell, assignment: Assignment, *, exported: bool = False) -> None:
    """Do ``name=value`` and its variants in ``shell``. Raises NotUnderstood."""
    _refuse_readonly(shell, assignment)
    if isinstance(assignment.value, ArrayLiteral):
        _assign_array(shell, assignment, assignment.value, exported=exported)
    else:
        _assign_text(shell, assignment, *expand_assigned(shell, assignment.value), exported=exported)


def _refuse_readonly(shell: Shell, assignment: Assignment) -> None:
    before = shell.variable(assignment.name)
    if before is not None and before.readonly:
        reason = f"an assignment to {code(assignment.name)}, which is read-only,"
        raise shell.not_understood(assignment.start, reason)


def _assign_text(
    shell: Shell, assignment: Assignment, text: Text, origins: tuple[Span, ...], *, exported: bool
) -> None:
    span = shell.source.span(assignment.start, assignment.end)
    # Read after the expansion, which may itself have set the variable (`${A:=x}`).
    before = shell.variable(assignment.name)
    field = Field(text, span, origins)
    if assignment.index is not None:
        before = before or Variable((), ())
        key = key_of(shell, before, assignment.index, assignment.start)
        old = before.element(key) if assignment.append else None
        field = _appended(old, field)
        shell.assign(assignment.name, replace(before.with_element(key, field), exported=exported))
        return
    if assignment.append and before and before.fields:
        field = _appended(before.element("0" if before.associative else 0), field)
    shell.assign(assignment.name, Variable((field,), exported=exported))


def _appended(old: Field | None, new: Field) -> Field:
    if old is None:
        return new
    return Field(join([*old.text, *new.text]), new.span, (*old.origins, *new.origins))


def _assign_array(shell: Shell, assignment: Assignment, value: ArrayLiteral, *, exported: bool) -> None:
    elements: list[tuple[str | None, list[Field]]] = []
    count = 0
    for written in value.elements:
        elements.append(_element(shell, written))
        count += len(elements[-1][1])
        if count > MAX_ELEMENTS:
            raise shell.not_understood(assignment.start, f"an array of more than {MAX_ELEMENTS} elements")
    before = shell.variable(assignment.name)
    variable = before if before is not None and assignment.append else None
    associative = before is not None and before.associative
    if variable is None:
        variable = Variable((), (), associative=associative)
    keys, fields = list(variable.keys or range(len(variable.fields))), list(variable.fields)
    if not associative and all(key is None for key, _ in elements):
        start = variable.next_index()
        fields += [each for _, group in elements for each in group]
        keys += range(start, start + len(fields) - len(keys))
        result = replace(variable, fields=tuple(fields), keys=tuple(keys), exported=exported)
    else:
        result = _keyed(shell, replace(variable, exported=exported), elements, assignment.start)
    if len(result.fields) > MAX_ELEMENTS:
        raise shell.not_understood(assignment.start, f"an array of more than {MAX_ELEMENTS} elements")
    shell.assign(assignment.name, result)


def _keyed(
    shell: Shell, variable: Variable, elements: list[tuple[str | None, list[Field]]], start: int
) -> Variable:
    for key, fields in elements:
        if key is None and variable.associative:
            raise shell.not_understood(start, "an associative array without keys")
        for field in fields:
            place = variable.next_index() if key is None else key_of(shell, variable, key, start)
            variable = variable.with_element(place, field)
    return variable


def _element(shell: Shell, element: Word) -> tuple[str | None, list[Field]]:
    """One element of an array literal: its key, if written, and its fields with their own span."""
    text = shell.source.text
    first = element.parts[0] if element.parts else None
    if isinstance(first, Literal) and not first.quoted and first.text.startswith("["):
        match = _KEYED.match(text, element.start, element.end)
        if match:
            value = read_word(text, match.end(), element.end)
            field_text, origins = expand_valued(shell, value)
            return match["key"], [Field(field_text, shell.source.span(element.start, element.end), origins)]
    return None, expand(shell, element)
