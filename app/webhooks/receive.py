"""``POST /github/webhook``: size, signature, then parsing; 202 only after delivery and task are stored.

Source: GitHub docs, *Validating webhook deliveries* and *Best practices for using webhooks*.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import ValidationError

from app.jobs.queue import ReviewQueue
from app.store import deliveries
from app.store.deliveries import Delivery
from app.webhooks import issue_comment, pull_request
from app.webhooks.intent import Ignored, Intent

PATH = "/github/webhook"
MAX_BODY = 25 * 1024 * 1024
EVENTS: dict[str, Callable[[dict[str, Any]], Intent]] = {
    "pull_request": pull_request.intent,
    "issue_comment": issue_comment.intent,
}


class TooLarge(Exception):
    """The body is larger than GitHub delivers."""


def router(secret: str, queue: ReviewQueue) -> APIRouter:
    """The webhook route for one secret and queue."""
    routes = APIRouter()

    @routes.post(PATH)
    async def receive(request: Request) -> Response:
        try:
            body = await read_body(request)
        except TooLarge:
            return _answer(413, f"The body is larger than {MAX_BODY} bytes.")
        if not is_signed(secret, body, request.headers.get("x-hub-signature-256")):
            return _answer(401, "X-Hub-Signature-256 is missing or does not fit the webhook secret.")
        delivery_id = request.headers.get("x-github-delivery", "")
        event = request.headers.get("x-github-event", "")
        if not delivery_id or not event or len(delivery_id) > 100 or len(event) > 100:
            return _answer(400, "X-GitHub-Delivery and X-GitHub-Event are needed.")
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            return _answer(400, "The body is not a JSON object.")
        return await _store(queue, delivery_id, event, payload)

    return routes


async def read_body(request: Request) -> bytes:
    """The body, never more than ``MAX_BODY`` of it in memory. Raises TooLarge."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > MAX_BODY:
        raise TooLarge
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise TooLarge
    return bytes(body)


def is_signed(secret: str, body: bytes, signature: str | None) -> bool:
    """True if ``signature`` is ``sha256=`` and the HMAC of ``body``; compared in constant time."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), (signature or "").encode())


async def _store(queue: ReviewQueue, delivery_id: str, event: str, payload: dict[str, Any]) -> Response:
    try:
        intent = EVENTS[event](payload) if event in EVENTS else Ignored(f"event {event}")
    except ValidationError as error:
        intent = Ignored(f"a payload without {error.errors()[0]['loc']}")
    action = payload.get("action")
    action = action if isinstance(action, str) and action.isprintable() and len(action) <= 100 else None
    async with queue.pool.connection() as connection:
        if isinstance(intent, Ignored):
            await deliveries.record(
                connection, Delivery(delivery_id, event, action), "ignored", intent.reason
            )
            return _answer(202, f"Ignored: {intent.reason}.")
        delivery = Delivery(delivery_id, event, action, intent.full_name, intent.number)
        if not await deliveries.record(connection, delivery, "received", None):
            return _answer(202, "Already done.")
        await queue.defer(connection, intent)
    return _answer(202, "Queued.")


def _answer(status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", status_code=status)
