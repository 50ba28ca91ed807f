"""The App's way to GitHub: one client a job, explicit timeouts, our own decision about retries.

Only GET is repeated, and only after a server error or a time-out: a POST that answered 502 may have been
done. A rate limit is never slept away here; the queue waits (GitHub docs, *Best practices for using the
REST API*).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

import httpx
from githubkit import AppAuthStrategy, GitHub
from githubkit.cache import MemCacheStrategy
from githubkit.exception import (
    GitHubException,
    GraphQLFailed,
    PrimaryRateLimitExceeded,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)
from githubkit.retry import RetryOption
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from app.errors import Refused, TryLater

TIMEOUT = httpx.Timeout(10.0, read=30.0)
SECONDARY_LIMIT_SECONDS = 60.0
MAX_GET_RETRIES = 2
USER_AGENT = "npu-review"


T = TypeVar("T")


class Model(BaseModel):
    """The fields of an answer that are used; GitHub may add others."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Created(Model):
    """Whatever was made: its id."""

    id: int


def understood(model: type[T], answer: bytes | Any, what: str) -> T:
    """``answer`` (JSON text, or values already parsed) as ``model``. Raises TryLater for another shape."""
    adapter = TypeAdapter(model)
    try:
        return adapter.validate_json(answer) if isinstance(answer, bytes) else adapter.validate_python(answer)
    except ValidationError:
        raise TryLater(f"{what}: the answer is not understood") from None


class GitHubApp:
    """One App on one GitHub host. Tokens are cached per instance, never across hosts.

    ``retry_pause`` is the time before a GET is repeated; githubkit takes zero for a minute.
    """

    def __init__(
        self,
        app_id: str,
        private_key: str,
        api: str = "https://api.github.com",
        transport: httpx.AsyncBaseTransport | None = None,
        retry_pause: timedelta = timedelta(seconds=1),
    ) -> None:
        self.auth = AppAuthStrategy(app_id, private_key)
        self.api = api
        self.transport = transport
        self.retry_pause = retry_pause
        self.ssl_context = ssl.create_default_context()
        self.tokens = MemCacheStrategy()

    @asynccontextmanager
    async def installation(self, installation_id: int) -> AsyncIterator[Installation]:
        """A client that acts as one installation; its first request gets the token if none is cached."""
        client: GitHub[Any] = GitHub(
            self.auth.as_installation(installation_id),
            base_url=self.api,
            user_agent=USER_AGENT,
            timeout=TIMEOUT,
            http_cache=False,
            auto_retry=self._decide,
            ssl_verify=self.ssl_context,
            cache_strategy=self.tokens,
            async_transport=self.transport,
        )
        async with client:
            yield Installation(client, self)

    def forget_tokens(self) -> None:
        """After a 401: a revoked token would stay cached until it expires."""
        self.tokens = MemCacheStrategy()

    def _decide(self, error: GitHubException, count: int) -> RetryOption:
        passing = isinstance(error, RequestTimeout) or (
            isinstance(error, RequestFailed) and error.response.status_code >= 500
        )
        request = getattr(error, "request", None)
        again = passing and request is not None and request.method == "GET" and count < MAX_GET_RETRIES
        return RetryOption(again, self.retry_pause * (count + 1) if again else None)


class Installation:
    """Requests of one job. Every failure becomes TryLater or Refused."""

    def __init__(self, client: GitHub[Any], app: GitHubApp) -> None:
        self.client = client
        self.app = app

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: dict[str, Any] | None = None,
        accept: str | None = None,
    ) -> httpx.Response:
        """One REST request. Raises TryLater or Refused."""
        headers = {"Accept": accept} if accept else None
        try:
            response = await self.client.arequest(method, path, json=json, params=params, headers=headers)
        except GitHubException as error:
            raise self._explained(error, f"{method} {path}") from None
        return response.raw_response

    async def rest(
        self,
        model: type[T],
        method: str,
        path: str,
        *,
        json: Any = None,
        params: dict[str, Any] | None = None,
    ) -> T:
        """The answer of one REST request as ``model``. Raises TryLater, also for another shape; Refused."""
        response = await self.request(method, path, json=json, params=params)
        return understood(model, response.content, f"{method} {path}")

    async def graphql(self, model: type[T], query: str, variables: dict[str, Any]) -> T:
        """The ``data`` of one GraphQL request; a partial answer is a failure. Raises TryLater or Refused."""
        try:
            data = await self.client.async_graphql(query, variables)
        except GitHubException as error:
            raise self._explained(error, "POST /graphql") from None
        except ValueError:
            raise TryLater("POST /graphql: the answer is not understood") from None
        return understood(model, data, "POST /graphql")

    def _explained(self, error: GitHubException, what: str) -> TryLater | Refused:
        if isinstance(error, RateLimitExceeded):
            kind = "rate limit" if isinstance(error, PrimaryRateLimitExceeded) else "secondary rate limit"
            return TryLater(f"{what}: {kind}", max(1.0, error.retry_after.total_seconds()))
        if isinstance(error, GraphQLFailed):
            return _explain_graphql(error, what)
        if isinstance(error, RequestFailed):
            return self._explain_status(error, what)
        if isinstance(error, RequestError):
            return TryLater(f"{what}: {type(error.exc).__name__}")
        return Refused(f"{what}: {type(error).__name__}")

    def _explain_status(self, error: RequestFailed, what: str) -> TryLater | Refused:
        status = error.response.status_code
        message = _message(error)
        if status == 403 and "secondary rate limit" in message:
            return TryLater(f"{what}: secondary rate limit", SECONDARY_LIMIT_SECONDS)
        if status == 401:
            self.app.forget_tokens()
            return TryLater(f"{what}: 401, the token was not accepted")
        if status >= 500 or status == 429:
            return TryLater(f"{what}: {status}")
        needed = error.response.headers.get("x-accepted-github-permissions")
        wanted = f" (needs {needed})" if status == 403 and needed else ""
        return Refused(f"{what}: {status} {message}{wanted}")


def _explain_graphql(error: GraphQLFailed, what: str) -> TryLater | Refused:
    errors = error.response.errors or []
    kinds = sorted({str(each.type) for each in errors if getattr(each, "type", None)})
    permanent = kinds and all(kind in ("NOT_FOUND", "FORBIDDEN", "UNPROCESSABLE") for kind in kinds)
    text = f"{what}: {', '.join(kinds) or 'errors'}"
    return Refused(text) if permanent else TryLater(text)


def _message(error: RequestFailed) -> str:
    try:
        body = error.response.json()
    except ValueError:
        return ""
    return str(body.get("message", "")) if isinstance(body, dict) else ""
