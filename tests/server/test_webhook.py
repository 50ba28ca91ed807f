"""``POST /github/webhook``: what is refused before it is read, what is stored, what is queued, and once."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import Request

from app.jobs.queue import Pool, ReviewQueue
from app.store import deliveries
from app.webhooks import receive
from tests.github.contracts import webhook_examples
from tests.server.conftest import SECRET, RecordingReviewer

pytestmark = pytest.mark.anyio
PULL = {
    "action": "opened",
    "pull_request": {"number": 7, "draft": False, "state": "open", "user": None},
    "repository": {"full_name": "octo/training"},
    "installation": {"id": 99},
}
COMMENT: dict[str, Any] = {
    "action": "created",
    "issue": {"number": 7, "pull_request": {}},
    "comment": {
        "id": 5,
        "body": "/npu-review",
        "user": {"login": "m", "type": "User"},
        "author_association": "MEMBER",
    },
    "repository": {"full_name": "octo/training"},
    "sender": {"login": "m", "type": "User"},
    "installation": {"id": 99},
}


async def deliver(
    web: httpx.AsyncClient, payload: Any, event: str = "pull_request", id_: str = "d-1", **headers: str
) -> httpx.Response:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    standard = {"X-GitHub-Event": event, "X-GitHub-Delivery": id_, "X-Hub-Signature-256": signature}
    return await web.post(receive.PATH, content=body, headers={**standard, **headers})


async def jobs(pool: Pool) -> list[dict[str, Any]]:
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT args, status, lock FROM procrastinate_jobs ORDER BY id")
        return [{**row[0], "status": row[1], "lock": row[2]} for row in await cursor.fetchall()]


async def state(pool: Pool, id_: str = "d-1") -> tuple[str, str | None] | None:
    async with pool.connection() as connection:
        return await deliveries.state(connection, id_)


BY_BOT = {**COMMENT, "sender": {"login": "b", "type": "Bot"}}
BY_NOBODY = "a command by a bot or a deleted account"


def comment(**fields: Any) -> dict[str, Any]:
    return {**COMMENT, "comment": {**COMMENT["comment"], **fields}}


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "ready_for_review"])
async def test_a_pull_request_event_is_stored_and_queued(
    web: httpx.AsyncClient, pool: Pool, action: str
) -> None:
    answer = await deliver(web, {**PULL, "action": action})
    assert (answer.status_code, await state(pool)) == (202, ("received", None))
    (job,) = await jobs(pool)
    assert (job["full_name"], job["number"], job["installation_id"], job["lock"]) == (
        "octo/training", 7, 99, "octo/training#7",
    )  # fmt: skip


@pytest.mark.parametrize("signature", ["", "sha1=abc", "sha256=", "sha256=" + "0" * 64])
async def test_a_bad_signature_is_refused_before_parsing(
    web: httpx.AsyncClient, pool: Pool, signature: str
) -> None:
    answer = await deliver(web, b"not json", **{"X-Hub-Signature-256": signature})
    assert (answer.status_code, await state(pool)) == (401, None)


async def test_no_signature_is_refused(web: httpx.AsyncClient) -> None:
    answer = await web.post(
        receive.PATH, content=b"{}", headers={"X-GitHub-Event": "ping", "X-GitHub-Delivery": "1"}
    )
    assert answer.status_code == 401


async def test_a_declared_size_over_the_limit_is_refused(web: httpx.AsyncClient) -> None:
    answer = await deliver(web, b"{}", **{"Content-Length": str(receive.MAX_BODY + 1)})
    assert answer.status_code == 413


async def test_a_streamed_size_over_the_limit_is_refused(
    web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receive, "MAX_BODY", 10)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"12345"

    answer = await web.post(receive.PATH, content=chunks())
    assert answer.status_code == 413


async def test_the_body_reader_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "MAX_BODY", 10)
    sent: list[int] = []

    async def stream() -> dict[str, Any]:
        sent.append(1)
        return {"type": "http.request", "body": b"12345", "more_body": True}

    with pytest.raises(receive.TooLarge):
        await receive.read_body(Request({"type": "http", "headers": [], "method": "POST"}, stream))
    assert len(sent) == 3


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b"{", b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_object_is_refused(web: httpx.AsyncClient, pool: Pool, body: bytes) -> None:
    assert ((await deliver(web, body)).status_code, await jobs(pool)) == (400, [])


@pytest.mark.parametrize("header", ["X-GitHub-Event", "X-GitHub-Delivery"])
async def test_missing_headers_are_refused(web: httpx.AsyncClient, header: str) -> None:
    assert (await deliver(web, PULL, **{header: ""})).status_code == 400


@pytest.mark.parametrize(
    ("event", "payload", "reason"),
    [
        ("star", {"action": "created"}, "event star"),
        ("ping", {"zen": "x"}, "event ping"),
        ("installation", {"action": "created"}, "event installation"),
        ("pull_request", {**PULL, "action": "labeled"}, "action labeled"),
        ("pull_request", {**PULL, "installation": None}, "no installation: the webhook is not an App's"),
        ("pull_request", {**PULL, "pull_request": {"number": 7, "draft": True}}, "draft"),
        ("pull_request", {"action": "opened"}, "a payload without ('pull_request',)"),
        ("pull_request", {**PULL, "action": 3}, "a payload without ('action',)"),
        ("issue_comment", {**COMMENT, "action": "edited"}, "action edited"),
        ("issue_comment", {**COMMENT, "issue": {"number": 7}}, "not on a pull request"),
        ("issue_comment", BY_BOT, BY_NOBODY),
        ("issue_comment", comment(author_association="NONE"), "a command by none"),
        ("issue_comment", comment(user=None), BY_NOBODY),
        ("issue_comment", comment(body=None), "no command"),
    ],
)  # fmt: skip
async def test_what_asks_for_nothing_is_stored_as_ignored(
    web: httpx.AsyncClient, pool: Pool, event: str, payload: dict[str, Any], reason: str
) -> None:
    answer = await deliver(web, payload, event)
    assert (answer.status_code, await state(pool), await jobs(pool)) == (202, ("ignored", reason), [])


async def test_a_command_is_queued_with_who_gave_it(web: httpx.AsyncClient, pool: Pool) -> None:
    await deliver(web, COMMENT, "issue_comment")
    (job,) = await jobs(pool)
    assert (job["command_comment"], job["commanded_by"]) == (5, "m")


async def test_the_same_delivery_twice_is_one_task(web: httpx.AsyncClient, pool: Pool) -> None:
    assert [(await deliver(web, PULL)).status_code for _ in range(2)] == [202, 202]
    assert len(await jobs(pool)) == 1


async def test_a_redelivery_after_it_was_done_queues_nothing(
    web: httpx.AsyncClient, pool: Pool, reviewer: RecordingReviewer
) -> None:
    await deliver(web, PULL)
    await run_tasks(pool, reviewer)
    assert await state(pool) == ("done", "reviewed")
    assert (await deliver(web, PULL)).text == "Already done.\n"
    await run_tasks(pool, reviewer)
    assert len(reviewer.requests) == 1


async def test_newer_events_join_the_waiting_task(
    web: httpx.AsyncClient, pool: Pool, reviewer: RecordingReviewer
) -> None:
    await deliver(web, PULL, id_="d-1")
    await deliver(web, {**PULL, "action": "synchronize"}, id_="d-2")
    assert len(await jobs(pool)) == 1
    await run_tasks(pool, reviewer)
    assert len(reviewer.requests) == 1
    assert [await state(pool, id_) for id_ in ("d-1", "d-2")] == [("done", "reviewed")] * 2


async def test_delivery_and_task_are_stored_together_or_not_at_all(
    web: httpx.AsyncClient, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the queue fails")

    monkeypatch.setattr(ReviewQueue, "defer", broken)
    with pytest.raises(RuntimeError):
        await deliver(web, PULL)
    assert (await state(pool), await jobs(pool)) == (None, [])


async def test_health_and_home(web: httpx.AsyncClient) -> None:
    assert (await web.get("/healthz")).text == "ok\n"
    assert receive.PATH in (await web.get("/")).text
    assert receive.PATH in (await web.post("/")).text


async def test_health_without_a_database(
    web: httpx.AsyncClient, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.health.TIMEOUT_SECONDS", 0.01)
    await pool.close()
    assert (await web.get("/healthz")).status_code == 503


def examples(event: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = webhook_examples()[event]
    return found


@pytest.mark.parametrize("event", ["pull_request", "issue_comment"])
def test_every_official_example_is_understood(event: str) -> None:
    for payload in examples(event):
        receive.EVENTS[event]({**payload, "installation": {"id": 1}})


def test_the_official_examples_ask_for_reviews() -> None:
    with_app = [{**payload, "installation": {"id": 1}} for payload in examples("pull_request")]
    intents = {
        payload["action"]: type(receive.EVENTS["pull_request"](payload)).__name__ for payload in with_app
    }
    assert {action for action, kind in intents.items() if kind == "ReviewRequest"} >= {
        "synchronize",
        "reopened",
    }


async def run_tasks(pool: Pool, reviewer: RecordingReviewer) -> None:
    queue = ReviewQueue(pool, reviewer)
    await queue.open()
    await queue.app.run_worker_async(
        queues=["reviews"], wait=False, install_signal_handlers=False, concurrency=1
    )


@pytest.mark.parametrize(
    "change",
    [
        {"action": "opened\0"}, {"action": 7}, {"repository": {"full_name": "a/b\0"}},
        {"repository": {"full_name": "../../x y\n"}}, {"installation": {"id": 2**70}},
        {"pull_request": {"number": 2**40}}, {"pull_request": {"number": -5}},
        {"pull_request": {"number": True}},
        {"pull_request": {"number": "7"}}, {"pull_request": []},
    ],
    ids=repr,
)  # fmt: skip
async def test_a_signed_payload_of_odd_values_is_ignored(
    web: httpx.AsyncClient, pool: Pool, change: dict[str, Any]
) -> None:
    response = await deliver(web, {**PULL, **change})
    assert (response.status_code, await jobs(pool)) == (202, [])
    assert response.text.startswith("Ignored")


async def test_a_lone_surrogate_is_ignored(web: httpx.AsyncClient, pool: Pool) -> None:
    body = json.dumps({**PULL, "action": "opened"}).replace("opened", "\\ud800").encode()
    assert (await deliver(web, body)).status_code == 202
    assert await jobs(pool) == []
