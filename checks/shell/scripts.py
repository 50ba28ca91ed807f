"""What brings other text to run: scripts of the tree, ``source``, ``eval``, functions, ``$(…)``."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from checks.markdown import code
from checks.model import NotChecked
from checks.shell.builtins import SET_LETTERS
from checks.shell.parameter import joined
from checks.shell.parse import parse
from checks.shell.scan import ShellSyntaxError
from checks.shell.source import Source
from checks.shell.state import Exit, Leave, NotUnderstood, Return, Shell
from checks.shell.syntax import Command, CommandSubstitution, Simple
from checks.shell.value import Field, Status, Text, Undecided, Unknown, join, known
from checks.shell.wrappers import SHELLS, program_of
from checks.snapshot import NotFetched, SnapshotError

if TYPE_CHECKING:
    from checks.shell.interpreter import Interpreter

MAX_SCRIPTS_DEEP = 8
IMAGE_FOLDERS = ("/usr/", "/etc/", "/root/", "/opt/", "/home/")
# Files that set up a tool or a home and leave the script's own variables alone.
SET_UP_FILES = frozenset(
    {"activate", ".bashrc", ".profile", ".bash_profile", "conda.sh", "set_env.sh", "setvars.sh"}
)
_FIRST_LINE = re.compile(r"#![ \t]*\S*/(?:ba)?sh[ \t]+-(?P<letters>[a-z]+)")
IGNORED_OPTIONS = frozenset("hlvpic")


class _NoScript(Exception):
    """A script that cannot be told or is not in the tree; the text says which."""


def script(host: Interpreter, shell: Shell) -> Status:
    """``shell.source`` as a process of its own; what is not understood ends it and is reported."""
    tested, host.tested = host.tested, 0
    try:
        return run(host, parse(shell.source.text), shell)
    except ShellSyntaxError as error:
        host.not_checked.append(_syntax(shell.source, error))
    except NotUnderstood as error:
        host.report(error)
    except RecursionError:
        host.not_checked.append(NotChecked(shell.source.path, "something in it is nested too deeply"))
    finally:
        host.tested = tested
    return Undecided(f"{code(shell.source.path)} succeeds", ("script", shell.source.path), external=True)


def run(host: Interpreter, body: Command, shell: Shell) -> Status:
    """``body`` as all that the process or subshell ``shell`` does, and then what it traps at its end."""
    try:
        status = host.command(body, shell)
    except (Exit, Return) as error:
        status = error.status
    except Leave:
        status = 0
    text = shell.exit_trap.known if shell.exit_trap else None
    if not text or not shell.exit_trap:
        return status
    place = shell.exit_trap.span
    shell.source = Source(place.path, text, place.line, last_line=place.end_line)
    shell.status, shell.exit_trap = status, None
    try:
        host.command(parse(text), shell)
    except Exit as error:
        return error.status
    except (Return, Leave):
        pass
    return status


def _syntax(source: Source, error: ShellSyntaxError) -> NotChecked:
    return NotChecked(source.path, f"line {source.line(error.offset)}: {error.reason}")


def call(host: Interpreter, command: Simple, argv: tuple[Field, ...], shell: Shell) -> Status | None:
    """``bash script args``, ``bash -c text`` or ``./script args``; None if it is no script."""
    options: frozenset[str] | None = None
    if (name := program_of(argv)) in SHELLS:
        arguments, options, has_text = _shell_options(command, argv, shell)
        if has_text:
            return _text_process(host, command, arguments, options, shell)
        if not arguments:
            raise shell.not_understood(command.start, f"{code(name)} that reads its standard input")
    elif argv[0].text and isinstance(end := argv[0].text[-1], str) and end.endswith(".sh"):
        arguments = list(argv)
    else:
        return None
    return _enter(host, command, arguments, options, shell)


def _shell_options(
    command: Simple, argv: tuple[Field, ...], shell: Shell
) -> tuple[list[Field], frozenset[str], bool]:
    arguments = list(argv[1:])
    options: set[str] = set()
    has_text = False
    while arguments and (option := arguments[0].known or "").startswith(("-", "+")):
        arguments.pop(0)
        if option in ("--norc", "--noprofile", "--login"):
            continue
        letters = set(option[1:])
        if "o" in letters and arguments:
            options.add(arguments.pop(0).known or "")
            letters.remove("o")
        if not letters <= {*SET_LETTERS, *IGNORED_OPTIONS}:
            raise shell.not_understood(command.start, code(f"{argv[0].known} {option}"))
        options |= {SET_LETTERS[letter] for letter in letters if letter in SET_LETTERS}
        has_text = has_text or "c" in letters
    return arguments, frozenset(options), has_text


def _text_process(
    host: Interpreter, command: Simple, arguments: list[Field], options: frozenset[str], shell: Shell
) -> Status:
    source = _text_source(shell, command, arguments[:1])
    child = shell.child(source, arguments[1].text if len(arguments) > 1 else ("bash",), tuple(arguments[2:]))
    child.options = options
    return script(host, child)


def _text_source(shell: Shell, command: Simple, arguments: list[Field]) -> Source:
    """Text given to ``eval`` or ``bash -c``: every span in it is the whole command."""
    text = known(joined(tuple(arguments), " "))
    if text is None:
        raise shell.not_understood(command.start, "text that is not wholly known")
    place = shell.source.span(command.start, command.end)
    return Source(shell.source.path, text, place.line, last_line=place.end_line)


def _enter(
    host: Interpreter, command: Simple, arguments: list[Field], options: frozenset[str] | None, shell: Shell
) -> Status:
    """Another script of the tree in a child process; without ``options`` its first line has them."""
    what = code(shell.source.text[command.start : command.end])
    unknown = Undecided(f"{what} succeeds", ("status", what, shell.source.line(command.start)), external=True)
    try:
        path = _resolve(arguments[0], shell)
    except _NoScript as error:
        line = shell.source.line(command.start)
        host.not_checked.append(NotChecked(shell.source.path, f"line {line}: {error}"))
        host.invoke(command, tuple(arguments), shell)
        return unknown
    if len(host.scripts) >= MAX_SCRIPTS_DEEP:
        raise shell.not_understood(command.start, f"scripts nested deeper than {MAX_SCRIPTS_DEEP}")
    inner = _read(host, path)
    if inner is None:
        return unknown
    child = shell.child(inner, arguments[0].text, tuple(arguments[1:]))
    child.options = _first_line_options(inner.text) if options is None else options
    before, host.scripts = host.scripts, (*host.scripts, path)
    try:
        return script(host, child)
    finally:
        host.scripts = before


def _first_line_options(text: str) -> frozenset[str]:
    """The options in ``#!/bin/bash -ex``."""
    match = _FIRST_LINE.match(text)
    letters = match["letters"] if match else ""
    return frozenset(SET_LETTERS[letter] for letter in letters if letter in SET_LETTERS)


