"""All launches of a snapshot and what the rules say about them.

Pure: the snapshot is the only thing read. When files are missing from it, ``audit`` goes as far as it can,
so that one round of fetching brings as much as possible; the caller looks at ``snapshot.needed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from checks import scope, yamlfile
from checks.hydra.compose import Bases, Composer
from checks.hydra.config import EffectiveConfig
from checks.hydra.overrides import Fault, FaultKind
from checks.launches import Launch, command_of, looks_like_training, resolve
from checks.markdown import code
from checks.model import Crash, Edit, Finding, Job, NotChecked
from checks.rules import all_rules
from checks.rules.base import LaunchRule
from checks.shell.evaluate import Outcome, evaluate
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import text_of
from checks.snapshot import NotFetched, Snapshot, SnapshotError
from checks.workflow.jobs import job_steps
from checks.workflow.load import Workflow, is_workflow, load

# Faults that a rule reports; the others are said as *not checked* until one does.
REPORTED_FAULTS: frozenset[FaultKind] = frozenset({"unknown-key", "already-there"})


@dataclass(frozen=True)
class Context:
    """One way in which CI, or a person, starts a script: everything it runs comes from ``outcome``."""

    path: str
    job: Job | None
    shell: Shell
    outcome: Outcome


@dataclass
class Audit:
    """The result: launches in a stable order, findings that point into them, what was not checked."""

    launches: list[Launch] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    crashed: list[Crash] = field(default_factory=list)


def audit(
    snapshot: Snapshot,
    touched: frozenset[str] | None,
    given: frozenset[str] = frozenset(),
    bases: Bases | None = None,
) -> Audit:
    """Audit ``snapshot``. ``touched`` limits it to launches that depend on one of these paths (None: all).

    ``given`` paths are in scope whatever they say; ``bases`` are shared with another audit.
    """
    result = Audit()
    composer = Composer(snapshot, bases)
    seen: set[str] = set()
    for context in _contexts(snapshot, touched, given, result, seen):
        if touched is None or touched & (context.outcome.files | {context.path}):
            result.not_checked += context.outcome.not_checked
            result.not_checked += _not_recognised(context.outcome)
            whole = True
        else:
            whole = False
        for launch in _launches(snapshot, composer, context):
            if whole or touched is None or touched & _tree_files(launch):
                result.launches.append(launch)
                result.not_checked += _unjudged(launch)
                _judge(snapshot, composer, context, launch, len(result.launches) - 1, result)
    result.findings = merge(result.findings)
    result.not_checked = list(dict.fromkeys(result.not_checked))
    return result


def _contexts(
    snapshot: Snapshot,
    touched: frozenset[str] | None,
    given: frozenset[str],
    result: Audit,
    seen: set[str],
) -> Iterator[Context]:
    """Every ``run:`` block of an NPU job, then every script in scope that none of them runs."""
    for path in sorted(path for path in snapshot.tree if is_workflow(path)):
        workflow = _workflow(snapshot, path, touched, result)
        for step in job_steps(workflow) if workflow else ():
            if isinstance(step, NotChecked):
                if touched is None or path in touched:
                    result.not_checked.append(step)
                continue
            context = _context(snapshot, path, step.job, step.shell)
            if context is not None:
                seen |= context.outcome.files
                yield context
    for path in sorted(path for path in snapshot.tree if scope.is_script(path)):
        if path not in seen and (touched is None or path in touched or path in given):
            context = _script_alone(snapshot, path, path in given, result)
            if context is not None:
                yield context


def _workflow(
    snapshot: Snapshot, path: str, touched: frozenset[str] | None, result: Audit
) -> Workflow | None:
    try:
        return load(path, snapshot.text(path))
    except NotFetched:
        return None
    except (SnapshotError, yamlfile.YamlRefused) as error:
        if touched is None or path in touched:
            result.not_checked.append(NotChecked(path, str(error)))
        return None


def _script_alone(snapshot: Snapshot, path: str, is_given: bool, result: Audit) -> Context | None:
    try:
        text = snapshot.text(path)
    except NotFetched:
        return None
    except SnapshotError as error:
        if is_given or scope.names_npu(path):
            result.not_checked.append(NotChecked(path, str(error)))
        return None
    if not (is_given or scope.names_npu(path) or scope.speaks_of_npu(text)):
        return None
    return _context(snapshot, path, None, Shell(Source(path, text), zero=text_of(path)))


def _context(snapshot: Snapshot, path: str, job: Job | None, shell: Shell) -> Context | None:
    try:
        return Context(path, job, shell, evaluate(snapshot, shell.copy()))
    except NotFetched:
        return None


def _not_recognised(outcome: Outcome) -> list[NotChecked]:
    """Commands that are given overrides but are none of the known ways to start training."""
    return [
        NotChecked(each.scripts[-1], f"line {each.span.line}: overrides for a command that is not recognised")
        for each in outcome.invocations
        if command_of(each) is None and looks_like_training(each.argv)
    ]


def _launches(snapshot: Snapshot, composer: Composer, context: Context) -> Iterator[Launch]:
    for invocation in context.outcome.invocations:
        command = command_of(invocation)
        if command is None:
            continue
        try:
            launch = resolve(snapshot, composer, invocation, command, context.job)
        except NotFetched:
            continue
        if launch is not None:
            yield launch


def _unjudged(launch: Launch) -> list[NotChecked]:
    """A launch whose own config is not known: reported, never counted as clean."""
    if launch.status == "composed":
        return []
    if not launch.faults:
        return [NotChecked(launch.script, f"line {launch.span.line}: {launch.status}: {launch.reason}")]
    return [
        NotChecked(
            fault.override.span.path if fault.override else launch.script,
            f"line {(fault.override or launch).span.line}: rejected: {code(fault.reason)}",
        )
        for fault in launch.faults
        if fault.override is None or fault.kind not in REPORTED_FAULTS
    ]


def _tree_files(launch: Launch) -> frozenset[str]:
    """The files of the tree, scripts aside, that decide the launch's config."""
    if launch.entry is None:
        return frozenset()
    return frozenset(launch.config.files if launch.config else ()) | {launch.entry.config}


