"""Runs a parsed script on abstract values along one path: no process is started, nothing is executed.

What is not understood ends the script and is reported; what is not known stays ``Unknown``; a condition that
is not known is decided by the path's plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from checks.markdown import code
from checks.model import NotChecked, Span
from checks.shell import branches, commands, loops, scripts
from checks.shell.expand import expand_text
from checks.shell.harmless import is_harmless
from checks.shell.loops import Endless
from checks.shell.redirects import redirected
from checks.shell.source import Source
from checks.shell.state import Exit, NotUnderstood, Shell, outside_reason
from checks.shell.syntax import (
    ArithmeticCommand,
    Case,
    Command,
    CommandSubstitution,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Sequence,
    Simple,
    Test,
    Unsupported,
    While,
    Word,
)
from checks.shell.testing import evaluate_condition
from checks.shell.value import (
    Field,
    Status,
    Text,
    Truth,
    Undecided,
    Unknown,
    join,
    known,
    status_of,
    truth_of,
    turned,
)
from checks.shell.variables import arithmetic_value
from checks.shell.working_tree import WorkingTree
from checks.snapshot import Snapshot

MAX_STEPS = 20_000
MAX_DEPTH = 60
MAX_HELD = 8 << 20
ENVIRONMENT_ENTRY = 64


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


@dataclass(frozen=True, slots=True)
class Answer:
    """To a question: as it was put (``what`` holds or not), and to the question without its negation."""

    what: str
    holds: bool
    plainly: bool


def _may_end(command: Command) -> bool:
    """True for a command whose failure ends a shell under ``set -e``: no loop, condition or ``{ … }``."""
    match command:
        case Simple() | Test() | ArithmeticCommand():
            return True
        case Pipeline(negated=negated):
            return not negated
        case Group(body=body, subshell=subshell):
            return subshell or isinstance(body, Test | ArithmeticCommand)
    return False


class Interpreter:
    """One run along one path. ``plan`` answers the undecided questions in the order in which they come."""

    def __init__(self, tree: Snapshot, plan: Iterable[bool] = ()) -> None:
        self.working_tree = WorkingTree(tree)
        self.plan = tuple(plan)
        self.decided: dict[tuple[object, ...], Answer] = {}
        self.invocations: list[Invocation] = []
        self.not_checked: list[NotChecked] = []
        self.files: set[str] = set()
        self.written: list[tuple[Text, Text, bool]] = []
        """What was written to files: target, text, and whether it was appended."""
        self.scripts: tuple[str, ...] = ()
        self.steps = 0
        self.held = 0
        self.depth = 0
        self.tested = 0
        self._outside: dict[str, Unknown] = {}

    # What the expansions ask for.

    @property
    def started_programs(self) -> bool:
        """True once a program was started that may have written any file."""
        return bool(self.invocations)

    def substitute(self, shell: Shell, part: CommandSubstitution) -> Text:
        """The output of ``$(…)``, without the newlines at its end."""
        return scripts.substitute(self, shell, part)

    def output_of(self, shell: Shell, part: CommandSubstitution) -> Text:
        """The same with all its newlines."""
        return scripts.output_of(self, shell, part)

    def expanded(self, shell: Shell, word: Word) -> Text:
        """``word`` where bash does not split."""
        return expand_text(shell, word)

    def decide(self, question: Undecided) -> bool:
        """The side that this path takes; the same question gets the same answer."""
        if question.key not in self.decided:
            place = len(self.decided)
            first = question.first != question.negated
            holds = self.plan[place] if place < len(self.plan) else first
            self.decided[question.key] = Answer(question.what, holds, holds != question.negated)
        return self.decided[question.key].plainly != question.negated

    def answered(self, key: tuple[object, ...]) -> bool | None:
        """The side that this path has taken, None if it has not come to that question."""
        return self.decided[key].plainly if key in self.decided else None

    def outside(self, shell: Shell, name: str, start: int) -> Unknown:
        """The value of a variable that no file of the launch sets: the same at each read."""
        if name not in self._outside:
            self._outside[name] = shell.unknown(outside_reason(name), start)
        return self._outside[name]

    def write_file(
        self, shell: Shell, target: Text, text: Text, place: Span, *, append: bool = False
    ) -> None:
        """Note that ``text`` was written to the file ``target``."""
        self.written.append((target, text, append))
        path = shell.tree_path(target)
        if path is None:
            return
        content = known(text)
        if append:
            before = self.working_tree.made.get(path)
            content = before.text + content if before is not None and content is not None else None
        source = (
            Source(place.path, content, place.line, last_line=place.end_line) if content is not None else None
        )
        self.working_tree.write(path, source)
        self._still_judged(path, "changed", place)

    def remove_file(self, shell: Shell, target: Text, place: Span) -> None:
        """Note that ``target`` was removed, with all below it."""
        if path := shell.tree_path(target):
            self._still_judged(path, "removed", place)
            self.working_tree.remove(path)

    def _still_judged(self, path: str, what: str, place: Span) -> None:
        """Configs and entry points are read from the tree, whatever a script does to them."""
        if path in self.working_tree.snapshot and path.endswith((".yaml", ".yml", ".py")):
            reason = f"line {place.line}: {code(path)} is {what} here and judged as it is in the tree"
            self.not_checked.append(NotChecked(place.path, reason))

    def invoke(self, command: Simple, argv: tuple[Field, ...], shell: Shell) -> None:
        """Note an external command that the script starts."""
        span = shell.source.span(command.start, command.end)
        environment = shell.environment()
        self.held += ENVIRONMENT_ENTRY * len(environment)
        self.held += sum(len(piece) for word in argv for piece in word.text if isinstance(piece, str))
        if self.held > MAX_HELD:
            raise shell.not_understood(
                command.start, f"a script that starts commands of {MAX_HELD} characters"
            )
        self.invocations.append(Invocation(argv, environment, span, self.scripts, shell.cwd))

    def report(self, error: NotUnderstood) -> None:
        """Note what was not understood, with its line."""
        self.not_checked.append(NotChecked(error.path, f"line {error.line}: {error.reason} is not evaluated"))

    # Control flow.

    def command(self, command: Command, shell: Shell) -> Status:
        """Evaluate any command; its exit status."""
        self.steps += 1
        self.depth += 1
        try:
            if self.steps > MAX_STEPS:
                raise shell.not_understood(command.start, f"a script of more than {MAX_STEPS} steps")
            if self.depth > MAX_DEPTH:
                raise shell.not_understood(command.start, f"what is nested deeper than {MAX_DEPTH}")
            shell.status = self._command(command, shell)
            if _may_end(command):
                self._fail_if_asked(shell.status, command, shell)
            return shell.status
        finally:
            self.depth -= 1

    def _command(self, command: Command, shell: Shell) -> Status:
        match command:
            case Simple():
                return commands.run(self, command, shell)
            case Sequence():
                return self.sequence(command, shell)
            case Pipeline():
                return self.pipeline(command, shell)
            case Group():
                with redirected(self, shell, command.redirects):
                    run = self.subshell if command.subshell else self.command
                    return run(command.body, shell)
            case If():
                return branches.conditional(self, command, shell)
            case For():
                return loops.for_each(self, command, shell)
            case CountingFor():
                return loops.counting(self, command, shell)
            case While():
                return loops.repeat(self, command, shell)
            case Case():
                return branches.case(self, command, shell)
            case Test():
                return status_of(evaluate_condition(shell, command.condition))
            case ArithmeticCommand():
                return status_of(self.arithmetic(command.text, command.start, shell))
            case Function():
                name = shell.names[0] if shell.names else ()
                shell.functions[command.name] = (command, shell.source, name)
                return 0
            case Unsupported():
                raise shell.not_understood(command.start, command.what)

    def arithmetic(self, text: str, start: int, shell: Shell) -> Truth:
        """The truth of an arithmetic expression."""
        if not text.strip():
            return False
        number = arithmetic_value(shell, text, start)
        what = f"{code(f'(({text}))')} (line {shell.source.line(start)})"
        return Undecided(what, ("arithmetic", what)) if number is None else number != 0

    def subshell(self, command: Command, shell: Shell) -> Status:
        """Evaluate in a copy of the shell; leaving it ends only the copy."""
        return scripts.run(self, command, shell.copy())

    def quietly(self, command: Command, shell: Shell) -> Status:
        """Evaluate where ``set -e`` does not act: a condition, what stands before ``&&`` or ``||``."""
        self.tested += 1
        try:
            return self.command(command, shell)
        finally:
            self.tested -= 1

    def sequence(self, sequence: Sequence, shell: Shell) -> Status:
        """Commands in a row, with ``&&`` and ``||``."""
        status: Status = 0
        before = ";"
        for command, operator in sequence.items:
            skipped = before in ("&&", "||") and self._skips(before, status, command, shell)
            before = operator
            if skipped:
                continue
            if operator == "&":
                with suppress(Endless):
                    self.subshell(command, shell)
                status = 0
            elif operator in ("&&", "||"):
                status = self.quietly(command, shell)
            else:
                status = self.command(command, shell)
        return status

    def may_skip(self, command: Command, shell: Shell) -> bool:
        """True if it is the same for every launch whether ``command`` is run."""
        return shell.output is None and not self.tested and is_harmless(command)

    def _skips(self, operator: str, status: Status, command: Command, shell: Shell) -> bool:
        """True if ``command`` after ``&&`` or ``||`` is not run. Before ``&&`` programs count as success."""
        if isinstance(status, Undecided):
            if self.may_skip(command, shell):
                return True
            if status.external and operator == "&&":
                return False
            succeeded = self.decide(status)
        else:
            succeeded = status == 0
        return succeeded == (operator == "||")

    def _fail_if_asked(self, status: Status, command: Command, shell: Shell) -> None:
        """``set -e`` and ``trap … ERR``: what a command does that is known to fail."""
        if self.tested or not isinstance(status, int) or not status:
            return
        if shell.error_trap:
            raise shell.not_understood(command.start, "what is trapped with `ERR` and runs here")
        if "errexit" in shell.options:
            raise Exit(status)

    def pipeline(self, pipeline: Pipeline, shell: Shell) -> Status:
        """Each command in a subshell, its output the next one's input."""
        given = shell.input
        status: Status = 0
        failed: Status = 0
        last = len(pipeline.commands) - 1
        for number, command in enumerate(pipeline.commands):
            if last == 0:
                status = self.quietly(command, shell)
                break
            stage = shell.copy()
            stage.input = given
            if number < last:
                stage.output = []
            status = self.subshell(command, stage)
            failed = status if isinstance(status, int) and status else failed
            given = join(stage.output or ())
        if "pipefail" in shell.options and failed:
            status = failed
        return status_of(turned(truth_of(status))) if pipeline.negated else status
