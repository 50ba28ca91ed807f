"""A simple command: assignments, functions, builtins, known programs, scripts of the tree, other programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from checks.markdown import code
from checks.shell import scripts
from checks.shell.assignments import assign, declare
from checks.shell.builtins import BUILTINS, NOT_EVALUATED
from checks.shell.expand import MAX_FIELDS, expand, expand_text
from checks.shell.file_commands import change_files
from checks.shell.parse import DECLARATIONS
from checks.shell.programs import PROGRAMS
from checks.shell.redirects import keep, redirected
from checks.shell.state import Exit, Shell
from checks.shell.syntax import Literal, Simple, Word
from checks.shell.value import Field, Status, Undecided, Unknown, known
from checks.shell.word import is_name
from checks.shell.wrappers import program_of, unwrap
from checks.snapshot import NotFetched, SnapshotError

if TYPE_CHECKING:
    from checks.shell.interpreter import Interpreter

# Builtins that run text in the same shell.
TEXTS = frozenset({".", "source", "eval"})
# Programs that are run for their exit status.
ASKING = frozenset({
    "grep", "egrep", "fgrep", "rg", "which", "diff", "cmp", "pgrep", "pidof", "nvidia-smi", "npu-smi",
    "rocm-smi", "ping", "nc", "command", "type", "getent", "lsof",
})  # fmt: skip


def run(host: Interpreter, command: Simple, shell: Shell) -> Status:
    """Evaluate ``command``; its exit status. Raises NotUnderstood."""
    shell.substituted = None
    if _redirects_shell(command):
        keep(host, shell, command.redirects)
        return 0
    with redirected(host, shell, command.redirects):
        if not command.words:
            return _assignments(command, shell)
        first = command.words[0]
        if isinstance(first, Word) and known(expand_text(shell, first)) in DECLARATIONS:
            return declare(shell, command)
        argv = _words(command, shell)
        return _start(host, command, argv, shell) if argv else _assignments(command, shell)


def _redirects_shell(command: Simple) -> bool:
    """``exec 3< file``."""
    match command.words:
        case (Word(parts=(Literal(text="exec"),)),):
            return bool(command.redirects)
    return False


def _words(command: Simple, shell: Shell) -> tuple[Field, ...]:
    fields: list[Field] = []
    for word in command.words:
        if isinstance(word, Word):
            fields += expand(shell, word)
        if len(fields) > MAX_FIELDS:
            raise shell.not_understood(command.start, f"a command of more than {MAX_FIELDS} words")
    return tuple(fields)


def _assignments(command: Simple, shell: Shell) -> Status:
    """No command at all: the status is that of the last substitution, if there is one."""
    for assignment in command.assignments:
        assign(shell, assignment)
    if any(each.operator == "<" for each in command.redirects) and shell.input is not None:
        shell.write(shell.input)
    return shell.substituted if shell.substituted is not None else 0


def _start(host: Interpreter, command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status:
    name = argv[0].known
    if name == "command" and len(argv) > 1 and argv[1].known in ("-v", "-V"):
        shell.write((_output(shell, command),))
        return _unknown_status(shell, command, asks=True)
    if name == "type":
        shell.write((_output(shell, command),))
        return _unknown_status(shell, command, asks=True)
    plain = (
        name in ("builtin", "command") and len(argv) > 1 and argv[1].known in {*BUILTINS, *PROGRAMS, *TEXTS}
    )
    if plain:
        argv, name = argv[1:], argv[1].known
    if name in NOT_EVALUATED or name == "builtin" or (name == "command" and argv[1:2] and _declares(argv[1])):
        raise shell.not_understood(command.start, code(name or ""))
    if name in shell.functions and not plain:
        with _with_assignments(command, shell):
            return scripts.call_function(host, shell, name, argv[1:])
    if name in BUILTINS:
        with _with_assignments(command, shell):
            return BUILTINS[name](shell, command, argv[1:])
    if name in TEXTS:
        run_text = scripts.evaluate_text if name == "eval" else scripts.source
        with _with_assignments(command, shell):
            return run_text(host, command, argv[1:], shell)
    if name == "printf" and len(argv) > 2 and argv[1].known == "-v":
        return _print_to_variable(command, argv, shell)
    if name in PROGRAMS:
        return _program(command, argv, shell)
    if name == "tee":
        return _tee(host, argv[1:], shell)
    return _external(host, command, argv, shell)


@contextmanager
def _with_assignments(command: Simple, shell: Shell) -> Iterator[None]:
    """``A=b name``: set while the command runs."""
    before = {each.name: shell.variables.get(each.name) for each in command.assignments}
    for assignment in command.assignments:
        assign(shell, assignment, exported=True)
    try:
        yield
    finally:
        shell.restore(before)


def _program(command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status:
    if shell.output is None:
        return 0
    try:
        output = PROGRAMS[argv[0].known or ""](shell, argv[1:], shell.input)
    except NotFetched:
        raise
    except SnapshotError:
        output = None
    shell.write(output if output is not None else (_output(shell, command),))
    return 0


def _print_to_variable(command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status:
    """``printf -v name format words``."""
    name = argv[2].known
    if name is None or not is_name(name):
        raise shell.not_understood(command.start, "`printf -v` into a name that is not known")
    output = PROGRAMS["printf"](shell, argv[3:], None)
    text = output if output is not None else (_output(shell, command),)
    shell.set_text(name, Field(text, shell.source.span(command.start, command.end)))
    return 0


def _tee(host: Interpreter, arguments: tuple[Field, ...], shell: Shell) -> Status:
    """Copy the input to files and to the output."""
    given = shell.input or ()
    append = any(each.known in ("-a", "--append") for each in arguments)
    for each in arguments:
        if not (each.known or "").startswith("-"):
            host.write_file(shell, each.text, given, each.span, append=append)
    shell.write(given)
    return 0


def _output(shell: Shell, command: Simple) -> Unknown:
    written = shell.source.text[command.start : command.end]
    return shell.unknown(f"the output of {code(written)}", command.start)


def _external(host: Interpreter, command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status:
    inner = shell.copy()
    for assignment in command.assignments:
        assign(inner, assignment, exported=True)
    replaces_shell = argv[0].known == "exec"
    argv = unwrap(inner, command.start, argv)
    if not argv:
        # `env` alone lists the environment.
        shell.write((_output(shell, command),))
        return 0
    status = scripts.call(host, command, argv, inner)
    if status is None:
        status = _invoke(host, command, argv, inner)
    if replaces_shell:
        shell.exit_trap = None
        raise Exit(status)
    return status


def _declares(word: Field) -> bool:
    return word.known in DECLARATIONS


def _invoke(host: Interpreter, command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status:
    host.invoke(command, argv, shell)
    change_files(host, shell, argv, shell.source.span(command.start, command.end))
    if shell.output is not None:
        shell.write((_output(shell, command),))
    return _unknown_status(shell, command, asks=program_of(argv) in ASKING)


def _unknown_status(shell: Shell, command: Simple, *, asks: bool) -> Undecided:
    """The status of a program: one that ``asks`` may well fail, any other is taken to succeed."""
    line = shell.source.line(command.start)
    written = code(shell.source.text[command.start : command.end])
    key = ("status", shell.source.path, line, written)
    return Undecided(f"{written} succeeds (line {line})", key, external=not asks)
