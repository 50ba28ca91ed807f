"""All launches of a snapshot and what the rules say about them.

Pure: the snapshot is the only thing read. When files are missing from it, ``audit`` goes as far as it can,
so that one round of fetching brings as much as possible; the caller looks at ``snapshot.needed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from checks.certainty import with_conditions
from checks.configuration import Configuration
from checks.contexts import Context, contexts
from checks.hydra.compose import Bases, Composer
from checks.hydra.overrides import FaultKind
from checks.hydra.tree import is_config
from checks.launches import Launch, find_files, launches_of
from checks.markdown import code
from checks.model import Crash, Finding, NotChecked
from checks.prove import SnapshotProver
from checks.rules import all_rules
from checks.rules.base import LaunchRule
from checks.snapshot import NotFetched, Snapshot
from checks.unfollowed import unfollowed

DEFAULTS = Configuration()
# Faults that a rule reports; the others are said as *not checked* until one does.
REPORTED_FAULTS: frozenset[FaultKind] = frozenset({"unknown-key", "already-there"})


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
    configuration: Configuration = DEFAULTS,
    bases: Bases | None = None,
) -> Audit:
    """Audit ``snapshot``. ``touched`` limits it to launches that depend on one of these paths (None: all).

    ``given`` paths are in scope whatever they say; ``configuration`` is the repository's own; ``bases`` are
    shared with another audit.
    """
    result = Audit()
    composer = Composer(snapshot, bases)
    if configuration.problem is not None:
        result.not_checked.append(configuration.problem)
    concerned = list(_concerned(snapshot, touched, given, configuration, result.not_checked))
    for context in concerned:
        prover = SnapshotProver(snapshot, composer, context, concerned)
        _audit_context(snapshot, prover, context, touched, result)
    result.findings = merge(result.findings)
    result.not_checked = list(dict.fromkeys(result.not_checked))
    return result


def prepare(
    snapshot: Snapshot, touched: frozenset[str] | None, given: frozenset[str], configuration: Configuration
) -> None:
    """Note in ``snapshot.needed`` what ``audit`` will read, without composing anything."""
    composer = Composer(snapshot)
    for context in _concerned(snapshot, touched, given, configuration, []):
        find_files(snapshot, composer, context.evaluation)


def _concerned(
    snapshot: Snapshot,
    touched: frozenset[str] | None,
    given: frozenset[str],
    configuration: Configuration,
    not_checked: list[NotChecked],
) -> Iterator[Context]:
    """The contexts that a change of the ``touched`` paths can concern."""
    config_changes = touched is None or any(is_config(path) for path in touched)
    for context in contexts(snapshot, touched, given, configuration.runners, not_checked):
        if config_changes or _is_touched(context, touched):
            yield context


def _is_touched(context: Context, touched: frozenset[str] | None) -> bool:
    return touched is None or bool(touched & (context.evaluation.files | {context.path}))


def _audit_context(
    snapshot: Snapshot,
    prover: SnapshotProver,
    context: Context,
    touched: frozenset[str] | None,
    result: Audit,
) -> None:
    evaluation = context.evaluation
    whole = _is_touched(context, touched)
    if whole:
        result.not_checked += evaluation.not_checked
        result.not_checked += unfollowed(snapshot, evaluation)
    found: list[Finding] = []
    first = len(result.launches)
    for launch in launches_of(snapshot, prover.composer, evaluation, context.job):
        if whole or (touched is not None and _reads(launch, touched)):
            result.launches.append(launch)
            result.not_checked += _unjudged(launch)
            found += _judge(prover, launch, len(result.launches) - 1, result)
    result.findings += with_conditions(found, result.launches[first:], first)


def _unjudged(launch: Launch) -> list[NotChecked]:
    """A launch whose own config is not known: reported, never counted as clean."""
    if launch.status == "composed" or (launch.status == "not-hydra" and not launch.overrides_config):
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


def _reads(launch: Launch, touched: frozenset[str]) -> bool:
    """True if the launch's config is composed from one of the ``touched`` files, or might have been."""
    if launch.entry is None:
        return False
    config = launch.config or launch.tried
    if config is not None:
        return bool(touched & (config.files | {launch.entry.config}))
    return any(path.startswith(f"{launch.entry.folder}/") for path in touched if is_config(path))


def _judge(prover: SnapshotProver, launch: Launch, index: int, result: Audit) -> list[Finding]:
    found: list[Finding] = []
    for rule in all_rules():
        findings, crash = run_rule(rule, launch, prover)
        found += [replace(finding, launches=(index,)) for finding in findings]
        if crash is not None:
            result.crashed.append(crash)
    return found


def run_rule(rule: LaunchRule, launch: Launch, prover: SnapshotProver) -> tuple[list[Finding], Crash | None]:
    """The fence around one rule: what it raises is reported, and the other rules go on."""
    try:
        return list(rule.check(launch, prover)), None
    except NotFetched:
        return [], None
    except Exception as error:  # noqa: BLE001 - the per-rule fence
        return [], Crash(rule.id, launch.script, f"{type(error).__name__}: {error}")


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
