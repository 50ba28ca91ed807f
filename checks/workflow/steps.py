"""The ``run:`` blocks of one job in order, each as a shell to evaluate, with what earlier steps leave behind.

Source: GitHub docs, *Workflow commands* (environment files), *Creating a composite action*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from checks import yamlfile
from checks.markdown import code
from checks.model import NotChecked
from checks.shell.evaluate import Evaluation
from checks.shell.state import Shell, normal_path
from checks.shell.value import GITHUB_ENV, GITHUB_OUTPUT, Text, Unknown, Variable, join, known, text_of
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow.environment_files import folders_in, variables_in
from checks.workflow.expressions import ASKS_STATUS, Contexts, Value, as_text, truth
from checks.workflow.jobs import JobRun, with_environment
from checks.workflow.load import Action, Step, load_action
from checks.workflow.programs import action_sets_variables, files_of_programs
from checks.workflow.render import condition_of, source_with, value_of
from checks.workflow.step_shell import (
    BASH,
    KNOWN_DEFAULTS,
    folder_of,
    given,
    is_fixed,
    options_of,
    variables_of,
)

MAX_ACTIONS_DEEP = 5
_PATH = Unknown("the `PATH` of the runner", "", 0)


_SKIPPED: Value = {"outputs": {}, "outcome": ("skipped",), "conclusion": ("skipped",)}


@dataclass(frozen=True)
class Ready:
    """One ``run:`` block: its shell, and the step that it belongs to; ``certain`` if it surely runs."""

    shell: Shell
    step: Step
    path: str
    continues: bool
    certain: bool


class JobSteps:
    """Goes through the steps of one job; ``after`` must be told how each one ended.

    ``results`` are the steps that expressions may refer to, by id; ``changed`` the files of the tree that a
    step has written.
    """

    def __init__(self, snapshot: Snapshot, run: JobRun) -> None:
        self.snapshot = snapshot
        self.run = run
        self.carried: dict[str, Variable] = {}
        self.folders: Text = ()
        self.results: dict[str, Value] = {}
        self.changed: set[str] = set()
        self.tainted = False
        self.failed = False

    def __iter__(self) -> Iterator[Ready | NotChecked]:
        """The blocks in order. Raises NotFetched."""
        yield from self._steps(self.run.job.steps, self.run.workflow.path, self.run.contexts, {}, 0)

    def _steps(
        self,
        steps: Iterable[Step],
        path: str,
        contexts: Contexts,
        outer: Mapping[str, Variable],
        depth: int,
        *,
        certain: bool = True,
    ) -> Iterator[Ready | NotChecked]:
        for step in steps:
            now = self._now(contexts)
            inner = with_environment(now, step.environment, path)
            runs = self._runs(step, inner, path)
            if runs is False:
                if step.id is not None:
                    self.results[step.id] = _SKIPPED
                continue
            sure = certain and runs is True
            own = {**outer, **variables_of(step.environment, now, path)}
            if step.run is not None:
                ready = self._ready(step, path, inner, own, depth)
                yield replace(ready, certain=sure) if isinstance(ready, Ready) else ready
            elif step.uses and step.uses.startswith("./"):
                # Its steps ask whether one of them failed, not one before.
                failed, self.failed = self.failed, False
                yield from self._action(step, path, inner, own, depth, certain=sure)
                self.failed = failed or (self.failed and not _continues(step, inner, path))
            else:
                self.tainted = self.tainted or action_sets_variables(step.uses or "")
                if step.id is not None:
                    self.results[step.id] = Unknown(f"what {code(step.uses or '')} gives", path, step.line)

    def _runs(self, step: Step, contexts: Contexts, path: str) -> bool | None:
        """Whether the step runs: not after a failure nor on a false condition; None if not known."""
        condition = step.condition
        asks = condition is not None and ASKS_STATUS.search(condition.text)
        if self.failed and not asks:
            return False
        if condition is None:
            return True
        return truth(condition_of(condition.text, contexts, path, condition.line))

    def _now(self, contexts: Contexts) -> Contexts:
        """What expressions see: the environment with what steps appended, and the results of steps."""
        appended = {name: variable.text for name, variable in self.carried.items()}
        now = contexts.with_values(env={**contexts.values["env"], **appended}, steps=dict(self.results))
        return replace(now, open=now.open | ({"env"} if self.tainted else set()), failed=self.failed)

    def _ready(
        self, step: Step, path: str, contexts: Contexts, own: Mapping[str, Variable], depth: int
    ) -> Ready | NotChecked:
        assert step.run is not None
        # The defaults of a job do not reach into an action.
        default = self.run.job if depth == 0 else None
        written = step.shell or (default.shell if default else None)
        if not (written or "bash").startswith(BASH):
            return NotChecked(path, f"line {step.line}: a step for the shell {code(written or '')}")
        source = source_with(step.run, contexts)
        here = source.span(0, 0)
        variables = {name: given(text, here) for name, text in KNOWN_DEFAULTS.items()}
        above = {**self._environment(), **own}
        variables |= {name: each for name, each in above.items() if not is_fixed(name)}
        if self.folders:
            before = variables["PATH"].text if "PATH" in variables else (_PATH,)
            variables["PATH"] = given(join([*self.folders, *before]), here)
        shell = Shell(
            source,
            variables,
            cwd=folder_of(
                step.working_directory or (default.working_directory if default else None), contexts, path
            ),
            options=options_of(written),
            tainted=self.tainted,
        )
        return Ready(shell, step, path, _continues(step, contexts, path), certain=True)

    def _environment(self) -> dict[str, Variable]:
        """The environment of the job, with what its steps appended."""
        workflow, job = self.run.workflow, self.run.job
        variables: dict[str, Variable] = {}
        container = {
            name.removeprefix("env."): each for name, each in job.container.items() if name.startswith("env.")
        }
        for level in (container, workflow.environment, job.environment):
            variables |= variables_of(level, self.run.contexts, workflow.path)
        return {**variables, **self.carried}

    def _action(
        self,
        step: Step,
        path: str,
        contexts: Contexts,
        own: Mapping[str, Variable],
        depth: int,
        *,
        certain: bool,
    ) -> Iterator[Ready | NotChecked]:
        """The steps of a composite action of the repository, whose ids only it sees."""
        unknown = Unknown(f"what {code(step.uses or '')} gives", path, step.line)
        results, self.results = self.results, {}
        outputs: Value = unknown
        try:
            action = self._read_action(step, path, depth)
            if isinstance(action, NotChecked):
                yield action
            elif action is not None:
                # The inputs of an action are texts, whatever they were before.
                inputs = {
                    name.lower(): as_text(value_of(each.text, contexts, file, each.line))
                    for settings, file in ((action.inputs, action.path), (step.inputs, path))
                    for name, each in settings.items()
                }
                inner = contexts.with_values(inputs=inputs)
                yield from self._steps(action.steps, action.path, inner, own, depth + 1, certain=certain)
                now = self._now(inner)
                outputs = {
                    "outputs": {
                        name: value_of(each.text, now, action.path, each.line)
                        for name, each in action.outputs.items()
                    },
                    "outcome": unknown,
                    "conclusion": unknown,
                }
        finally:
            self.results = results
        if step.id is not None:
            self.results[step.id] = outputs

    def _read_action(self, step: Step, path: str, depth: int) -> Action | NotChecked | None:
        """A local action; None if it is not composite. Raises NotFetched."""
        folder = normal_path(step.uses or "")
        names = [f"{folder}/action.yml", f"{folder}/action.yaml"]
        file = next((name for name in names if name in self.snapshot), None)
        if file is None or depth >= MAX_ACTIONS_DEEP:
            return NotChecked(path, f"line {step.line}: the action {code(step.uses or '')} is not read")
        try:
            return load_action(file, self.snapshot.text(file))
        except NotFetched:
            raise
        except (SnapshotError, yamlfile.YamlRefused) as error:
            return NotChecked(file, str(error))

    def after(self, ready: Ready, evaluation: Evaluation) -> None:
        """Keep what the step left behind: environment, outputs, changed files, and whether it failed."""
        step, shell = ready.step, ready.shell
        appended = variables_in(evaluation, GITHUB_ENV, shell)
        programs = files_of_programs(self.snapshot, evaluation, shell.source.text)
        self.tainted = self.tainted or appended is None or "GITHUB_ENV" in programs
        maybe = (shell.unknown("what a step appends that may not run", 0),)
        for name, text in (appended or {}).items():
            before = self.carried.get(name)
            same = before is not None and before.text == text
            self.carried[name] = given(text if ready.certain or same else maybe, shell.source.span(0, 0))
        folders = folders_in(evaluation, shell)
        self.folders = join([*(folders if ready.certain or not folders else maybe), *self.folders])
        self.changed |= {path for each in evaluation.paths for path in each.changed}
        failed = _failed(evaluation) if ready.certain else None
        self.failed = self.failed or (failed is True and not ready.continues)
        if step.id is not None:
            unknown = shell.unknown("how an earlier step ended", 0)
            outcome: Value = unknown if failed is None else text_of("failure" if failed else "success")
            told = ready.certain and "GITHUB_OUTPUT" not in programs
            outputs = variables_in(evaluation, GITHUB_OUTPUT, shell) if told else None
            self.results[step.id] = {
                "outputs": unknown if outputs is None else outputs,
                "outcome": outcome,
                "conclusion": text_of("success") if ready.continues and ready.certain else outcome,
            }


def _continues(step: Step, contexts: Contexts, path: str) -> bool:
    """True if the job may go on when the step fails (``continue-on-error``)."""
    setting = step.continues
    if setting is None:
        return False
    return known(as_text(value_of(setting.text, contexts, path, setting.line))) != "false"


def _failed(evaluation: Evaluation) -> bool | None:
    """Whether the step failed; None if that is not known on some path."""
    statuses = [path.status for path in evaluation.paths]
    if all(isinstance(status, int) and status for status in statuses):
        return True
    return False if all(status == 0 for status in statuses) else None
