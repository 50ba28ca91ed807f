"""The check run of one head commit: created once, updated after, annotated in batches of 50."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.github.client import Created, Installation
from app.github.pulls import CHECK_NAME

Conclusion = Literal["success", "neutral", "failure"]
ANNOTATIONS_PER_REQUEST = 50
MAX_TEXT = 65_000
MAX_TITLE = 250


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of head that need not be in the diff."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What the check run says when it is completed."""

    conclusion: Conclusion
    title: str
    summary: str
    text: str
    annotations: tuple[Annotation, ...] = ()


async def start(github: Installation, full_name: str, head: str, existing: int | None) -> int:
    """A check run *in progress* on ``head``: the existing one again, or a new one; its id."""
    body: dict[str, Any] = {"status": "in_progress"}
    if existing is not None:
        await github.request("PATCH", f"/repos/{full_name}/check-runs/{existing}", json=body)
        return existing
    body |= {"name": CHECK_NAME, "head_sha": head, "external_id": head}
    return (await github.rest(Created, "POST", f"/repos/{full_name}/check-runs", json=body)).id


async def complete(github: Installation, full_name: str, check_run: int, output: CheckOutput) -> None:
    """Complete the check run; annotations beyond 50 follow in further requests."""
    batches = _batches(output.annotations)
    for batch in batches:
        body = {
            "status": "completed",
            "conclusion": output.conclusion,
            "output": {
                "title": output.title[:MAX_TITLE],
                "summary": output.summary[:MAX_TEXT],
                "text": output.text[:MAX_TEXT],
                "annotations": [_annotation(each) for each in batch],
            },
        }
        await github.request("PATCH", f"/repos/{full_name}/check-runs/{check_run}", json=body)


def _batches(annotations: Sequence[Annotation]) -> list[Sequence[Annotation]]:
    starts = range(0, max(len(annotations), 1), ANNOTATIONS_PER_REQUEST)
    return [annotations[at : at + ANNOTATIONS_PER_REQUEST] for at in starts]


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "title": annotation.title[:MAX_TITLE],
        "message": annotation.message[:MAX_TEXT],
    }
