"""``if`` and ``case``. Source: bash manual, *Conditional Constructs*."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from checks.markdown import code
from checks.shell.expand import expand_text
from checks.shell.state import Shell
from checks.shell.syntax import Case, If, Word
from checks.shell.testing import match_pattern
from checks.shell.value import Status, Text, Undecided, first_unknown, truth_of

if TYPE_CHECKING:
    from checks.shell.interpreter import Interpreter


def conditional(host: Interpreter, command: If, shell: Shell) -> Status:
    """``if … elif … else``."""
    for number, (condition, body) in enumerate(command.branches):
        if condition is None:
            return host.command(body, shell)
        truth = truth_of(host.quietly(condition, shell))
        if isinstance(truth, Undecided):
            rest = command.branches[number:]
            others = [part for pair in rest[1:] for part in pair if part]
            if all(host.may_skip(part, shell) for part in (body, *others)):
                return 0
            truth = host.decide(truth)
        if truth:
            return host.command(body, shell)
    return 0


def case(host: Interpreter, command: Case, shell: Shell) -> Status:
    """``case``: the first arm whose pattern matches, and those that ``;&`` and ``;;&`` add."""
    text = expand_text(shell, command.word)
    if first_unknown(text) and host.may_skip(command, shell):
        return 0
    subject = shell.source.text[command.word.start : command.word.end].strip('"')
    status: Status = 0
    falls_through = False
    for clause in command.clauses:
        if not falls_through and not _matches(host, subject, text, clause.patterns, shell):
            continue
        status = host.command(clause.body, shell)
        if clause.then == ";;":
            break
        falls_through = clause.then == ";&"
    return status


def _matches(host: Interpreter, subject: str, text: Text, patterns: Iterable[Word], shell: Shell) -> bool:
    """True if one of the patterns matches on this path."""
    for wanted in patterns:
        written = shell.source.text[wanted.start : wanted.end]
        what = f"{code(subject)} matches {code(written)} (line {shell.source.line(wanted.start)})"
        truth = match_pattern(shell, text, wanted, what)
        if host.decide(truth) if isinstance(truth, Undecided) else truth:
            return True
    return False
