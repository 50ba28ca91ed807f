"""The calling contexts that workflows make: each ``run:`` block of an NPU job as a shell to evaluate."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from checks.markdown import code
from checks.model import Job, NotChecked, Span
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import Field, Variable
from checks.workflow.load import EnvironmentEntry, Step, Workflow, WorkflowJob
from checks.workflow.runners import runner

BASH = ("bash", "sh", "bash {0}", "sh {0}", "bash -e {0}", "bash -l {0}", "bash -el {0}")


@dataclass(frozen=True)
class JobStep:
    """One ``run:`` block in its job, ready to evaluate."""

    job: Job
    step: Step
    shell: Shell


def npu_jobs(workflow: Workflow) -> Iterator[tuple[WorkflowJob, Job]]:
    """The jobs whose runner carries NPUs."""
    for job in workflow.jobs:
        for label in job.runs_on:
            found = runner(label)
            if found is not None:
                yield job, Job(workflow.path, job.id, label, found.npus)
                break


def job_steps(workflow: Workflow) -> Iterator[JobStep | NotChecked]:
    """The ``run:`` blocks of all NPU jobs, in order; blocks for another shell are reported."""
    for job, identity in npu_jobs(workflow):
        for step in job.steps:
            if step.run is None:
                continue
            shell = step.shell or job.shell or "bash"
            if not shell.startswith(BASH):
                yield NotChecked(workflow.path, f"line {step.line}: a step for the shell {code(shell)}")
                continue
            yield JobStep(identity, step, _shell(workflow, job, step, step.run))


def _shell(workflow: Workflow, job: WorkflowJob, step: Step, run: Source) -> Shell:
    variables: dict[str, Variable] = {}
    for entry in (*workflow.environment, *job.environment, *step.environment):
        variables[entry.name] = _variable(workflow.path, entry)
    folder = step.working_directory or job.working_directory or ""
    cwd = posixpath.normpath(folder).removeprefix(".") if "${{" not in folder and folder[:1] != "/" else None
    return Shell(run, variables, cwd=cwd)


def _variable(path: str, entry: EnvironmentEntry) -> Variable:
    span = Span(path, entry.line, 1, entry.line, 1)
    return Variable((Field(entry.value, span),), exported=True)
