"""The vocabulary of npu-review as frozen values: spans, launches, findings.

Paths are posix strings relative to the repository root. Lines and columns start at 1; an end line is
included, an end column is the one after the last character.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Severity(StrEnum):
    """How sure and how bad: see DESIGN, *Rules*. Ordered by ``rank``, high first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """3 for high, 2 for medium, 1 for low."""
        return {"high": 3, "medium": 2, "low": 1}[self.value]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one file's text."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> Place:
        """The whole lines that the span touches."""
        return Place(self.path, self.line, self.end_line)


@dataclass(frozen=True, slots=True)
class Place:
    """Whole lines of one file."""

    path: str
    line: int
    end_line: int

    def touches(self, lines: frozenset[int]) -> bool:
        """True if any of ``lines`` lies inside."""
        return any(line in lines for line in range(self.line, self.end_line + 1))


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of, with what is to be seen there."""

    path: str
    line: int
    end_line: int
    message: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row of a finding's table: an effective value and where it comes from."""

    key: str
    value: str | None
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Whole lines ``start_line``..``end_line`` replaced by ``replacement`` (no newline at its end)."""

    path: str
    start_line: int
    end_line: int
    replacement: str


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something in scope that could not be judged. Never counted as clean."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Job:
    """The workflow job that starts a launch: its runner label and NPUs (None: not known).

    ``matrix`` names the cell of its matrix, and how the workflow is started where that makes a difference;
    the id of a job of a called workflow follows the caller's.
    """

    workflow: str
    id: str
    runner: str
    npus: int | None
    matrix: str | None = None


LaunchStatus = Literal["composed", "rejected", "unresolved", "not-hydra"]


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """What a report says of one launch.

    ``status``: *composed*; *rejected* (Hydra refuses it); *unresolved* (a part that decides is not
    known); *not-hydra* (a training command without a Hydra entry point). ``reason`` is set for the
    last three.
    """

    script: str
    line: int
    job: Job | None
    module: str
    config: str | None
    overrides: int
    status: LaunchStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule reports.

    ``places[0]`` is the primary place. ``subject`` is the logical place (override key, variable, job
    or step id) that identifies the finding over pushes; ``launches`` are indexes into the launches of
    the same audit.
    """

    rule: str
    severity: Severity
    title: str
    message: str
    places: tuple[Place, ...]
    subject: str
    launches: tuple[int, ...] = ()
    also: tuple[str, ...] = ()
    condition: str | None = None
    related: tuple[Related, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: tuple[Edit, ...] = ()
    ordinal: int = 0
    fingerprint: str = field(default="")

    @property
    def path(self) -> str:
        """The path of the primary place."""
        return self.places[0].path


def fingerprint(finding: Finding, old_path: str | None = None) -> str:
    """The identity of ``finding`` over pushes: 16 hex digits.

    Neither value, severity, launch nor line goes in. A renamed file keeps its ``old_path``.
    """
    parts = (finding.rule, old_path or finding.path, finding.subject, str(finding.ordinal))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Crash:
    """A rule that raised or ran out of time: the others went on, the audit is not a success."""

    rule: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """One audit of a commit, or what one change introduces: what every output format is made of."""

    base: str | None
    head: str | None
    launches: tuple[LaunchSummary, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    crashed: tuple[Crash, ...]
    seconds: float
    files: int
    rules: int
