"""Webhook deliveries and what became of them. A redelivery carries the same id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from psycopg import AsyncConnection

State = Literal["received", "done", "failed", "ignored"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook request, known by its ``X-GitHub-Delivery`` id."""

    id: str
    event: str
    action: str | None
    repository: str | None = None
    pull: int | None = None


async def record(connection: AsyncConnection, delivery: Delivery, state: State, reason: str | None) -> bool:
    """Store ``delivery``; False, and nothing changed, if the same id was already done."""
    cursor = await connection.execute(
        """
        INSERT INTO deliveries (id, event, action, repository, pull, state, reason)
        VALUES (%s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, reason = excluded.reason, finished_at = NULL
            WHERE deliveries.state <> 'done'
        RETURNING id
        """,
        (delivery.id, delivery.event, delivery.action, delivery.repository, delivery.pull, state, reason),
    )
    return await cursor.fetchone() is not None


async def finish(
    connection: AsyncConnection, repository: str, pull: int, state: State, reason: str, started: object
) -> None:
    """Settle every delivery of the pull request that had arrived when its run ``started``."""
    await connection.execute(
        """
        UPDATE deliveries SET state = %s, reason = %s, finished_at = now()
        WHERE repository = %s AND pull = %s AND state = 'received' AND received_at <= %s
        """,
        (state, reason, repository, pull, started),
    )


async def state(connection: AsyncConnection, delivery_id: str) -> tuple[State, str | None] | None:
    """State and reason of a delivery, None if it never came."""
    cursor = await connection.execute("SELECT state, reason FROM deliveries WHERE id = %s", (delivery_id,))
    row = await cursor.fetchone()
    return (row[0], row[1]) if row else None
