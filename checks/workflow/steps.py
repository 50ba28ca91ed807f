"""The ``run:`` blocks of one job in order, each as a shell to evaluate, with what earlier steps leave behind.

Source: GitHub docs, *Workflow commands* (environment files), *Creating a composite action*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from checks import yamlfile
from checks.markdown import code
from checks.model import NotChecked, Span
from checks.shell.builtins import SET_LETTERS
from checks.shell.evaluate import Evaluation
from checks.shell.state import Shell, normal_path
from checks.shell.value import GITHUB_ENV, GITHUB_OUTPUT, ROOT, Field, Text, Unknown, Variable, join, known
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow.expressions import Contexts, Value, as_text, truth
from checks.workflow.jobs import JobRun, with_environment
from checks.workflow.load import Settings, Step, load_action
from checks.workflow.render import condition_of, source_with, text_with, value_of

BASH = ("bash", "sh", "bash {0}", "sh {0}", "bash -e {0}", "bash -l {0}", "bash -el {0}")
MAX_ACTIONS_DEEP = 5
_BLOCK = re.compile(r"(?P<name>[A-Za-z_][\w-]*)<<(?P<end>\S+)")
_LINE = re.compile(r"(?P<name>[A-Za-z_][\w-]*)=(?P<value>.*)")


@dataclass(frozen=True)
class Ready:
    """One ``run:`` block: its shell, and the step's ``id``."""

    shell: Shell
    id: str | None
    path: str


class JobSteps:
    """Goes through the steps of one job; ``after`` must be told how each one ended."""

    def __init__(self, snapshot: Snapshot, run: JobRun) -> None:
        self.snapshot = snapshot
        self.run = run
        self.carried: dict[str, Variable] = {}
        self.outputs: dict[str, Mapping[str, Value]] = {}
        self.tainted = False

    def __iter__(self) -> Iterator[Ready | NotChecked]:
        """The blocks in order. Raises NotFetched."""
        yield from self._steps(self.run.job.steps, self.run.workflow.path, self.run.contexts, {}, 0)

    def _steps(
        self, steps: Iterable[Step], path: str, contexts: Contexts, outer: Settings, depth: int
    ) -> Iterator[Ready | NotChecked]:
        for step in steps:
            inner = self._now(contexts)
            condition = step.condition
            if condition and truth(condition_of(condition.text, inner, path, condition.line)) is False:
                continue
            inner = with_environment(inner, step.environment, path)
            if step.run is not None:
                yield self._ready(step, path, inner, {**outer, **step.environment})
            elif step.uses and step.uses.startswith("./"):
                yield from self._action(step, path, inner, {**outer, **step.environment}, depth)

    def _now(self, contexts: Contexts) -> Contexts:
        """What expressions see: the environment with what steps appended, and the outputs of steps."""
        appended = {name: variable.text for name, variable in self.carried.items()}
        steps = {name: {"outputs": values} for name, values in self.outputs.items()}
        now = contexts.with_values(env={**contexts.values["env"], **appended}, steps=steps)
        return replace(now, open=now.open | ({"env"} if self.tainted else set()))

    def _ready(self, step: Step, path: str, contexts: Contexts, settings: Settings) -> Ready | NotChecked:
        assert step.run is not None
        name = step.shell or self.run.job.shell or "bash"
        if not name.startswith(BASH):
            return NotChecked(path, f"line {step.line}: a step for the shell {code(name)}")
        source = source_with(step.run, contexts)
        variables = {
            "CI": _given(("true",), source.span(0, 0)),
            "GITHUB_ACTIONS": _given(("true",), source.span(0, 0)),
            "GITHUB_WORKSPACE": _given((ROOT,), source.span(0, 0)),
            "GITHUB_ENV": _given((GITHUB_ENV,), source.span(0, 0)),
            "GITHUB_OUTPUT": _given((GITHUB_OUTPUT,), source.span(0, 0)),
            **self._environment(contexts, settings, path),
        }
        shell = Shell(
            source,
            variables,
            cwd=self._folder(step, path, contexts),
            options=_options(step.shell or self.run.job.shell),
            tainted=self.tainted,
        )
        return Ready(shell, step.id, path)

    def _environment(self, contexts: Contexts, settings: Settings, path: str) -> dict[str, Variable]:
        workflow, job = self.run.workflow, self.run.job
        variables: dict[str, Variable] = {}
        container = {
            name.removeprefix("env."): each for name, each in job.container.items() if name.startswith("env.")
        }
        for level in (container, workflow.environment, job.environment):
            variables |= _variables(level, self.run.contexts, workflow.path)
        return {**variables, **self.carried, **_variables(settings, contexts, path)}

    def _folder(self, step: Step, path: str, contexts: Contexts) -> str | None:
        setting = step.working_directory or self.run.job.working_directory
        if setting is None:
            return ""
        text = text_with(setting.text, contexts, path, setting.line)
        folder = known(join("." if piece == ROOT else piece for piece in text))
        return normal_path(folder) if folder is not None else None

    def _action(
        self, step: Step, path: str, contexts: Contexts, outer: Settings, depth: int
    ) -> Iterator[Ready | NotChecked]:
        """The steps of a composite action of the repository."""
        folder = normal_path(step.uses or "")
        file = next(
            (
                f"{folder}/{name}"
                for name in ("action.yml", "action.yaml")
                if f"{folder}/{name}" in self.snapshot
            ),
            None,
        )
        if file is None or depth >= MAX_ACTIONS_DEEP:
            yield NotChecked(path, f"line {step.line}: the action {code(step.uses or '')} is not read")
            return
        try:
            action = load_action(file, self.snapshot.text(file))
        except NotFetched:
            raise
        except (SnapshotError, yamlfile.YamlRefused) as error:
            yield NotChecked(file, str(error))
            return
        if action is None:
            return
        inputs = {
            **{name: value_of(each.text, contexts, file, each.line) for name, each in action.inputs.items()},
            **{name: value_of(each.text, contexts, path, each.line) for name, each in step.inputs.items()},
        }
        yield from self._steps(action.steps, file, contexts.with_values(inputs=inputs), outer, depth + 1)

    def after(self, ready: Ready, evaluation: Evaluation) -> None:
        """Keep what the step appended to the environment, and its outputs."""
        appended = _appended(evaluation, GITHUB_ENV, ready.shell)
        self.tainted = self.tainted or appended is None
        for name, text in (appended or {}).items():
            self.carried[name] = _given(text, ready.shell.source.span(0, 0))
        if ready.id is not None:
            outputs = _appended(evaluation, GITHUB_OUTPUT, ready.shell)
            if outputs is not None:
                self.outputs[ready.id] = {**self.outputs.get(ready.id, {}), **outputs}


