"""Connections and migrations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from psycopg_pool import AsyncConnectionPool

MIGRATIONS = Path(__file__).parent / "migrations"
# Any fixed number: two processes that start at once migrate one after the other.
MIGRATION_LOCK = 7_291_003


def migrate(url: str) -> None:
    """Bring the schema at ``url`` to the newest revision. Two processes may do it at the same time."""
    engine = sqlalchemy.create_engine(_sqlalchemy_url(url), poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()


def _sqlalchemy_url(url: str) -> sqlalchemy.URL:
    parsed = sqlalchemy.make_url(url)
    return parsed.set(drivername="postgresql+psycopg")


@asynccontextmanager
async def open_pool(url: str, size: int) -> AsyncIterator[AsyncConnectionPool[psycopg.AsyncConnection]]:
    """A pool of at most ``size`` connections. Raises psycopg_pool.PoolTimeout without a database."""
    pool: AsyncConnectionPool[psycopg.AsyncConnection] = AsyncConnectionPool(
        url, min_size=1, max_size=size, open=False, name="npu-review"
    )
    try:
        await pool.open(wait=True, timeout=30)
        yield pool
    finally:
        await pool.close()
