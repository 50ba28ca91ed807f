"""What a change introduces: the audit of head minus the audit of base."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from checks import configuration
from checks.audit import Audit, audit, prepare
from checks.hydra.compose import Bases
from checks.launches import Launch
from checks.model import Finding, Place, Report, fingerprint
from checks.rules import all_rules
from checks.snapshot import Snapshot, SnapshotError

MAX_COMPARED = 4_000_000
"""Lines times lines that are compared one by one."""


@dataclass(frozen=True)
class Change:
    """From base to head: paths that differ, renamed files, and the lines of head that are new or changed."""

    paths: frozenset[str]
    old_paths: Mapping[str, str] = field(default_factory=dict)
    """Path at head to path at base, for renamed files."""
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Path at head to the numbers of its added or changed lines."""


def review(
    head: Snapshot,
    base: Snapshot | None,
    *,
    given: frozenset[str] = frozenset(),
    everything: bool = False,
    clock: float = 0.0,
) -> Report:
    """Audit ``head``, and against ``base`` if there is one keep what the change introduces.

    ``given`` paths limit what is reported; a file among them is in scope whatever it says. ``everything``
    keeps also what stood at base. ``clock`` is the monotonic time at which the work began. Look at ``needed``
    of both snapshots first: while it is not empty the report is not complete.
    """
    own = configuration.read(base or head)
    by_name = frozenset(path for path in given if path in head)
    given = _files_of(head, given)
    if base is None:
        after = audit(head, given or None, by_name, own)
        findings = [replace(finding, fingerprint=fingerprint(finding)) for finding in after.findings]
    else:
        change = change_between(base, head)
        touched = change.paths | by_name
        bases: Bases = {}
        after = audit(head, None if everything else touched, by_name, own, bases)
        before = audit(base, _at_base(touched, change), by_name, own, bases)
        findings = [
            replace(finding, fingerprint=_fingerprint(finding, change))
            for finding in after.findings
            if everything or _introduced(finding, before, change)
        ]
    shown = [number for number, launch in enumerate(after.launches) if not given or _runs(launch, given)]
    return Report(
        base=base.commit if base else None,
        head=head.commit,
        launches=tuple(after.launches[number].summary for number in shown),
        findings=tuple(
            replace(finding, launches=tuple(shown.index(each) for each in finding.launches if each in shown))
            for finding in findings
            if not given or any(place.path in given for place in finding.places)
        ),
        not_checked=tuple(each for each in after.not_checked if not given or each.path in given),
        crashed=tuple(after.crashed),
        seconds=round(time.monotonic() - clock, 3) if clock else 0.0,
        files=len(head.read_paths),
        rules=len(all_rules()),
    )


def prepare_review(
    head: Snapshot, base: Snapshot | None, *, given: frozenset[str] = frozenset(), everything: bool = False
) -> None:
    """Note in ``needed`` of both snapshots what ``review`` will read, without composing anything."""
    own = configuration.read(base or head)
    by_name = frozenset(path for path in given if path in head)
    if base is None:
        prepare(head, _files_of(head, given) or None, by_name, own)
        return
    change = change_between(base, head)
    touched = change.paths | by_name
    prepare(head, None if everything else touched, by_name, own)
    prepare(base, _at_base(touched, change), by_name, own)


def _at_base(touched: frozenset[str], change: Change) -> frozenset[str]:
    return frozenset(change.old_paths.get(path, path) for path in touched)


def change_between(base: Snapshot, head: Snapshot) -> Change:
    """What differs between the two trees. A moved file with equal content counts as renamed."""
    paths = {path for path in {*base.tree, *head.tree} if base.blob_id(path) != head.blob_id(path)}
    gone = {base.tree[path].blob: path for path in sorted(paths) if path not in head.tree}
    old_paths = {
        path: gone[head.tree[path].blob]
        for path in sorted(paths)
        if path not in base.tree and head.tree[path].blob in gone
    }
    lines = {path: _changed_lines(base, head, old_paths.get(path, path), path) for path in paths}
    return Change(frozenset(paths), old_paths, lines)


def _changed_lines(base: Snapshot, head: Snapshot, old_path: str, path: str) -> frozenset[int]:
    """Lines of ``path`` at head that are not at base. Files that are not read have none."""
    if path not in head.tree or not _is_compared(path):
        return frozenset()
    try:
        new = head.text(path).split("\n")
        old = base.text(old_path).split("\n") if old_path in base.tree else []
    except SnapshotError:
        return frozenset()
    return _added(old, new)


def _added(old: list[str], new: list[str]) -> frozenset[int]:
    """Numbers of the lines of ``new`` that are not in ``old``; of very different texts all but equal ends."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if len(before) * len(after) > MAX_COMPARED:
        return frozenset(range(start + 1, len(new) - end + 1))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return frozenset(
        start + number
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag != "equal"
        for number in range(first + 1, last + 1)
    )


def _is_compared(path: str) -> bool:
    return path.endswith((".sh", ".yml", ".yaml"))


def _fingerprint(finding: Finding, change: Change) -> str:
    return fingerprint(finding, change.old_paths.get(finding.path))


def _introduced(finding: Finding, before: Audit, change: Change) -> bool:
    """Absent at base, or more severe than at base, or its evidence changed on a touched line."""
    identity = _fingerprint(finding, change)
    at_base = next((each for each in before.findings if fingerprint(each) == identity), None)
    if at_base is None or finding.severity.rank > at_base.severity.rank:
        return True
    places = [
        *finding.places,
        *(Place(row.path, row.line, row.line) for row in finding.evidence if row.path and row.line),
    ]
    touched = any(place.touches(change.lines.get(place.path, frozenset())) for place in places)
    return touched and _values(finding) != _values(at_base)


def _values(finding: Finding) -> list[tuple[str, str | None]]:
    return [(row.key, row.value) for row in finding.evidence]


def _files_of(head: Snapshot, given: frozenset[str]) -> frozenset[str]:
    """Folders among ``given`` stand for all files below them."""
    return frozenset(path for each in given for path in ([each] if each in head else head.under(each)))


def _runs(launch: Launch, given: frozenset[str]) -> bool:
    return bool(given & {*launch.scripts, launch.job.workflow if launch.job else ""})
