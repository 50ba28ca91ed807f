"""The calling contexts that workflows make: each ``run:`` block of an NPU job as a shell to evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.markdown import code
from checks.model import Job, NotChecked, Span
from checks.shell.builtins import SET_LETTERS
from checks.shell.source import Source
from checks.shell.state import Shell, normal_path
from checks.shell.value import ROOT, Field, Variable
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
    variables: dict[str, Variable] = {
        "GITHUB_WORKSPACE": Variable((Field((ROOT,), run.span(0, 0)),), exported=True)
    }
    for entry in (*workflow.environment, *job.environment, *step.environment):
        variables[entry.name] = _variable(workflow.path, entry)
    folder = step.working_directory or job.working_directory or ""
    cwd = None if "${{" in folder else normal_path(folder)
    return Shell(run, variables, cwd=cwd, options=_options(step.shell or job.shell))


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


def _variable(path: str, entry: EnvironmentEntry) -> Variable:
    span = Span(path, entry.line, 1, entry.line, 1)
    return Variable((Field(entry.value, span),), exported=True)
