"""``pull_request``: a review when there is something new to read."""

from __future__ import annotations

from typing import Any

from app.review.run import ReviewRequest
from app.webhooks.intent import Ignored, Intent
from app.webhooks.payload import PullRequestEvent

ACTIONS = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})


def intent(payload: dict[str, Any]) -> Intent:
    """Raises pydantic.ValidationError for a payload without the fields that are used."""
    event = PullRequestEvent.model_validate(payload)
    if event.action not in ACTIONS:
        return Ignored(f"action {event.action}")
    if event.installation is None:
        return Ignored("no installation: the webhook is not an App's")
    if event.pull_request.draft:
        return Ignored("draft")
    return ReviewRequest(event.installation.id, event.repository.full_name, event.pull_request.number)
