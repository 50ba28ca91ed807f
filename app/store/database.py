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


class NoDatabase(Exception):
    """``DATABASE_URL`` is no PostgreSQL that answers; the text says why, without the URL's password."""


def migrate(url: str) -> None:
    """Bring the schema at ``url`` to the newest revision. Two processes may do it at the same time.

    Raises NoDatabase.
    """
    engine = sqlalchemy.create_engine(_sqlalchemy_url(url), poolclass=sqlalchemy.NullPool)
    try:
        _upgrade(engine)
    except sqlalchemy.exc.OperationalError as error:
        words = str(error.orig).strip().splitlines() if error.orig else ["no connection"]
        raise NoDatabase(f"DATABASE_URL: no connection to PostgreSQL: {words[0].strip()}.") from None
    finally:
        engine.dispose()


def _upgrade(engine: sqlalchemy.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


_FORM = (
    "DATABASE_URL: not of the form postgresql://USER:PASSWORD@HOST/DATABASE; write characters such as "
    "@ : / % of the password as %40 %3A %2F %25."
)


def _sqlalchemy_url(url: str) -> sqlalchemy.URL:
    try:
        parsed = sqlalchemy.make_url(url)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise NoDatabase(_FORM) from None
    if parsed.get_backend_name() not in ("postgresql", "postgres") or (parsed.host and "@" in parsed.host):
        raise NoDatabase(_FORM)
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
