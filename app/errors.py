"""What can go wrong outside, in the words the queue and the check run need."""

from __future__ import annotations


class TryLater(Exception):
    """A passing fault: the task is queued again. ``seconds`` is how long GitHub asked to wait, if it did."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class Refused(Exception):
    """GitHub says no, and will say so again: the text names the request and the status, never a token."""


class HeadMoved(Exception):
    """The pull request has a newer head than the one that was read: start again."""
