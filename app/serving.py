"""Starting server and worker: settings, database, GitHub App, uvicorn. Needs the extra ``server``."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from app import settings as settings_module
from app.github.client import GitHubApp
from app.jobs.queue import ReviewQueue
from app.main import create_app, work
from app.review.run import Reviewer
from app.settings import Settings, SettingsError
from app.store import embedded
from app.store.database import NoDatabase, migrate, open_pool

BAD_SETTINGS = 2
STOP_SECONDS = 25
REFUSED = (SettingsError, embedded.NoEmbeddedDatabase, NoDatabase)


def serve(host: str | None, port: int | None, workers: int | None) -> int:
    """Web server and, unless ``workers`` is 0, worker in one process; the exit code."""
    _leave_on_sigterm()
    try:
        settings = settings_module.load()
        with database(settings) as url:
            asyncio.run(_serve(settings, url, host or settings.host, port or settings.port, workers))
    except REFUSED as error:
        return _refuse(error)
    return 0


def run_worker() -> int:
    """Only the worker; the exit code."""
    _leave_on_sigterm()
    try:
        settings = settings_module.load()
        with database(settings) as url:
            asyncio.run(_work(settings, url))
    except REFUSED as error:
        return _refuse(error)
    return 0


def migrate_only() -> int:
    """Bring the schema up to date; the exit code."""
    try:
        settings = Settings()
        with database(settings):
            sys.stdout.write("The database schema is up to date.\n")
    except REFUSED as error:
        return _refuse(error)
    return 0


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The URL of a migrated database: the one of ``DATABASE_URL``, or an embedded one that is started."""
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        migrate(url)
        yield url
        return
    folder = embedded.data_directory(settings.data)
    sys.stderr.write(embedded.announcement(folder) + "\n")
    with embedded.running(folder) as url:
        migrate(url)
        yield url


def reviewer(settings: Settings) -> Reviewer:
    """The reviewer that acts as the configured App."""
    app = GitHubApp(settings.app_id, settings.private_key.get_secret_value(), settings.github_api)
    return Reviewer(app, settings.github_web)


async def _serve(settings: Settings, url: str, host: str, port: int, workers: int | None) -> None:
    _log()
    count = settings.workers if workers is None else workers
    async with open_pool(url, count + 8) as pool:
        app = create_app(settings.webhook_secret.get_secret_value(), pool, reviewer(settings), count)
        config = uvicorn.Config(
            app, host=host, port=port, log_config=None, timeout_graceful_shutdown=STOP_SECONDS
        )
        await uvicorn.Server(config).serve()


async def _work(settings: Settings, url: str) -> None:
    _log()
    async with open_pool(url, settings.workers + 4) as pool:
        queue = ReviewQueue(pool, reviewer(settings))
        await queue.open()
        task = asyncio.create_task(work(queue, settings.workers))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await asyncio.gather(task, return_exceptions=True)


def _leave_on_sigterm() -> None:
    """Unwind on SIGTERM, so that the embedded database stops; uvicorn raises it again at its end."""

    def leave(*_: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, leave)


def _log() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # httpx logs every URL, procrastinate every poll: both are noise at this level.
    for name in ("httpx", "httpcore", "procrastinate", "alembic", "githubkit"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _refuse(error: Exception) -> int:
    sys.stderr.write(f"npu-review does not start:\n{error}\n")
    return BAD_SETTINGS
