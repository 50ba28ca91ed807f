"""The JSON contract of ``npu-review check`` (docs/json.md): schema 1 may gain fields, none is renamed."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from checks.model import (
    Crash,
    Edit,
    Evidence,
    Finding,
    Job,
    LaunchSummary,
    NotChecked,
    Place,
    Related,
    Report,
    Severity,
)

SCHEMA = 1


def to_dict(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    return {
        "schema": SCHEMA,
        "base": report.base,
        "head": report.head,
        "launches": [asdict(launch) for launch in report.launches],
        "findings": [_finding(finding) for finding in report.findings],
        "not_checked": [asdict(each) for each in report.not_checked],
        "crashed": [asdict(each) for each in report.crashed],
        "stats": {"seconds": report.seconds, "files": report.files, "rules": report.rules},
    }


def to_json(report: Report) -> str:
    """The report as one JSON text."""
    return json.dumps(to_dict(report), indent=2, ensure_ascii=False)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "title": finding.title,
        "message": finding.message,
        "path": finding.path,
        "line": finding.places[0].line,
        "end_line": finding.places[0].end_line,
        "places": [asdict(place) for place in finding.places],
        "launches": list(finding.launches),
        "also": list(finding.also),
        "condition": finding.condition,
        "related": [asdict(each) for each in finding.related],
        "evidence": [asdict(row) for row in finding.evidence],
        "fix": [asdict(edit) for edit in finding.fix],
        "subject": finding.subject,
        "ordinal": finding.ordinal,
        "fingerprint": finding.fingerprint,
    }


def from_dict(data: dict[str, Any]) -> Report:
    """The report that ``to_dict`` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    return Report(
        base=data["base"],
        head=data["head"],
        launches=tuple(
            LaunchSummary(**{**launch, "job": Job(**launch["job"]) if launch["job"] else None})
            for launch in data["launches"]
        ),
        findings=tuple(_read_finding(finding) for finding in data["findings"]),
        not_checked=tuple(NotChecked(**each) for each in data["not_checked"]),
        crashed=tuple(Crash(**each) for each in data["crashed"]),
        seconds=data["stats"]["seconds"],
        files=data["stats"]["files"],
        rules=data["stats"]["rules"],
    )


def _read_finding(data: dict[str, Any]) -> Finding:
    return Finding(
        rule=data["rule"],
        severity=Severity(data["severity"]),
        title=data["title"],
        message=data["message"],
        places=tuple(Place(**place) for place in data["places"]),
        subject=data["subject"],
        launches=tuple(data["launches"]),
        also=tuple(data["also"]),
        condition=data["condition"],
        related=tuple(Related(**each) for each in data["related"]),
        evidence=tuple(Evidence(**row) for row in data["evidence"]),
        fix=tuple(Edit(**edit) for edit in data["fix"]),
        ordinal=data["ordinal"],
        fingerprint=data["fingerprint"],
    )
