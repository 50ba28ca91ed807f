"""Runs a parsed script on abstract values: no process is started, nothing of the repository is executed.

The result is every external command the script would start, in order, with its words and environment.
What is not understood ends the script and is reported; what is not known stays ``Unknown``.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from checks.markdown import code
from checks.model import NotChecked, Span
from checks.shell.builtins import BUILTINS, IGNORED, NOT_EVALUATED, assign, declare, unwrap
from checks.shell.expand import expand, expand_text
from checks.shell.parse import DECLARATIONS, parse
from checks.shell.scan import ShellSyntaxError
from checks.shell.source import Source
from checks.shell.state import NotUnderstood, Shell
from checks.shell.syntax import (
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Sequence,
    Simple,
    Unsupported,
    Word,
)
from checks.shell.value import Field, Text, Variable, known
from checks.snapshot import NotFetched, Snapshot, SnapshotError

MAX_STEPS = 20_000
MAX_SCRIPTS_DEEP = 8
IMAGE_FOLDERS = ("/usr/", "/etc/", "/root/", "/opt/")
HARMLESS = frozenset({"exit", "true", ":", "echo", "printf", "return"})
SHELL_OPTIONS = frozenset("ehluvxp")
SHELLS = frozenset({"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"})


@dataclass(frozen=True, slots=True)
class Invocation:
    """One external command that the script starts.

    ``scripts`` are the files on the way to it, outermost first; the last one holds ``span``.
    """

    argv: tuple[Field, ...]
    environment: Mapping[str, Text]
    span: Span
    scripts: tuple[str, ...]
    cwd: str | None


@dataclass
class Outcome:
    """What evaluating a script gave: commands in order, and what was not checked."""

    invocations: list[Invocation] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    """Every file of the tree that was evaluated."""


class _NoScript(Exception):
    """A script that cannot be told or is not in the tree; the text says which."""


class _Exit(Exception):
    """``exit``: the current shell ends."""


def evaluate(snapshot: Snapshot, shell: Shell) -> Outcome:
    """Run the script in ``shell.source`` and everything it calls that is in ``snapshot``."""
    run = _Run(snapshot)
    run.outcome.files.add(shell.source.path)
    run.script(shell, (shell.source.path,))
    return run.outcome


class _Run:
    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.outcome = Outcome()
        self.steps = 0
        self.functions: dict[str, tuple[Function, Source]] = {}

    def script(self, shell: Shell, scripts: tuple[str, ...]) -> None:
        """One script in its own process; what is not understood ends it and is reported."""
        try:
            self.command(parse(shell.source.text).body, shell, scripts)
        except _Exit:
            pass
        except ShellSyntaxError as error:
            self.not_checked(shell.source, error.offset, error.reason)
        except NotUnderstood as error:
            self.not_checked(shell.source, error.start, f"{error.reason} is not evaluated")

    def not_checked(self, source: Source, offset: int, reason: str) -> None:
        """Report ``reason`` at its line."""
        self.outcome.not_checked.append(NotChecked(source.path, f"line {source.line(offset)}: {reason}"))

    def command(self, command: Command, shell: Shell, scripts: tuple[str, ...]) -> None:
        """Evaluate any command."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise NotUnderstood(command.start, f"a script of more than {MAX_STEPS} steps")
        match command:
            case Simple():
                self.simple(command, shell, scripts)
            case Sequence():
                self.sequence(command, shell, scripts)
            case Pipeline():
                for each in command.commands:
                    self.subshell(each, shell, scripts)
            case Group(subshell=True):
                self.subshell(command.body, shell, scripts)
            case Group():
                self.command(command.body, shell, scripts)
            case For(words=words) if words is not None:
                self.loop(command, words, shell, scripts)
            case Function():
                self.functions[command.name] = (command, shell.source)
            case Unsupported():
                raise NotUnderstood(command.start, command.what)
            case If():
                raise NotUnderstood(command.start, "`if`")
            case _:
                raise NotUnderstood(command.start, "`for` without `in`")

    def subshell(self, command: Command, shell: Shell, scripts: tuple[str, ...]) -> None:
        """Evaluate in a copy of the shell."""
        with contextlib.suppress(_Exit):
            self.command(command, shell.copy(), scripts)

    def sequence(self, command: Sequence, shell: Shell, scripts: tuple[str, ...]) -> None:
        """Commands in a row. External commands are taken to succeed, so what follows ``||`` is skipped."""
        before = ";"
        for each, operator in command.items:
            if before == "||":
                if not _harmless(each):
                    raise NotUnderstood(each.start, "a command after `||`")
            elif operator == "&":
                self.subshell(each, shell, scripts)
            else:
                self.command(each, shell, scripts)
            before = operator

    def loop(self, command: For, words: tuple[Word, ...], shell: Shell, scripts: tuple[str, ...]) -> None:
        """``for name in words``; the list must be known."""
        for value in [value for word in words for value in expand(shell, word)]:
            if value.may_split:
                raise NotUnderstood(command.start, "a loop over a list that is not known")
            shell.assign(command.name, Variable((value,)))
            self.command(command.body, shell, scripts)

    def simple(self, command: Simple, shell: Shell, scripts: tuple[str, ...]) -> None:
        """Assignments, builtins, functions, scripts of the tree, external commands."""
        if not command.words:
            for assignment in command.assignments:
                assign(shell, assignment)
            return
        first = command.words[0]
        name = known(expand_text(shell, first)[0]) if isinstance(first, Word) else None
        if name in DECLARATIONS:
            declare(shell, command)
            return
        fields = [value for word in command.words if isinstance(word, Word) for value in expand(shell, word)]
        if fields:
            self.start(command, tuple(fields), shell, scripts)

    def start(self, command: Simple, argv: tuple[Field, ...], shell: Shell, scripts: tuple[str, ...]) -> None:
        """A command whose words are expanded."""
        name = argv[0].known
        if name in NOT_EVALUATED:
            raise NotUnderstood(command.start, f"{code(name)}")
        if name in self.functions:
            raise NotUnderstood(command.start, f"a call of the function {code(name)}")
        if name in IGNORED:
            return
        if name == "exit":
            raise _Exit
        if name in BUILTINS:
            BUILTINS[name](shell, command.start, argv[1:])
            return
        if name in (".", "source"):
            self.source(command, argv[1:], shell, scripts)
            return
        inner = shell.copy()
        for assignment in command.assignments:
            assign(inner, assignment, exported=True)
        argv = unwrap(inner, command.start, argv)
        if not argv or not self.call(command, argv, inner, scripts):
            self.outcome.invocations.append(
                Invocation(
                    argv,
                    inner.environment(),
                    shell.source.span(command.start, command.end),
                    scripts,
                    shell.cwd,
                )
            )

    def call(self, command: Simple, argv: tuple[Field, ...], shell: Shell, scripts: tuple[str, ...]) -> bool:
        """``bash script args`` or ``./script args`` for a script of the tree; False if it is none."""
        name = argv[0].known or ""
        if name in SHELLS:
            arguments = list(argv[1:])
            while arguments and (option := arguments[0].known or "").startswith(("-", "+")):
                if not set(option[1:]) <= SHELL_OPTIONS:
                    raise NotUnderstood(command.start, code(f"{name} {option}"))
                arguments.pop(0)
            if not arguments:
                raise NotUnderstood(command.start, f"{code(name)} that reads its standard input")
        elif argv[0].text and isinstance(end := argv[0].text[-1], str) and end.endswith(".sh"):
            arguments = list(argv)
        else:
            return False
        self.enter(command, arguments, shell, scripts)
        return True

    def enter(self, command: Simple, arguments: list[Field], shell: Shell, scripts: tuple[str, ...]) -> None:
        """Evaluate another script of the tree in a child process."""
        try:
            path = self.resolve(arguments[0], shell)
        except _NoScript as error:
            self.not_checked(shell.source, command.start, str(error))
            return
        if len(scripts) >= MAX_SCRIPTS_DEEP:
            raise NotUnderstood(command.start, f"scripts nested deeper than {MAX_SCRIPTS_DEEP}")
        text = self.read(path)
        if text is None:
            return
        functions, self.functions = self.functions, {}
        child = shell.child(Source(path, text), arguments[0].known or path, tuple(arguments[1:]))
        self.script(child, (*scripts, path))
        self.functions = functions

    def source(
        self, command: Simple, arguments: tuple[Field, ...], shell: Shell, scripts: tuple[str, ...]
    ) -> None:
        """``source file``: in the same shell. A file of the image leaves the script's own values alone."""
        name = arguments[0].known if arguments else None
        if name is not None and name.startswith(IMAGE_FOLDERS):
            return
        try:
            path = self.resolve(arguments[0], shell) if arguments else None
        except _NoScript as error:
            raise NotUnderstood(command.start, f"`source`: {error}, so it") from None
        text = self.read(path) if path else None
        if path is None or text is None or len(scripts) >= MAX_SCRIPTS_DEEP:
            raise NotUnderstood(command.start, "`source` of a file that is not read")
        outer, shell.source = shell.source, Source(path, text)
        try:
            self.command(parse(text).body, shell, (*scripts, path))
        except NotUnderstood as error:
            self.not_checked(shell.source, error.start, f"{error.reason} is not evaluated")
            raise NotUnderstood(command.start, f"`source {path}`") from None
        except ShellSyntaxError as error:
            self.not_checked(shell.source, error.offset, error.reason)
            raise NotUnderstood(command.start, f"`source {path}`") from None
        finally:
            shell.source = outer

    def resolve(self, name: Field, shell: Shell) -> str:
        """The tree path of a script named on a command line. Raises _NoScript."""
        text = name.known
        if text is None or (shell.cwd is None and not text.startswith("/")):
            raise _NoScript("which script is run is not known")
        path = posixpath.normpath(posixpath.join(shell.cwd or "", text))
        if text.startswith("/") or path.startswith("../") or path not in self.snapshot:
            raise _NoScript(f"{code(text)} is not a file of this commit")
        return path

    def read(self, path: str) -> str | None:
        """The text of a script; None, reported, if it is not read."""
        self.outcome.files.add(path)
        try:
            return self.snapshot.text(path)
        except NotFetched:
            raise
        except SnapshotError as error:
            self.outcome.not_checked.append(NotChecked(path, str(error)))
            return None


def _harmless(command: Command) -> bool:
    """True if skipping ``command`` hides nothing: it only prints, ends or does nothing."""
    if isinstance(command, Sequence | Group):
        items = command.items if isinstance(command, Sequence) else ((command.body, ";"),)
        return all(_harmless(each) for each, _ in items)
    if not isinstance(command, Simple) or not command.words or not isinstance(command.words[0], Word):
        return False
    first = command.words[0].parts
    return len(first) == 1 and getattr(first[0], "text", "") in HARMLESS