def _given(text: Text, span: Span) -> Variable:
    return Variable((Field(text, span),), exported=True)


def _variables(settings: Settings, contexts: Contexts, path: str) -> dict[str, Variable]:
    return {
        name: _given(
            as_text(value_of(each.text, contexts, path, each.line)), Span(path, each.line, 1, each.line, 1)
        )
        for name, each in settings.items()
    }


def _options(shell: str | None) -> frozenset[str]:
    """What GitHub sets: ``bash -e`` if no shell is named, ``bash -eo pipefail`` for ``bash``.

    Source: GitHub docs, *Workflow syntax*, ``jobs.<job_id>.steps[*].shell``.
    """
    if shell is None or shell == "sh":
        return frozenset({"errexit"})
    if shell == "bash":
        return frozenset({"errexit", "pipefail"})
    words = [word for word in shell.split() if word.startswith("-")]
    letters = "".join(word[1:] for word in words if not word.startswith("--"))
    options = {SET_LETTERS[letter] for letter in letters if letter in SET_LETTERS}
    return frozenset(options | ({"pipefail"} if "pipefail" in shell else set()))


def _appended(evaluation: Evaluation, file: Unknown, shell: Shell) -> dict[str, Text] | None:
    """What the step appends on every path alike; None if some of it cannot be told."""
    found: dict[str, Text] = {}
    for number, path in enumerate(evaluation.paths):
        here: dict[str, Text] = {}
        for target, text in path.written:
            given = _assignments(text) if target == (file,) else {}
            if given is None:
                return None
            here |= given
        differs = (shell.unknown("what an earlier step appended on some paths", 0),)
        names = {*found, *here} if number else set()
        merged = {name: here.get(name) if here.get(name) == found.get(name) else differs for name in names}
        found = {name: text for name, text in merged.items() if text is not None} if number else here
    return found


def _assignments(text: Text) -> dict[str, Text] | None:
    """``NAME=value`` and ``NAME<<END … END``; None for a line that is neither."""
    found: dict[str, Text] = {}
    lines = iter(_lines(text))
    for line in lines:
        head = line[0] if line else ""
        block = _BLOCK.fullmatch(head) if isinstance(head, str) and len(line) < 2 else None
        match = _LINE.fullmatch(head) if isinstance(head, str) and block is None else None
        if block is not None:
            body: list[Text] = []
            for inner in lines:
                if inner == (block["end"],):
                    break
                body.append(inner)
            else:
                return None
            found[block["name"]] = join(
                piece for number, each in enumerate(body) for piece in ("\n" * bool(number), *each)
            )
        elif match is not None:
            found[match["name"]] = join([match["value"], *line[1:]])
        elif line:
            return None
    return found


def _lines(text: Text) -> list[Text]:
    lines: list[list[str | Unknown]] = [[]]
    for piece in text:
        parts: list[str | Unknown] = [*piece.split("\n")] if isinstance(piece, str) else [piece]
        lines[-1].append(parts[0])
        lines += [[part] for part in parts[1:]]
    return [join(line) for line in lines]