def source(host: Interpreter, command: Simple, arguments: tuple[Field, ...], shell: Shell) -> Status:
    """``source file args``: in the same shell."""
    if not arguments or _sets_up(arguments[0].text):
        return 0
    try:
        path = _resolve(arguments[0], shell)
    except _NoScript as error:
        line = shell.source.line(command.start)
        reason = f"line {line}: {error}; what it sets is not known"
        host.not_checked.append(NotChecked(shell.source.path, reason))
        shell.tainted = True
        return 0
    inner = _read(host, path)
    if inner is None or len(host.scripts) >= MAX_SCRIPTS_DEEP:
        raise shell.not_understood(command.start, "`source` of a file that is not read")
    outer = shell.source, shell.names, host.scripts
    given = shell.arguments
    shell.source, shell.names = inner, (arguments[0].text, *shell.names)
    shell.arguments = arguments[1:] or shell.arguments
    host.scripts = (*host.scripts, path)
    try:
        return host.command(parse(inner.text), shell)
    except Return as error:
        return error.status
    except NotUnderstood as error:
        host.report(error)
        raise NotUnderstood(outer[0], command.start, f"`source {path}`") from None
    except ShellSyntaxError as error:
        host.not_checked.append(_syntax(shell.source, error))
        raise NotUnderstood(outer[0], command.start, f"`source {path}`") from None
    finally:
        shell.source, shell.names, host.scripts = outer
        if arguments[1:]:
            shell.arguments = given


