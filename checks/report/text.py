"""A report as plain text for a terminal: one block per finding, a last line that counts."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model import Evidence, Finding, Place, Report, Severity


def to_text(report: Report) -> str:
    """The whole report; its last line always says how many launches and files were not checked."""
    return (
        "\n".join(_visible(line) for block in _blocks(report) for line in block.split("\n"))
        + "\n"
        + last_line(report)
    )


def _visible(line: str) -> str:
    """Control characters of file names and scripts written out: a terminal would obey them."""
    return "".join(char if char.isprintable() or char == "\t" else repr(char)[1:-1] for char in line)


def last_line(report: Report) -> str:
    """``2 findings (1 high, 0 medium, 1 low) in 9 launches; 3 not checked``."""
    counts = [f"{sum(f.severity is severity for f in report.findings)} {severity}" for severity in Severity]
    total, launches = len(report.findings), len(report.launches)
    crashed = f"; {len(report.crashed)} crashed" if report.crashed else ""
    return (
        f"{total} finding{'' if total == 1 else 's'} ({', '.join(counts)}) "
        f"in {launches} launch{'' if launches == 1 else 'es'}; "
        f"{len(report.not_checked)} not checked{crashed}"
    )


def _blocks(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield "\n".join(_finding(finding)) + "\n"
    for each in report.not_checked:
        yield f"{each.path}: not checked: {each.reason}"
    for crash in report.crashed:
        yield f"{crash.path}: rule {crash.rule} crashed: {crash.reason}"
    if report.not_checked or report.crashed:
        yield ""


def _finding(finding: Finding) -> Iterator[str]:
    yield f"{_place(finding.places[0])}: {finding.severity} {finding.rule}: {finding.title}"
    if len(finding.places) > 1:
        yield f"  also at {', '.join(_place(place) for place in finding.places[1:])}"
    if finding.condition:
        yield f"  if {finding.condition}"
    yield f"  {finding.message}"
    for row in finding.evidence:
        yield f"    {_evidence(row)}"
    for edit in finding.fix:
        span = f"{edit.path}:{edit.start_line}"
        yield f"  fix, composed and proven: {span if edit.replacement else f'delete {span}'}"
        yield from (f"    | {line}" for line in edit.replacement.split("\n") if edit.replacement)


def _evidence(row: Evidence) -> str:
    where = f"  ({row.path}:{row.line})" if row.path else ""
    return f"{row.key} = {row.value}{where}"


def _place(place: Place) -> str:
    end = f"-{place.end_line}" if place.end_line != place.line else ""
    return f"{place.path}:{place.line}{end}"
