"""Every way in which CI, or a person, starts a script: the calling contexts of a snapshot.

Pure: the snapshot is the only thing read. Files that are missing from it are noted there as ``needed``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from checks import scope, yamlfile
from checks.hydra.tree import is_config
from checks.model import Job, NotChecked
from checks.shell.evaluate import Evaluation, evaluate
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import text_of
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow.clusters import submitted_scripts
from checks.workflow.jobs import JobRun, job_runs
from checks.workflow.load import Workflow, is_workflow, load
from checks.workflow.runners import Runners
from checks.workflow.steps import JobSteps


@dataclass(frozen=True)
class Context:
    """One way to start a script: everything that runs comes from the paths of ``evaluation``."""

    path: str
    job: Job | None
    shell: Shell
    evaluation: Evaluation


def contexts(
    snapshot: Snapshot,
    touched: frozenset[str] | None,
    given: frozenset[str],
    runners: Runners,
    not_checked: list[NotChecked],
) -> Iterator[Context]:
    """Every ``run:`` block of an NPU job, then every script in scope that none of them runs.

    What cannot be read is added to ``not_checked``.
    """
    seen: set[str] = set()
    for path in sorted(path for path in snapshot.tree if is_workflow(path)):
        workflow = _workflow(snapshot, path, touched, not_checked)
        unread: list[NotChecked] = []
        for context in _of_workflow(snapshot, workflow, runners, unread) if workflow else ():
            seen.update(context.evaluation.files)
            yield context
        not_checked += [each for each in unread if touched is None or touched & {path, each.path}]
    whole = touched is None or any(is_config(path) for path in touched)
    for path in sorted(path for path in snapshot.tree if scope.is_script(path)):
        if path not in seen and (whole or path in (touched or ()) or path in given):
            alone = _script_alone(snapshot, path, path in given, not_checked)
            if alone is not None:
                yield alone


def _of_workflow(
    snapshot: Snapshot, workflow: Workflow, runners: Runners, not_checked: list[NotChecked]
) -> Iterator[Context]:
    """The blocks of all NPU jobs, and the scripts that they hand to a cluster."""
    with contextlib.suppress(NotFetched):
        for run in job_runs(snapshot, workflow, runners):
            if isinstance(run, NotChecked):
                not_checked.append(run)
                continue
            yield from _of_job(snapshot, run, not_checked)


def _of_job(snapshot: Snapshot, run: JobRun, not_checked: list[NotChecked]) -> Iterator[Context]:
    steps = JobSteps(snapshot, run)
    for ready in steps:
        if isinstance(ready, NotChecked):
            not_checked.append(ready)
            continue
        context = _context(snapshot, ready.path, run.identity, ready.shell)
        if context is None:
            steps.tainted = True
            continue
        for path in sorted(context.evaluation.files & steps.changed):
            reason = "an earlier step of the job writes this file; it is judged as it is in the tree"
            not_checked.append(NotChecked(path, reason))
        steps.after(ready, context.evaluation)
        yield context
        invocations = context.evaluation.paths[0].invocations
        for path, npus in submitted_scripts(snapshot, invocations):
            submitted = _submitted(snapshot, run, path, npus, not_checked)
            if submitted is not None:
                yield submitted


def _submitted(
    snapshot: Snapshot, run: JobRun, path: str, npus: int | None, not_checked: list[NotChecked]
) -> Context | None:
    """A script that a job hands to the cluster it starts: its environment is the cluster's own."""
    try:
        shell = Shell(Source(path, snapshot.text(path)), zero=text_of(path))
    except NotFetched:
        return None
    except SnapshotError as error:
        not_checked.append(NotChecked(path, str(error)))
        return None
    return _context(snapshot, path, replace(run.identity, npus=npus), shell)


def _workflow(
    snapshot: Snapshot, path: str, touched: frozenset[str] | None, not_checked: list[NotChecked]
) -> Workflow | None:
    try:
        return load(path, snapshot.text(path))
    except NotFetched:
        return None
    except (SnapshotError, yamlfile.YamlRefused) as error:
        if touched is None or path in touched:
            not_checked.append(NotChecked(path, str(error)))
        return None


def _script_alone(
    snapshot: Snapshot, path: str, is_given: bool, not_checked: list[NotChecked]
) -> Context | None:
    try:
        text = snapshot.text(path)
    except NotFetched:
        return None
    except SnapshotError as error:
        if is_given or scope.names_npu(path):
            not_checked.append(NotChecked(path, str(error)))
        return None
    if not (is_given or scope.names_npu(path) or scope.speaks_of_npu(text)):
        return None
    return _context(snapshot, path, None, Shell(Source(path, text), zero=text_of(path), open=True))


def _context(snapshot: Snapshot, path: str, job: Job | None, shell: Shell) -> Context | None:
    try:
        return Context(path, job, shell, evaluate(snapshot, shell))
    except NotFetched:
        return None