def _judge(
    snapshot: Snapshot, composer: Composer, context: Context, launch: Launch, index: int, result: Audit
) -> None:
    prover = SnapshotProver(snapshot, composer, context)
    for rule in all_rules():
        findings, crash = run_rule(rule, launch, prover)
        result.findings += [replace(finding, launches=(index,)) for finding in findings]
        if crash is not None:
            result.crashed.append(crash)


def run_rule(rule: LaunchRule, launch: Launch, prover: SnapshotProver) -> tuple[list[Finding], Crash | None]:
    """The fence around one rule: what it raises is reported, and the other rules go on."""
    try:
        return list(rule.check(launch, prover)), None
    except NotFetched:
        return [], None
    except Exception as error:  # noqa: BLE001 - the per-rule fence
        return [], Crash(rule.id, launch.script, f"{type(error).__name__}: {error}")


class SnapshotProver:
    """Proves fixes by evaluating and composing the same context again with the files edited."""

    def __init__(self, snapshot: Snapshot, composer: Composer, context: Context) -> None:
        self.snapshot = snapshot
        self.composer = composer
        self.context = context

    def line(self, path: str, number: int) -> str:
        """One line of a file, without its line end."""
        return self.snapshot.text(path).split("\n")[number - 1]

    def with_override(self, launch: Launch, text: str) -> EffectiveConfig | None:
        """The config with one more override at the end; None if Hydra refuses it."""
        assert launch.entry is not None
        last = replace(launch.overrides[-1], text=text)
        composed = self.composer.compose(launch.entry, (*launch.overrides, last))
        if isinstance(composed, Fault) or composed.faults:
            return None
        return EffectiveConfig(composed, self.snapshot)

    def with_edit(self, launch: Launch, edits: tuple[Edit, ...]) -> Launch | None:
        """The launch at the same position of the same context after ``edits``; None if it is gone."""
        before = list(_launches(self.snapshot, self.composer, self.context))
        edited = apply(self.snapshot, edits)
        shell = _edited_shell(edited, self.context)
        if shell is None:
            return None
        context = replace(self.context, shell=shell, outcome=evaluate(edited, shell.copy()))
        if context.outcome.not_checked != self.context.outcome.not_checked:
            return None
        composer = Composer(edited, self.composer.bases)
        after = list(_launches(edited, composer, context))
        if len(after) != len(before):
            return None
        return after[next(number for number, each in enumerate(before) if each.span == launch.span)]


def _edited_shell(edited: Snapshot, context: Context) -> Shell | None:
    """The context's shell on the edited tree; None where the edit hits the workflow itself."""
    if context.job is not None:
        same = edited.blob_id(context.path)
        return context.shell if same is not None and not same.startswith("edited:") else None
    return replace(context.shell, source=Source(context.path, edited.text(context.path)))


def apply(snapshot: Snapshot, edits: Iterable[Edit]) -> Snapshot:
    """The snapshot after ``edits``; an empty replacement deletes the lines."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    for path, own in by_path.items():
        lines = snapshot.text(path).split("\n")
        for edit in sorted(own, key=lambda each: -each.start_line):
            new = edit.replacement.split("\n") if edit.replacement else []
            lines[edit.start_line - 1 : edit.end_line] = new
        snapshot = snapshot.with_file(path, "\n".join(lines).encode())
    return snapshot


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per rule, subject and places, with all launches it holds for; ordinals among equals."""
    merged: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.subject, finding.places, finding.condition)
        if key in merged:
            first = merged[key]
            higher = finding if finding.severity.rank > first.severity.rank else first
            merged[key] = replace(higher, launches=tuple(sorted({*first.launches, *finding.launches})))
        else:
            merged[key] = finding
    ordered = sorted(
        merged.values(), key=lambda each: (each.path, each.places[0].line, each.rule, each.subject)
    )
    counts: dict[tuple[str, str, str], int] = {}
    result: list[Finding] = []
    for finding in ordered:
        group = (finding.rule, finding.path, finding.subject)
        result.append(replace(finding, ordinal=counts.get(group, 0)))
        counts[group] = counts.get(group, 0) + 1
    return result