def _sets_up(name: Text) -> bool:
    """True for a file of the image or one that only sets up a tool."""
    first, last = name[:1], name[-1] if name else ""
    if first and isinstance(first[0], str) and first[0].startswith(IMAGE_FOLDERS):
        return True
    return isinstance(last, str) and posixpath.basename(last) in SET_UP_FILES


def evaluate_text(host: Interpreter, command: Simple, arguments: tuple[Field, ...], shell: Shell) -> Status:
    """``eval text``: in the same shell."""
    outer, shell.source = shell.source, _text_source(shell, command, list(arguments))
    try:
        return host.command(parse(shell.source.text), shell)
    except ShellSyntaxError as error:
        raise NotUnderstood(outer, command.start, f"`eval`: {error.reason}, so it") from None
    finally:
        shell.source = outer


def call_function(host: Interpreter, shell: Shell, name: str, arguments: tuple[Field, ...]) -> Status:
    """A function of this shell, with its own arguments and local variables."""
    function, where, file = shell.functions[name]
    outer = shell.source, shell.names, shell.arguments, shell.open, shell.loops
    shell.source, shell.names, shell.open, shell.loops = where, (file, *shell.names), False, 0
    shell.arguments = arguments
    shell.frames.append({})
    try:
        return host.command(function.body, shell)
    except Return as error:
        return error.status
    finally:
        shell.source, shell.names, shell.arguments, shell.open, shell.loops = outer
        shell.restore(shell.frames.pop())


def substitute(host: Interpreter, shell: Shell, part: CommandSubstitution) -> Text:
    """The output of ``$(…)``, without the newlines at its end."""
    text = output_of(host, shell, part)
    if text and isinstance(text[-1], str):
        return join([*text[:-1], text[-1].rstrip("\n")])
    return text


def output_of(host: Interpreter, shell: Shell, part: CommandSubstitution) -> Text:
    """What the commands of ``$(…)`` or ``<(…)`` write."""
    inner = shell.copy()
    inner.output = []
    if "inherit_errexit" not in shell.options:
        inner.options = shell.options - {"errexit"}
    at = part.inner
    if at is None or not shell.source.text.startswith(part.text, at):
        place = shell.source.span(part.start, part.end)
        inner.source = Source(shell.source.path, part.text, place.line, last_line=place.end_line)
        at = 0
    try:
        body = parse(inner.source.text, at, at + len(part.text))
        shell.status = shell.substituted = run(host, body, inner)
    except ShellSyntaxError as error:
        raise NotUnderstood(inner.source, error.offset, f"{code(part.text)}: {error.reason}, so it") from None
    return join(inner.output)


def _resolve(name: Field, shell: Shell) -> str:
    """The tree path of a script named on a command line. Raises _NoScript."""
    if any(isinstance(piece, Unknown) and piece.path for piece in name.text) or shell.cwd is None:
        raise _NoScript("which script is run is not known")
    path = shell.tree_path(name.text)
    written = "".join(piece if isinstance(piece, str) else "." for piece in name.text)
    files = shell.running.working_tree
    if path is not None and files.is_removed(path):
        raise _NoScript(f"{code(written)} is removed by the script itself")
    if path is None or not files.names(path):
        if path is not None:
            shell.running.files.add(path)
        raise _NoScript(f"{code(written)} is not a file of this commit")
    if files.made.get(path, shell.source) is None:
        raise _NoScript(f"{code(written)} is written by the script itself, with a text that is not known")
    return path


def _read(host: Interpreter, path: str) -> Source | None:
    """A script of the tree, or one that was written on the way; None, reported, if it is not read."""
    made = host.working_tree.made.get(path)
    if made is not None:
        return made
    host.files.add(path)
    try:
        return Source(path, host.working_tree.snapshot.text(path))
    except NotFetched:
        raise
    except SnapshotError as error:
        host.not_checked.append(NotChecked(path, str(error)))
        return None
