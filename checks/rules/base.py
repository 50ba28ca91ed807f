"""What every rule builds on: the rule class, how a finding is made, how a fix is proven."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from checks.hydra.config import EffectiveConfig, Origin
from checks.hydra.overrides import Override
from checks.launches import Launch
from checks.model import Edit, Evidence, Finding, Place, Related, Severity


class Prover(Protocol):
    """Runs the same launch again under a change, on the same snapshot, without touching it."""

    def with_edit(self, launch: Launch, edits: tuple[Edit, ...]) -> Launch | None:
        """The launch after ``edits`` of its files; None if it is not there any more."""

    def with_override(self, launch: Launch, text: str) -> EffectiveConfig | None:
        """The config with one more override at the end; None if Hydra refuses it."""

    def line(self, path: str, number: int) -> str:
        """One line of a file, without its line end."""


class LaunchRule(ABC):
    """A rule about one launch. The docstring of a subclass is its documentation page.

    ``severity`` is the highest that the rule may use. A rule never formats for a terminal or for GitHub,
    never reads a file by itself and never imports another rule.
    """

    id: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]

    @abstractmethod
    def check(self, launch: Launch, prover: Prover) -> Iterable[Finding]:
        """The findings on ``launch``; nothing on what is not known."""

    def finding(
        self,
        severity: Severity,
        launch: Launch,
        subject: str,
        title: str,
        message: str,
        places: Sequence[Place],
        *,
        evidence: Iterable[Evidence] = (),
        related: Iterable[Related] = (),
        fix: tuple[Edit, ...] = (),
        also: tuple[str, ...] = (),
    ) -> Finding:
        """The one way to make a finding; its condition is the launch's assumption."""
        return Finding(
            rule=self.id,
            severity=severity,
            title=title,
            message=message,
            places=tuple(places),
            subject=subject,
            also=also,
            condition=launch.assumption,
            related=tuple(related),
            evidence=tuple(evidence),
            fix=fix,
        )


def evidence(key: str, value: str, origin: Origin | None) -> Evidence:
    """A row of the evidence table from a value and its origin."""
    return Evidence(key, value, origin.path if origin else None, origin.line if origin else None)


def delete_line(override: Override, prover: Prover) -> tuple[Edit, ...]:
    """The edit that removes ``override``; () unless it stands alone on its line."""
    span = override.span
    line = prover.line(span.path, span.line)
    rest = (line[: span.column - 1] + line[span.end_column - 1 :]).strip()
    if span.line != span.end_line or rest not in ("", "\\"):
        return ()
    before = prover.line(span.path, span.line - 1) if span.line > 1 and not rest else ""
    if before.endswith("\\"):
        # The last line of a command: the one before it must not go on.
        return (Edit(span.path, span.line - 1, span.line, before[:-1].rstrip()),)
    return (Edit(span.path, span.line, span.line, ""),)


def rewrite(override: Override, old: str, new: str, prover: Prover) -> tuple[Edit, ...]:
    """The edit that replaces ``old`` at the start of the override by ``new``; () if it is not there."""
    span = override.span
    line = prover.line(span.path, span.line)
    start = span.column - 1
    quotes = len(line[start:]) - len(line[start:].lstrip("\"'"))
    at = start + quotes
    if not line.startswith(old, at):
        return ()
    return (Edit(span.path, span.line, span.line, line[:at] + new + line[at + len(old) :]),)
