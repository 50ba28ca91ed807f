"""The stand-in for github.com: an ASGI application over bare git repositories.

In a test it is the client's transport, `httpx.ASGITransport(standin.app)`; in the demo uvicorn serves it.
"""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.github import apps, checks, contents, faults, graphql, issues, pulls, reviews, webhooks
from tests.github.call import Answer, Call, Operation, Refused, not_found, permits
from tests.github.repository import BareRepository
from tests.github.state import (
    DEFAULT_PERMISSIONS,
    JSON,
    CheckRun,
    IssueComment,
    Pull,
    Repository,
    State,
    Token,
    now,
)

HOURLY_LIMIT = 5000
OPERATIONS = [
    *apps.OPERATIONS,
    *checks.OPERATIONS,
    *contents.OPERATIONS,
    *issues.OPERATIONS,
    *pulls.OPERATIONS,
    *reviews.OPERATIONS,
]
_GRAPHQL = Operation("POST", "/graphql", graphql.answer)


@dataclass(frozen=True)
class Exchange:
    """A request and what was answered; the authorization header is not kept."""

    method: str
    path: str
    template: str  # the operation's path in GitHub's description; empty for a path that we do not hold
    parameters: dict[str, str]  # of the path
    query: dict[str, str]
    request: Any  # json, None without a body
    status: int
    response: Any  # json, None for another media type
    media_type: str
    headers: dict[str, str]
    injected: bool  # the answer comes from `fail_next`


