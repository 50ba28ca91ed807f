"""What an event asks for: a review, or nothing and why."""

from __future__ import annotations

from dataclasses import dataclass

from app.review.run import ReviewRequest


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing is done; ``reason`` is stored with the delivery."""

    reason: str


Intent = ReviewRequest | Ignored
