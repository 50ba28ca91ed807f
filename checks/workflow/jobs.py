"""The jobs that workflows really start: reusable workflows followed, matrices expanded, runners resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from checks import yamlfile
from checks.markdown import code
from checks.model import Job, NotChecked
from checks.shell.value import ROOT, Unknown, known
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow import matrix
from checks.workflow.expressions import ASKS_STATUS, Contexts, Value, as_text, truth
from checks.workflow.load import Settings, Workflow, WorkflowJob, is_workflow, load
from checks.workflow.render import condition_of, value_of
from checks.workflow.runners import Runners

MAX_WORKFLOWS_DEEP = 4
_SPEAKS_OF_NPU = re.compile(r"npu|ascend|aarch64", re.I)


@dataclass(frozen=True)
class JobRun:
    """One NPU job in one cell of its matrix: who it is, and what its expressions may refer to."""

    identity: Job
    workflow: Workflow
    job: WorkflowJob
    contexts: Contexts


def job_runs(snapshot: Snapshot, workflow: Workflow, runners: Runners) -> Iterator[JobRun | NotChecked]:
    """Every NPU job of ``workflow`` and of the workflows it calls, cell by cell.

    A workflow that only others call is left to them. Raises NotFetched.
    """
    if set(workflow.events) == {"workflow_call"}:
        return
    for inputs, started in _starts(workflow):
        caller = _Caller(snapshot, runners, workflow.path, started)
        yield from _runs(caller, workflow, inputs, "", 0)


def _starts(workflow: Workflow) -> Iterator[tuple[dict[str, Value], str]]:
    """The inputs of each way to start: all of them null after an event, the defaults by hand."""
    by_hand = "workflow_dispatch" in workflow.events
    if not (set(workflow.events) - {"workflow_dispatch", "workflow_call"}):
        yield _inputs(workflow, {}), ""
        return
    yield {}, ""
    if by_hand and workflow.reads_inputs:
        yield _inputs(workflow, {}), "started by hand"


_BARE = Contexts({})


@dataclass(frozen=True)
class _Caller:
    """What stays the same down the called workflows: files, runners, and the workflow that GitHub starts.

    ``started`` says how, where that makes a difference.
    """

    snapshot: Snapshot
    runners: Runners
    outermost: str
    started: str


def _contexts(workflow: Workflow, inputs: Mapping[str, Value]) -> Contexts:
    contexts = Contexts(
        {"github": {"workspace": (ROOT,)}, "inputs": inputs, "env": {}, "steps": {}}, frozenset({"github"})
    )
    return with_environment(contexts, workflow.environment, workflow.path)


def with_environment(contexts: Contexts, settings: Settings, path: str) -> Contexts:
    """``contexts`` with one more level of ``env:``."""
    own = {name: as_text(value_of(each.text, contexts, path, each.line)) for name, each in settings.items()}
    return contexts.with_values(env={**contexts.values["env"], **own})


def _runs(
    caller: _Caller, workflow: Workflow, inputs: Mapping[str, Value], prefix: str, depth: int
) -> Iterator[JobRun | NotChecked]:
    contexts = _contexts(workflow, inputs)
    skipped: set[str] = set()
    for job in _in_order(workflow.jobs):
        condition = job.condition
        waits = not skipped.isdisjoint(job.needs) and not (condition and ASKS_STATUS.search(condition.text))
        if waits or (
            condition
            and truth(condition_of(condition.text, contexts, workflow.path, condition.line)) is False
        ):
            skipped.add(job.id)
            continue
        cells = matrix.expand(job.matrix, contexts, workflow.path, job.line)
        if cells.cut:
            yield NotChecked(
                workflow.path, f"line {job.line}: a matrix of more than {matrix.MAX_CELLS} cells"
            )
        for cell in cells.cells:
            inner = with_environment(contexts.with_values(matrix=cell), job.environment, workflow.path)
            name = f"{prefix}{job.id}"
            if job.uses is not None:
                yield from _called(caller, workflow, job, inner, name, depth)
                continue
            found = _identity(caller, workflow, job, inner, cell, name)
            if isinstance(found, Job):
                yield JobRun(found, workflow, job, inner)
            elif found is not None:
                yield found


def _in_order(jobs: Iterable[WorkflowJob]) -> list[WorkflowJob]:
    """The jobs, each after those that it needs; as written where they need each other."""
    waiting = list(jobs)
    ordered: list[WorkflowJob] = []
    while waiting:
        names = {job.id for job in waiting}
        ready = [job for job in waiting if names.isdisjoint(job.needs)] or waiting
        ordered += ready
        waiting = [job for job in waiting if job not in ready]
    return ordered


def _identity(
    caller: _Caller,
    workflow: Workflow,
    job: WorkflowJob,
    contexts: Contexts,
    cell: Mapping[str, Value] | Unknown,
    name: str,
) -> Job | NotChecked | None:
    for setting in job.runs_on:
        value = value_of(setting.text, contexts, workflow.path, setting.line)
        labels = value if isinstance(value, list) else [value]
        for each in labels:
            label = known(as_text(each))
            found = caller.runners.find(label) if label is not None else None
            if found is not None:
                variant = ", ".join(filter(None, (matrix.label(cell), caller.started))) or None
                return Job(caller.outermost, name, found.label, found.npus, variant)
            if label is None and _SPEAKS_OF_NPU.search(setting.text + workflow.path):
                return NotChecked(
                    workflow.path, f"line {setting.line}: the runner {code(setting.text)} is not known"
                )
    return None


def _called(
    caller: _Caller, workflow: Workflow, job: WorkflowJob, contexts: Contexts, name: str, depth: int
) -> Iterator[JobRun | NotChecked]:
    """The jobs of a reusable workflow; one of another repository is not read."""
    assert job.uses is not None
    target = job.uses.text.removeprefix("./")
    if not job.uses.text.startswith("./") or depth >= MAX_WORKFLOWS_DEEP:
        if _SPEAKS_OF_NPU.search(job.uses.text + workflow.path):
            yield NotChecked(
                workflow.path, f"line {job.uses.line}: the workflow {code(job.uses.text)} is not read"
            )
        return
    try:
        called = load(target, caller.snapshot.text(target)) if is_workflow(target) else None
    except NotFetched:
        raise
    except (SnapshotError, yamlfile.YamlRefused) as error:
        yield NotChecked(workflow.path, f"line {job.uses.line}: {error}")
        return
    if called is None:
        yield NotChecked(workflow.path, f"line {job.uses.line}: {code(target)} is no workflow")
        return
    given = {key: value_of(each.text, contexts, workflow.path, each.line) for key, each in job.inputs.items()}
    yield from _runs(caller, called, _inputs(called, given), f"{name} / ", depth + 1)


def lowered(inputs: Mapping[str, Value]) -> dict[str, Value]:
    """Inputs by names without capitals, which do not count in them."""
    return {name.lower(): value for name, value in inputs.items()}


def _inputs(workflow: Workflow, given: Mapping[str, Value]) -> dict[str, Value]:
    """The inputs of a workflow: what is given, else the defaults; booleans as such."""
    defaults = {
        key: value_of(each.text, _BARE, workflow.path, each.line) for key, each in workflow.inputs.items()
    }
    values = {**lowered(defaults), **lowered(given)}
    for name in {each.lower() for each in workflow.booleans} & set(values):
        written = known(as_text(values[name]))
        values[name] = written == "true" if written in ("true", "false") else values[name]
    return values
