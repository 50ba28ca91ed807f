"""Findings as GitHub shows them: inline comments, check-run output. Text of the repository is data here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from app.github.check_runs import Annotation, CheckOutput, Conclusion
from app.review.place import Anchor
from app.review.reconcile import marker
from checks.markdown import code, plain
from checks.model import Evidence, Finding, Report, Severity

BADGE = {Severity.HIGH: "🔴 **High**", Severity.MEDIUM: "🟠 **Medium**", Severity.LOW: "🟡 **Low**"}
LEVEL = {Severity.HIGH: "failure", Severity.MEDIUM: "warning", Severity.LOW: "notice"}
MAX_LISTED = 50


class Links:
    """Permanent links to lines of one commit."""

    def __init__(self, web: str, full_name: str, head: str) -> None:
        self.prefix = f"{web}/{full_name}/blob/{head}"

    def line(self, path: str, line: int | None) -> str:
        """``[path:line](…)`` with the path safe inside Markdown."""
        shown = code(f"{path}:{line}" if line else path)
        return f"[{shown}]({self._address(path, line)})"

    def short(self, path: str, line: int | None) -> str:
        """The same with the file's name only, for tables."""
        name = path.rpartition("/")[2]
        shown = code(f"{name}:{line}" if line else name)
        return f"[{shown}]({self._address(path, line)})"

    def _address(self, path: str, line: int | None) -> str:
        return f"{self.prefix}/{quote(path)}" + (f"#L{line}" if line else "")


def comment(finding: Finding, anchor: Anchor, links: Links, head: str) -> str:
    """The body of one inline comment: marker, badge, message, evidence, suggestion, footer."""
    parts = [
        marker(finding, head),
        f"{BADGE[finding.severity]} · `{finding.rule}` · {finding.title}",
        _message(finding),
        _also_at(finding, links),
        _evidence_table(finding.evidence, links),
        _suggestion(finding, anchor),
        _footer(finding),
    ]
    return "\n\n".join(part for part in parts if part)


def output(report: Report, head: str, unplaced: Sequence[Finding], links: Links) -> CheckOutput:
    """The completed check run: what was read, every finding, what was not checked."""
    return CheckOutput(
        conclusion=_conclusion(report),
        title=_title(report),
        summary=_summary(report, head),
        text=_text(report, links),
        annotations=tuple(_annotation(finding) for finding in unplaced),
    )


def not_reviewed(head: str, reason: str) -> CheckOutput:
    """The check run when there is no result: never green."""
    return CheckOutput(
        conclusion="neutral",
        title="Not reviewed",
        summary=f"{code(head[:12])} was not reviewed: {plain(reason)}.",
        text="Comment `/npu-review` on the pull request to run it again.",
    )


def _message(finding: Finding) -> str:
    condition = f"**If** {finding.condition}: " if finding.condition else ""
    return condition + finding.message


def _also_at(finding: Finding, links: Links) -> str:
    others = [links.line(place.path, place.line) for place in finding.places[1:]]
    return f"Also at {', '.join(others)}." if others else ""


def _evidence_table(rows: Sequence[Evidence], links: Links) -> str:
    if not rows:
        return ""
    # The key comes last: it is long, and what is cut off must not be the value.
    lines = ["| effective | from | key |", "|---|---|---|"]
    for row in rows:
        where = links.short(row.path, row.line).replace("|", "\\|") if row.path else ""
        lines.append(f"| {_cell(row.value or 'null')} | {where} | {_cell(row.key)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return code(text).replace("|", "\\|")


def _suggestion(finding: Finding, anchor: Anchor) -> str:
    if anchor.suggestion is not None:
        fence = _fence(anchor.suggestion)
        body = f"{anchor.suggestion}\n" if anchor.suggestion else ""
        return f"{fence}suggestion\n{body}{fence}"
    if not finding.fix:
        return ""
    lines = [f"{edit.path}:{edit.start_line}\n{edit.replacement}".rstrip() for edit in finding.fix]
    text = "\n".join(lines)
    fence = _fence(text)
    return f"<details><summary>Proven change</summary>\n\n{fence}\n{text}\n{fence}\n</details>"


def _fence(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _footer(finding: Finding) -> str:
    proven = "The suggestion was composed before it was posted. " if finding.fix else ""
    return (
        f"<details><summary>{finding.rule}</summary>\n\n"
        f"{proven}Found by composing the pull request's own configuration. "
        f"`/npu-review` in a comment runs it again.\n</details>"
    )


def _conclusion(report: Report) -> Conclusion:
    """Green only if everything was checked and nothing was found."""
    return "neutral" if report.findings or report.not_checked or report.crashed else "success"


def _title(report: Report) -> str:
    if report.crashed:
        return f"{len(report.crashed)} rules crashed; {_count(len(report.findings), 'finding')}"
    unchecked = f", {len(report.not_checked)} not checked" if report.not_checked else ""
    if not report.launches and not report.findings:
        return f"No launch in scope{unchecked}"
    launches = _count(len(report.launches), "launch", "es")
    return f"{_count(len(report.findings), 'finding')} in {launches}{unchecked}"


def _summary(report: Report, head: str) -> str:
    return (
        f"Read {code(head)}: {_count(report.files, 'file')}, {_count(len(report.launches), 'launch', 'es')}, "
        f"{_count(report.rules, 'rule')}; compared with {code(report.base or 'nothing')}."
    )


def _text(report: Report, links: Links) -> str:
    parts: list[str] = []
    for finding in report.findings:
        where = links.line(finding.path, finding.places[0].line)
        parts.append(f"### {BADGE[finding.severity]} · `{finding.rule}` · {where}\n\n{_message(finding)}")
    rows = [f"- {links.line(each.path, None)}: {each.reason}" for each in report.not_checked]
    rows += [f"- rule `{each.rule}` crashed on {links.line(each.path, None)}" for each in report.crashed]
    if rows:
        more = [f"- and {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
        parts.append("### Not checked\n\n" + "\n".join(rows[:MAX_LISTED] + more))
    return "\n\n".join(parts)


def _annotation(finding: Finding) -> Annotation:
    place = finding.places[0]
    return Annotation(
        place.path,
        place.line,
        place.end_line,
        LEVEL[finding.severity],  # type: ignore[arg-type]
        f"{finding.rule}: {finding.title}",
        finding.message,
    )


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
