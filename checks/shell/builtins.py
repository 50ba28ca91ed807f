"""Commands that bash runs itself: assignments, declarations, ``cd``, ``set``, ``unset``, ``shift``, wrappers.

Source: bash manual, *Shell Builtin Commands*. What is not done here raises NotUnderstood.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import replace

from checks.markdown import code
from checks.shell.expand import expand, expand_array, expand_text
from checks.shell.state import NotUnderstood, Shell
from checks.shell.syntax import ArrayLiteral, Assignment, Simple, Word
from checks.shell.value import Field, Variable, join, known

# Commands that change nothing a launch depends on.
IGNORED = frozenset({
    ":", "true", "echo", "printf", "wait", "ulimit", "umask", "trap", "shopt", "hash", "type",
})  # fmt: skip
NOT_EVALUATED = frozenset({
    "read", "eval", "getopts", "mapfile", "readarray", "let", "pushd", "popd", "dirs", "alias", "unalias",
    "return", "break", "continue", "false", "[", "test", "select", "coproc", "complete", "enable", "fc",
})  # fmt: skip
DECLARATION_OPTIONS = frozenset("axrgpft")


def declare(shell: Shell, command: Simple) -> None:
    """``export``, ``readonly``, ``local``, ``declare``, ``typeset``."""
    first = command.words[0]
    exported = isinstance(first, Word) and known(expand_text(shell, first)[0]) == "export"
    for word in command.words[1:]:
        if isinstance(word, Assignment):
            assign(shell, word, exported=exported)
            continue
        for option in expand(shell, word):
            text = option.known
            if text is None or text.startswith("+"):
                raise NotUnderstood(command.start, "a declaration that is not known")
            if text.startswith("-"):
                if not set(text[1:]) <= DECLARATION_OPTIONS:
                    raise NotUnderstood(command.start, f"the declaration option {code(text)}")
                exported = exported or "x" in text
            elif exported and text in shell.variables:
                shell.variables[text] = replace(shell.variables[text], exported=True)


def assign(shell: Shell, assignment: Assignment, *, exported: bool = False) -> None:
    """Do ``name=value`` and its variants in ``shell``."""
    if assignment.index is not None:
        raise NotUnderstood(assignment.start, code(f"{assignment.name}[{assignment.index}]="))
    if assignment.name == "IFS":
        raise NotUnderstood(assignment.start, "`IFS=`")
    span = shell.source.span(assignment.start, assignment.end)
    if isinstance(assignment.value, ArrayLiteral):
        fields = expand_array(shell, assignment.value)
        before = shell.variables.get(assignment.name)
        kept = before.fields if before and assignment.append else ()
        shell.assign(assignment.name, Variable(kept + fields, is_array=True, exported=exported))
        return
    text, origins = expand_text(shell, assignment.value)
    # Read after the expansion, which may itself have set the variable (`${A:=x}`).
    before = shell.variables.get(assignment.name)
    if assignment.append and before and before.fields:
        origins = (*before.fields[0].origins, *origins)
        text = join([*before.text, *text])
    shell.assign(assignment.name, Variable((Field(text, span, origins),), exported=exported))


def unwrap(shell: Shell, start: int, argv: tuple[Field, ...]) -> tuple[Field, ...]:
    """Take off ``nohup``, ``exec``, ``command`` and ``env A=b``; ``env``'s assignments go into ``shell``."""
    while argv and argv[0].known in ("nohup", "exec", "command", "env"):
        is_env, argv = argv[0].known == "env", argv[1:]
        if argv and (argv[0].known or "").startswith("-"):
            raise NotUnderstood(start, f"the option {code(argv[0].known or '')}")
        while is_env and argv and "=" in (argv[0].known or "").lstrip("="):
            name, _, value = (argv[0].known or "").partition("=")
            shell.assign(name, Variable((replace(argv[0], text=(value,) if value else ()),), exported=True))
            argv = argv[1:]
    return argv


def _cd(shell: Shell, _: int, arguments: tuple[Field, ...]) -> None:
    target = arguments[0].known if arguments else None
    if target is None or target == "-":
        shell.cwd = None
    elif not target.startswith("/"):
        path = None if shell.cwd is None else posixpath.normpath(posixpath.join(shell.cwd, target))
        shell.cwd = None if path is None or path.startswith("..") else path.removeprefix(".")
    else:
        shell.cwd = None


def _set(shell: Shell, start: int, arguments: tuple[Field, ...]) -> None:
    names = [argument.known for argument in arguments]
    if "--" in names:
        shell.arguments = arguments[names.index("--") + 1 :]
    elif not all(name is not None and name.startswith(("-", "+")) for name in names if name != "pipefail"):
        raise NotUnderstood(start, "`set` with arguments")


def _unset(shell: Shell, start: int, arguments: tuple[Field, ...]) -> None:
    for argument in arguments:
        if argument.known is None:
            raise NotUnderstood(start, "`unset` of a name that is not known")
        if not argument.known.startswith("-"):
            shell.variables[argument.known] = Variable(())


def _shift(shell: Shell, start: int, arguments: tuple[Field, ...]) -> None:
    count = arguments[0].known if arguments else "1"
    if count is None or not count.isdigit():
        raise NotUnderstood(start, "`shift` by a count that is not known")
    shell.arguments = shell.arguments[int(count) :]


BUILTINS: dict[str, Callable[[Shell, int, tuple[Field, ...]], None]] = {
    "cd": _cd,
    "set": _set,
    "unset": _unset,
    "shift": _shift,
}
