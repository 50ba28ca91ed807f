"""``issue_comment``: the command ``/npu-review`` on a pull request, by somebody who may give it."""

from __future__ import annotations

import re
from typing import Any

from app.review.run import ReviewRequest
from app.webhooks.intent import Ignored, Intent
from app.webhooks.payload import IssueCommentEvent

COLLABORATORS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_COMMAND = re.compile(r"^ {0,3}/npu-review[ \t]*$", re.M)


def intent(payload: dict[str, Any]) -> Intent:
    """Raises pydantic.ValidationError for a payload without the fields that are used."""
    event = IssueCommentEvent.model_validate(payload)
    if event.action != "created":
        return Ignored(f"action {event.action}")
    if event.issue.pull_request is None:
        return Ignored("not on a pull request")
    if not is_command(event.comment.body or ""):
        return Ignored("no command")
    author = event.comment.user
    if author is None or author.type == "Bot" or (event.sender and event.sender.type == "Bot"):
        return Ignored("a command by a bot or a deleted account")
    if event.comment.author_association not in COLLABORATORS:
        return Ignored(f"a command by {event.comment.author_association.lower()}")
    if event.installation is None:
        return Ignored("no installation: the webhook is not an App's")
    return ReviewRequest(
        event.installation.id, event.repository.full_name, event.issue.number, event.comment.id, author.login
    )


def is_command(body: str) -> bool:
    """True if a line of its own, outside code, quotes and HTML comments, is the command."""
    text = body.replace("\r\n", "\n")
    text = _COMMENT.sub("", _FENCED.sub("", text))
    return bool(_COMMAND.search(text))