class Standin:
    def __init__(
        self,
        folder: Path,
        *,
        permissions: dict[str, str] | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.folder = folder
        self.app_id = 4711
        self.installation_id = 99
        self.webhook_secret = "a webhook secret"
        self.private_key = apps.private_pem()
        self.state = State(
            self.app_id, "npu-review", self.installation_id, dict(permissions or DEFAULT_PERMISSIONS), clock
        )
        self.requests: list[Exchange] = []
        self._faults = faults.Queue()
        self.app = Starlette(routes=[*map(self._route, [*OPERATIONS, _GRAPHQL]), self._anything_else()])

    # What a test sets up

    def add_repository(self, full_name: str, path: Path | None = None, **fields: Any) -> Repository:
        """Serves the bare repository at `path`, or a new one in the stand-in's folder."""
        target = path or self.folder / f"{full_name.replace('/', '+')}.git"
        git = BareRepository(target) if target.exists() else BareRepository.create(target)
        held = Repository(self.state.new_id(), full_name, git, **fields)
        self.state.repositories[full_name] = held
        return held

    def open_pull(
        self, full_name: str, number: int, base: str, head: str, *, author: str = "contributor", **fields: Any
    ) -> Pull:
        """`base` and `head` are refs of the bare repository; push to them to move the pull request."""
        values: JSON = {"title": f"Pull request {number}", "body": "", "created_at": self.state.timestamp()}
        pull = Pull(self.state.new_id(), number, base, head, author, **(values | fields))
        self.repository(full_name).pulls[number] = pull
        return pull

    def repository(self, full_name: str) -> Repository:
        return self.state.repositories[full_name]

    def pull(self, full_name: str, number: int) -> Pull:
        return self.repository(full_name).pulls[number]

    def add_comment(
        self, full_name: str, number: int, body: str, *, author: str, association: str = "MEMBER"
    ) -> IssueComment:
        comment = IssueComment(self.state.new_id(), author, body, association, self.state.timestamp())
        self.pull(full_name, number).comments.append(comment)
        return comment

    def fail_next(self, method: str, path: str, fault: faults.Fault) -> None:
        """The next request with this method whose path matches the regular expression meets `fault`."""
        self._faults.faults.append((method, re.compile(path), fault))

    def before_next(self, method: str, path: str, action: Callable[[], object]) -> None:
        """Runs `action`, such as a push, just before the next matching request is served."""
        self._faults.actions.append((method, re.compile(path), action))

    def revoke_tokens(self) -> None:
        self.state.tokens.clear()

    def close(self) -> None:
        for held in self.state.repositories.values():
            held.git.close()

    # Webhooks

    def pull_request_event(
        self, full_name: str, number: int, action: str, *, sender: str | None = None, **extra: Any
    ) -> webhooks.Webhook:
        """`extra` replaces what an action adds: `before` and `after` of a push, `changes` of an edit."""
        held, pull = self.repository(full_name), self.pull(full_name, number)
        if action == "synchronize":
            head = held.head(pull)
            extra = {"before": held.git.sha(f"{head}^"), "after": head} | extra
        if action == "edited":
            extra = {"changes": {}} | extra
        payload = webhooks.pull_request_payload(
            self.state, held, pull, action, sender or pull.author, **extra
        )
        return self.webhook("pull_request", payload)

    def comment_event(
        self,
        full_name: str,
        number: int,
        body: str,
        *,
        author: str = "maintainer",
        association: str = "MEMBER",
    ) -> webhooks.Webhook:
        """A person comments on the pull request."""
        comment = self.add_comment(full_name, number, body, author=author, association=association)
        held, pull = self.repository(full_name), self.pull(full_name, number)
        payload = webhooks.issue_comment_payload(self.state, held, pull, comment)
        return self.webhook("issue_comment", payload)

    def rerun_event(self, full_name: str, run: CheckRun, *, sender: str = "maintainer") -> webhooks.Webhook:
        held = self.repository(full_name)
        shown = checks.run_shape(self.state, held, run)
        return self.webhook("check_run", webhooks.check_run_payload(self.state, held, shown, sender))

    def rerun_all_event(self, full_name: str, number: int, *, sender: str = "maintainer") -> webhooks.Webhook:
        held, pull = self.repository(full_name), self.pull(full_name, number)
        return self.webhook("check_suite", webhooks.check_suite_payload(self.state, held, pull, sender))

    def webhook(self, event: str, payload: JSON) -> webhooks.Webhook:
        """Signs any payload, such as one of `contracts.webhook_examples()`."""
        webhook = webhooks.sign(self.webhook_secret, event, payload, self.app_id)
        webhooks.remember(self.state, webhook)
        return webhook

    # Serving

    def _route(self, operation: Operation) -> Route:
        async def serve(request: Request) -> Response:
            return await self._exchange(request, operation)

        path = operation.path.replace("{path}", "{path:path}").replace("{basehead}", "{basehead:path}")
        return Route(path, serve, methods=[operation.method])

    def _anything_else(self) -> Route:
        unknown = Operation("", "", lambda _: not_found(), speaker="anybody")

        async def serve(request: Request) -> Response:
            return await self._exchange(request, unknown)

        return Route("/{rest:path}", serve, methods=["GET", "POST", "PATCH", "PUT", "DELETE"])

    async def _exchange(self, request: Request, operation: Operation) -> Response:
        content = await request.body()
        body = json.loads(content) if content else None
        path = request.url.path
        action = self._faults.take_action(request.method, path)
        if action is not None:
            action()
        fault = self._faults.take_fault(request.method, path)
        answer = Answer() if fault and not fault.served else self._serve(request, operation, body)
        if fault is not None:
            answer = fault.spoil(answer)
        answer = replace(answer, headers=self._rate_limit() | dict(answer.headers))
        sent = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
        self._record(request, operation, body, answer, injected=fault is not None)
        return Response(sent, answer.status, answer.headers, answer.media_type)

    def _record(
        self, request: Request, operation: Operation, body: Any, answer: Answer, *, injected: bool
    ) -> None:
        exchange = Exchange(
            method=request.method,
            path=request.url.path,
            template=operation.path,
            parameters=dict(request.path_params),
            query=dict(request.query_params),
            request=body,
            status=answer.status,
            response=copy.deepcopy(answer.body),
            media_type=answer.media_type,
            headers=dict(answer.headers),
            injected=injected,
        )
        self.requests.append(exchange)

    def _serve(self, request: Request, operation: Operation, body: JSON | None) -> Answer:
        try:
            token = self._speaker(request, operation)
            if token is not None and not permits(token, operation.needs):
                accepted = {"X-Accepted-GitHub-Permissions": operation.needs}
                raise Refused(403, "Resource not accessible by integration", headers=accepted)
            call = Call(
                state=self.state,
                url=str(request.url.replace(query="")),
                path=request.path_params,
                query=request.query_params,
                body=body or {},
                accept=request.headers.get("accept", ""),
                token=token,
            )
            return operation.handle(call)
        except Refused as refused:
            return refused.answer

    def _speaker(self, request: Request, operation: Operation) -> Token | None:
        """The installation's token; None for the App itself and for an operation that anybody may call."""
        _, _, credentials = request.headers.get("authorization", "").partition(" ")
        if operation.speaker == "anybody":
            return None
        if not credentials:
            raise Refused(401, "Requires authentication")
        if operation.speaker == "app":
            apps.check_app_token(self.state, credentials)
            return None
        return apps.installation_token(self.state, credentials)

    def _rate_limit(self) -> dict[str, str]:
        self.state.used_requests += 1
        used = self.state.used_requests
        return {
            "x-ratelimit-limit": str(HOURLY_LIMIT),
            "x-ratelimit-remaining": str(max(0, HOURLY_LIMIT - used)),
            "x-ratelimit-used": str(used),
            "x-ratelimit-reset": str(int(self.state.clock().timestamp()) + 3600),
            "x-ratelimit-resource": "core",
            "x-github-request-id": f"{used:04X}",
        }
