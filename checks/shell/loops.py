"""``for``, ``select``, ``while`` and ``until``. Source: bash manual, *Looping Constructs*."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checks.markdown import code
from checks.shell.expand import expand
from checks.shell.state import Leave, Shell
from checks.shell.syntax import Command, CountingFor, For, While
from checks.shell.value import Status, Truth, Undecided, Variable, truth_of, turned

if TYPE_CHECKING:
    from checks.shell.interpreter import Interpreter


class Endless(Exception):
    """A loop that can end only if something outside changes: this path goes no further."""


def for_each(host: Interpreter, command: For, shell: Shell) -> Status:
    """``for name in words``; a list that is not known is gone through once."""
    words = [value for word in command.words or () for value in expand(shell, word)]
    values = list(shell.arguments) if command.words is None else words
    if command.chosen:
        reason = f"the choice that a person makes for {code(command.name)}"
        values = [replace(each, text=(shell.unknown(reason, command.start),)) for each in values[:1]]
    status: Status = 0
    for value in values:
        shell.assign(command.name, Variable((value,)))
        status, goes_on = _body(host, command.body, shell)
        if not goes_on:
            break
    return status


def counting(host: Interpreter, command: CountingFor, shell: Shell) -> Status:
    """``for ((first; condition; step))``."""
    status: Status = 0
    if command.first.strip():
        host.arithmetic(command.first, command.start, shell)
    rounds = 0
    while True:
        truth = (
            host.arithmetic(command.condition, command.start, shell) if command.condition.strip() else True
        )
        if not _enters(host, truth, rounds):
            return status
        status, goes_on = _body(host, command.body, shell)
        if not goes_on:
            return status
        if command.step.strip():
            host.arithmetic(command.step, command.start, shell)
        rounds += 1


def repeat(host: Interpreter, command: While, shell: Shell) -> Status:
    """``while`` and ``until``."""
    status: Status = 0
    rounds = 0
    while True:
        before = (dict(shell.variables), shell.arguments, shell.cwd, shell.input)
        truth = truth_of(host.quietly(command.condition, shell))
        if not _enters(host, turned(truth) if command.until else truth, rounds):
            return status
        status, goes_on = _body(host, command.body, shell)
        if not goes_on:
            return status
        if before == (shell.variables, shell.arguments, shell.cwd, shell.input):
            raise Endless
        rounds += 1


def _enters(host: Interpreter, truth: Truth, rounds: int) -> bool:
    """Whether the body runs: on a condition that is not known it runs once, or not at all."""
    if isinstance(truth, Undecided):
        return rounds == 0 and host.decide(truth)
    return truth


def _body(host: Interpreter, body: Command, shell: Shell) -> tuple[Status, bool]:
    """One round of a loop: the status, and whether the loop goes on."""
    shell.loops += 1
    try:
        return host.command(body, shell), True
    except Leave as leave:
        if leave.levels > 1:
            raise Leave(leave.levels - 1, again=leave.again) from None
        return 0, leave.again
    finally:
        shell.loops -= 1
