"""Every case of tests/cases: what must be reported is, with place, text and proven fix; nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.compare import review
from checks.model import Finding, Report
from checks.prove import apply
from checks.rules import all_rules
from checks.snapshot import Snapshot, TreeEntry
from tests.mini import base_files, edited, head_files, snapshot

CASES = sorted((Path(__file__).parent.parent / "cases").rglob("*.yml"))
TREES = {"mini": base_files, "mini-pull": head_files}


def load(path: Path) -> tuple[Snapshot, Snapshot | None, dict[str, Any]]:
    """Head, base (None: audit head alone) and the case."""
    case: dict[str, Any] = yaml.safe_load(path.read_text())
    files = TREES[case["tree"]]() if "tree" in case else {}
    files |= case.get("files", {})
    for change in case.get("replace", []):
        files = edited(files, change["path"], change["old"], change["new"])
    base = None
    if "base" in case:
        base = snapshot(files if case["base"] == "same" else TREES[case["base"]]())
    for change in case.get("change", []):
        files = edited(files, change["path"], change["old"], change["new"])
    head = snapshot(files)
    for folder in case.get("submodules", []):
        head.tree = {**head.tree, folder: TreeEntry("1" * 40, "160000")}
    return head, base, case


def run(path: Path) -> tuple[Report, Snapshot, dict[str, Any]]:
    head, base, case = load(path)
    return review(head, base), head, case


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path) -> None:
    report, head, case = run(path)
    assert report.crashed == ()
    found = [
        (f.rule, str(f.severity), f.path, f.places[0].line, f.places[0].end_line) for f in report.findings
    ]
    keys = ("rule", "severity", "path", "line", "end_line")
    assert found == [tuple(expected[key] for key in keys) for expected in case["expect"]]
    for finding, expected in zip(report.findings, case["expect"], strict=True):
        check_texts(finding, expected)
        check_fix(finding, expected, head)
    reasons = [each.reason for each in report.not_checked]
    for text in case.get("not_checked", []):
        assert any(text in reason for reason in reasons), (text, reasons)
    if "not_checked" not in case:
        assert reasons == []


def check_texts(finding: Finding, expected: dict[str, Any]) -> None:
    for text in expected.get("says", []):
        assert text in finding.message
    assert expected.get("condition", "") in (finding.condition or "")
    assert (finding.condition is None) == ("condition" not in expected)
    if "also" in expected:
        assert list(finding.also) == expected["also"]


def check_fix(finding: Finding, expected: dict[str, Any], head: Snapshot) -> None:
    """The fix is the expected text, and with it applied the finding is gone."""
    if "fix" not in expected:
        return
    assert "\n".join(edit.replacement for edit in finding.fix).split("\n") == (expected["fix"] or [""])
    assert bool(finding.fix) == bool(expected["fix"])
    if finding.fix:
        after = review(apply(head, finding.fix), None)
        assert (finding.rule, finding.subject) not in [(each.rule, each.subject) for each in after.findings]


def test_every_rule_has_cases_that_report_and_cases_that_are_silent() -> None:
    for rule in all_rules():
        own = [load(path)[2] for path in CASES if path.parent.name == rule.id]
        reported = [expected for case in own for expected in case["expect"] if expected["rule"] == rule.id]
        assert reported, rule.id
        assert any(not case["expect"] for case in own), rule.id
        assert all(expected["severity"] in allowed(rule.severity) for expected in reported)


def allowed(highest: str) -> tuple[str, ...]:
    order = ("high", "medium", "low")
    return order[order.index(str(highest)) :]
