"""Posting one pull-request review with all its inline comments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.github.client import Created, Installation

MAX_BODY = 60_000


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A comment on lines ``start_line``..``line`` of head; both lie in one hunk of the diff."""

    path: str
    line: int
    start_line: int | None
    body: str


async def post_review(
    github: Installation, full_name: str, number: int, head: str, comments: Iterable[InlineComment]
) -> int:
    """One review, always event COMMENT, on the commit that was read; its id. Raises TryLater or Refused.

    GitHub refuses the whole review if one line is not in the diff, so every line is checked before.
    """
    body = {"commit_id": head, "event": "COMMENT", "comments": [_comment(each) for each in comments]}
    created = await github.rest(Created, "POST", f"/repos/{full_name}/pulls/{number}/reviews", json=body)
    return created.id


def _comment(comment: InlineComment) -> dict[str, Any]:
    result: dict[str, Any] = {
        "path": comment.path,
        "line": comment.line,
        "side": "RIGHT",
        "body": comment.body[:MAX_BODY],
    }
    if comment.start_line is not None and comment.start_line < comment.line:
        result |= {"start_line": comment.start_line, "start_side": "RIGHT"}
    return result
