"""Every way in which CI, or a person, starts a script: the calling contexts of a snapshot.

Pure: the snapshot is the only thing read. Files that are missing from it are noted there as ``needed``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks import scope, yamlfile
from checks.model import Job, NotChecked
from checks.shell.evaluate import Evaluation, evaluate
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import text_of
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow.jobs import job_steps
from checks.workflow.load import Workflow, is_workflow, load


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
    not_checked: list[NotChecked],
) -> Iterator[Context]:
    """Every ``run:`` block of an NPU job, then every script in scope that none of them runs.

    What cannot be read is added to ``not_checked``.
    """
    seen: set[str] = set()
    for path in sorted(path for path in snapshot.tree if is_workflow(path)):
        workflow = _workflow(snapshot, path, touched, not_checked)
        for step in job_steps(workflow) if workflow else ():
            if isinstance(step, NotChecked):
                if touched is None or path in touched:
                    not_checked.append(step)
                continue
            context = _context(snapshot, path, step.job, step.shell)
            if context is not None:
                seen.update(context.evaluation.files)
                yield context
    for path in sorted(path for path in snapshot.tree if scope.is_script(path)):
        if path not in seen and (touched is None or path in touched or path in given):
            context = _script_alone(snapshot, path, path in given, not_checked)
            if context is not None:
                yield context


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
