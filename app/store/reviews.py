"""What each run did, for the pages and for the operator."""

from __future__ import annotations

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from app.review.run import ReviewOutcome
from checks.report.json import to_dict


async def save(connection: AsyncConnection, repository: str, pull: int, outcome: ReviewOutcome) -> None:
    """Append one run."""
    await connection.execute(
        """
        INSERT INTO reviews (repository, pull, head, merge_base, check_run, review, note, report)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
        """,
        (
            repository,
            pull,
            outcome.head,
            outcome.merge_base,
            outcome.check_run,
            outcome.review,
            outcome.note,
            Jsonb(to_dict(outcome.report)) if outcome.report else None,
        ),
    )
