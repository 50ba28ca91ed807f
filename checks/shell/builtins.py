"""Commands that bash runs itself and that start no other command: ``cd``, ``set``, ``[``, ``exit``…

Each takes the shell, the command as parsed and its arguments, and gives its exit status.
Source: bash manual, *Shell Builtin Commands*. What is not done here raises NotUnderstood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from checks.markdown import code
from checks.shell.harmless import is_harmless
from checks.shell.parse import parse
from checks.shell.reading import getopts, mapfile, read
from checks.shell.scan import ShellSyntaxError
from checks.shell.state import Exit, Leave, Return, Shell
from checks.shell.syntax import Simple
from checks.shell.testing import evaluate_test
from checks.shell.value import Field, Status, Undecided, Variable, known, status_of
from checks.shell.variables import arithmetic_value, key_of

Arguments = tuple[Field, ...]
Builtin = Callable[[Shell, Simple, Arguments], Status]
NOT_EVALUATED = frozenset({"alias", "complete", "enable", "fc", "dirs"})
# Options with which words and patterns mean something else.
OTHER_BASH = frozenset({"nocasematch", "nocaseglob", "lastpipe", "dotglob", "globstar", "failglob"})
SET_LETTERS = {"e": "errexit", "u": "nounset", "x": "xtrace", "a": "allexport", "f": "noglob", "v": "verbose"}


def _cd(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    words = [each for each in arguments if (each.known or "") not in ("-P", "-L", "--", "-e")]
    text = words[0].text if words else None
    target = shell.tree_path(text) if text and known(text) != "-" else None
    kind = shell.running.working_tree.kind(target) if target is not None else "folder"
    what = f"{_written(shell, command)} succeeds (line {shell.source.line(command.start)})"
    # Not in the tree, yet an earlier step or command may have made it: a checkout, an archive.
    if kind == "file" or (kind is None and not shell.running.decide(Undecided(what, ("cd", target)))):
        return 1
    shell.cwd = target
    return 0


def _pushd(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    before = shell.cwd
    status = _cd(shell, command, arguments)
    if status:
        return status
    shell.folders = (before, *shell.folders)
    shell.write((shell.unknown("the output of `pushd`", command.start),))
    return status


def _popd(shell: Shell, command: Simple, _: Arguments) -> Status:
    shell.cwd = shell.folders[0] if shell.folders else None
    shell.folders = shell.folders[1:]
    shell.write((shell.unknown("the output of `popd`", command.start),))
    return 0


def _set(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    rest = list(arguments)
    options = set(shell.options)
    if not rest or rest[-1].known in ("-o", "+o"):
        _print(shell, command)
    while rest:
        text = rest[0].known
        if text is None:
            raise shell.not_understood(command.start, "`set` with options that are not known")
        if text in ("--", "-"):
            shell.arguments, shell.open = tuple(rest[1:]), False
            break
        if not text.startswith(("-", "+")):
            shell.arguments, shell.open = tuple(rest), False
            break
        rest.pop(0)
        if set(text[1:]) & {"n", "B", "k", "t"}:
            raise shell.not_understood(command.start, _written(shell, command))
        names = {SET_LETTERS[letter] for letter in text[1:] if letter in SET_LETTERS}
        if "o" in text[1:] and rest:
            names.add(rest.pop(0).known or "")
        options = options | names if text.startswith("-") else options - names
    shell.options = frozenset(options)
    return 0


def _unset(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    functions = any(argument.known == "-f" for argument in arguments)
    for argument in arguments:
        name = argument.known
        if name is None:
            raise shell.not_understood(command.start, "`unset` of a name that is not known")
        base, bracket, index = name.partition("[")
        variable = shell.variable(base)
        if name.startswith("-"):
            continue
        if bracket and variable is not None:
            key = key_of(shell, variable, index.rstrip("]"), command.start)
            kept = [(k, f) for k, f in zip(variable.keys or (0,), variable.fields, strict=False) if k != key]
            shell.variables[shell.referred(base)] = replace(
                variable, keys=tuple(k for k, _ in kept), fields=tuple(f for _, f in kept)
            )
        elif functions or (base in shell.functions and variable is None):
            shell.functions.pop(base, None)
        else:
            _unset_variable(shell, shell.referred(base))
    return 0


def _unset_variable(shell: Shell, name: str) -> None:
    """A local variable of a caller gives way to the one that it hides."""
    for frame in reversed(shell.frames[:-1]):
        if name in frame and name not in shell.frames[-1]:
            shell.restore({name: frame.pop(name)})
            return
    shell.variables[name] = Variable(())
    shell.exports -= {name}


def _shift(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    count = arguments[0].known if arguments else "1"
    if count is None or not re.fullmatch(r"[0-9]{1,9}", count):
        raise shell.not_understood(command.start, "`shift` by a count that is not known")
    if int(count) > len(shell.arguments):
        return 0 if shell.open else 1
    shell.arguments = shell.arguments[int(count) :]
    return 0


def _written(shell: Shell, command: Simple) -> str:
    return code(shell.source.text[command.start : command.end])


def _test(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    what = f"{_written(shell, command)} (line {shell.source.line(command.start)})"
    return status_of(evaluate_test(shell, command.start, arguments, what))


def _bracket(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    if not arguments or arguments[-1].known != "]":
        raise shell.not_understood(command.start, "`[` without `]`")
    return _test(shell, command, arguments[:-1])


def _let(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    value: int | None = 0
    for argument in arguments:
        if argument.known is None:
            raise shell.not_understood(command.start, "`let` of what is not known")
        value = arithmetic_value(shell, argument.known, command.start)
    what = _written(shell, command)
    return Undecided(what, ("let", what)) if value is None else int(value == 0)


def _number(arguments: Arguments, default: int) -> int | None:
    if not arguments:
        return default
    text = arguments[0].known
    return int(text) & 255 if text is not None and re.fullmatch(r"-?\d{1,9}", text) else None


def _exit(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    raise Exit(_status(shell, command, arguments))


def _return(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    if len(shell.names) < 2:
        # Neither in a function nor in a sourced file: bash complains and goes on.
        return 2
    raise Return(_status(shell, command, arguments))


def _status(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    if not arguments:
        return shell.status
    number = _number(arguments, 0)
    what = f"{_written(shell, command)} is 0 (line {shell.source.line(command.start)})"
    return Undecided(what, ("status", what), external=True) if number is None else number


def _break(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    return _leave(shell, command, arguments, again=False)


def _continue(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    return _leave(shell, command, arguments, again=True)


def _leave(shell: Shell, command: Simple, arguments: Arguments, *, again: bool) -> Status:
    """Out of loops, at most out of those there are: bash complains where there is none and goes on."""
    levels = _number(arguments, 1)
    if not levels:
        raise shell.not_understood(command.start, f"{_written(shell, command)}")
    if not shell.loops:
        return 0
    raise Leave(min(levels, shell.loops), again=again)


def _shopt(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    names = {argument.known or "" for argument in arguments[1:]}
    if not arguments or arguments[0].known not in ("-s", "-u"):
        _print(shell, command)
    if other := names & OTHER_BASH:
        raise shell.not_understood(command.start, f"`shopt` of {code(min(other))}")
    if arguments and arguments[0].known == "-s":
        shell.options |= names
    elif arguments and arguments[0].known == "-u":
        shell.options -= names
    return 0


def _trap(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    """What runs at the end of the shell is kept; signals are taken not to come.

    What runs on an error (``ERR``) is not evaluated: a script that comes to it goes no further.
    """
    arguments = arguments[1:] if arguments and arguments[0].known == "--" else arguments
    words = [argument.known for argument in arguments]
    if len(words) < 2:
        _print(shell, command)
    if {"DEBUG", "RETURN"} & set(words[1:]):
        raise shell.not_understood(command.start, "a `trap` of `DEBUG` or `RETURN`")
    if "ERR" in words[1:]:
        shell.error_trap = words[0] not in ("", "-") and not _only_reports(words[0])
    if len(words) > 1 and {"EXIT", "0"} & set(words[1:]):
        if words[0] is None:
            raise shell.not_understood(command.start, "`trap` of what is not known")
        shell.exit_trap = None if words[0] == "-" else arguments[0]
    return 0


def _only_reports(text: str | None) -> bool:
    try:
        return text is not None and is_harmless(parse(text))
    except ShellSyntaxError:
        return False


def _print(shell: Shell, command: Simple) -> None:
    written = shell.source.text[command.start : command.end]
    shell.write((shell.unknown(f"the output of {code(written)}", command.start),))


def _prints(shell: Shell, command: Simple, _: Arguments) -> Status:
    _print(shell, command)
    return 0


def _wait(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    """Of all jobs it is 0; of one job it is how that ended."""
    if not arguments:
        return 0
    line = shell.source.line(command.start)
    what = f"{_written(shell, command)} succeeds (line {line})"
    return Undecided(what, ("status", shell.source.path, line, what), external=True)


def _nothing(_shell: Shell, _: Simple, __: Arguments) -> Status:
    return 0


def _false(_shell: Shell, _: Simple, __: Arguments) -> Status:
    return 1


BUILTINS: dict[str, Builtin] = {
    "cd": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "set": _set,
    "unset": _unset,
    "shift": _shift,
    "[": _bracket,
    "test": _test,
    "let": _let,
    "exit": _exit,
    "return": _return,
    "break": _break,
    "continue": _continue,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    "false": _false,
    ":": _nothing,
    "true": _nothing,
    "wait": _wait,
    "ulimit": _prints,
    "umask": _prints,
    "trap": _trap,
    "shopt": _shopt,
    "hash": _prints,
    "unalias": _nothing,
    "disown": _nothing,
    "jobs": _prints,
    "times": _prints,
}
