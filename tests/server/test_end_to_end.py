"""From a signed webhook to a posted review: application, PostgreSQL, queue, GitHub client, worker process."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from app.github.client import GitHubApp
from app.jobs.queue import Pool, ReviewQueue
from app.main import create_app
from app.review.run import Reviewer
from app.webhooks.receive import PATH
from tests.github import faults
from tests.github.standin import Standin
from tests.mini import base_files, head_files
from tests.server.test_webhook import state

NAME = "octo/training"
NUMBER = 6273


@pytest.fixture
def reviewer(standin: Standin) -> Reviewer:
    git = standin.add_repository(NAME, collaborators={"maintainer": "write"}).git
    git.commit(dict(base_files()))
    git.commit(dict(head_files()), branch="feature", start="main")
    standin.open_pull(NAME, NUMBER, "main", "feature")
    transport = httpx.ASGITransport(standin.app)
    return Reviewer(
        GitHubApp(
            str(standin.app_id),
            standin.private_key,
            transport=transport,
            retry_pause=timedelta(microseconds=1),
        )
    )


async def deliver(standin: Standin, pool: Pool, reviewer: Reviewer, webhook: object) -> int:
    """Deliver one webhook, then run what is queued; the status of the answer."""
    app = create_app(standin.webhook_secret, pool, reviewer, workers=0)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://npu-review") as web,
    ):
        answer = await web.post(PATH, content=webhook.body, headers=webhook.headers)  # type: ignore[attr-defined]
    queue = ReviewQueue(pool, reviewer)
    await queue.open()
    await queue.app.run_worker_async(queues=["reviews"], wait=False, install_signal_handlers=False)
    return answer.status_code


def reviews(standin: Standin) -> int:
    return len(standin.pull(NAME, NUMBER).reviews)


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "ready_for_review"])
async def test_a_pull_request_event_becomes_one_review(
    standin: Standin, pool: Pool, reviewer: Reviewer, action: str
) -> None:
    webhook = standin.pull_request_event(NAME, NUMBER, action)
    assert await deliver(standin, pool, reviewer, webhook) == 202
    assert reviews(standin) == 1
    assert (await state(pool, webhook.id) or ("",))[0] == "done"
    (run,) = standin.repository(NAME).check_runs
    assert (run.status, run.conclusion) == ("completed", "neutral")


@pytest.mark.anyio
async def test_the_same_delivery_twice_is_one_review(
    standin: Standin, pool: Pool, reviewer: Reviewer
) -> None:
    webhook = standin.pull_request_event(NAME, NUMBER, "opened")
    await deliver(standin, pool, reviewer, webhook)
    before = len(standin.requests)
    assert await deliver(standin, pool, reviewer, webhook) == 202
    assert (reviews(standin), len(standin.requests)) == (1, before)


@pytest.mark.anyio
async def test_a_command_runs_it_again(standin: Standin, pool: Pool, reviewer: Reviewer) -> None:
    await deliver(standin, pool, reviewer, standin.pull_request_event(NAME, NUMBER, "opened"))
    command = standin.comment_event(
        NAME, NUMBER, "/npu-review", author="maintainer", association="COLLABORATOR"
    )
    await deliver(standin, pool, reviewer, command)
    assert reviews(standin) == 1
    patches = [each for each in standin.requests if each.method == "PATCH"]
    assert [each.request["status"] for each in patches] == ["completed", "in_progress", "completed"]


@pytest.mark.anyio
async def test_a_dropped_answer_is_tried_later_and_nothing_is_posted_twice(
    standin: Standin, pool: Pool, reviewer: Reviewer
) -> None:
    standin.fail_next("POST", r"/reviews$", faults.dropped())
    webhook = standin.pull_request_event(NAME, NUMBER, "opened")
    await deliver(standin, pool, reviewer, webhook)
    assert (reviews(standin), await state(pool, webhook.id)) == (1, ("received", None))
    async with pool.connection() as connection:
        await connection.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await deliver(standin, pool, reviewer, standin.webhook("ping", {"zen": "x"}))
    assert (reviews(standin), (await state(pool, webhook.id) or ("",))[0]) == (1, "done")


def test_the_demo_prints_the_review_and_leaves_nothing() -> None:
    # Not pytest's folder: the path of PostgreSQL's socket has at most 107 bytes.
    with TemporaryDirectory(prefix="npu-") as folder:
        result = subprocess.run(
            [sys.executable, "-m", "tests.demo"],
            cwd=Path(__file__).parents[2],
            env={"PATH": "/usr/bin:/bin", "TMPDIR": folder},
            capture_output=True,
            text=True,
            timeout=150,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert "role-parity" in result.stdout
        assert "Check run: neutral · 1 finding in 2 launches" in result.stdout
        assert list(Path(folder).iterdir()) == []
        assert not any(folder.encode() in command for command in running_commands())


def running_commands() -> list[bytes]:
    """The command lines of all processes; one may end while we look."""
    commands: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(path.read_bytes())
    return commands
