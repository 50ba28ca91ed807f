"""Deliveries, reviews, and the tables of the queue."""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    op.get_bind().exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    op.execute(
        """
        CREATE TABLE deliveries (
            id text PRIMARY KEY,
            event text NOT NULL,
            action text,
            repository text,
            pull integer,
            state text NOT NULL CHECK (state IN ('received', 'done', 'failed', 'ignored')),
            reason text,
            received_at timestamptz NOT NULL DEFAULT now(),
            finished_at timestamptz
        );
        CREATE TABLE reviews (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            repository text NOT NULL,
            pull integer NOT NULL,
            head text,
            merge_base text,
            check_run bigint,
            review bigint,
            note text NOT NULL,
            report jsonb,
            finished_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX reviews_of_pull ON reviews (repository, pull, id DESC);
        """
    )
