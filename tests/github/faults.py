"""What can go wrong on the way, injected into the next matching request."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.github.call import Answer, Refused
from tests.github.state import JSON

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Fault:
    """`spoil` turns the true answer into what the client sees.

    `served` is False when the request never reaches GitHub's code, so that nothing is read or written.
    """

    spoil: Callable[[Answer], Answer]
    served: bool = False


def bad_gateway() -> Fault:
    return _refusal(502, "Server Error")


def dropped() -> Fault:
    """The write is done, the answer is lost: the client sees 502 and cannot know."""
    return replace(bad_gateway(), served=True)


def secondary_limit(retry_after: int | None = 60) -> Fault:
    """403 with `retry-after` in seconds, or without it (then the documentation says: wait a minute)."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return _refusal(403, "You have exceeded a secondary rate limit. Please wait a few minutes.", headers)


def too_many_requests(retry_after: int = 60) -> Fault:
    return _refusal(429, "You have exceeded a secondary rate limit.", {"retry-after": str(retry_after)})


def primary_limit(reset: int) -> Fault:
    """403 with no requests left until `reset`, in seconds since 1970."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    return _refusal(403, "API rate limit exceeded for installation ID 1.", headers)


def graphql_limit() -> Fault:
    """GraphQL says so at status 200."""
    error = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}
    return Fault(lambda _: Answer({"data": None, "errors": [error]}))


def graphql_partial(*path: str) -> Fault:
    """The field at `path` comes as null with an error beside it, the other data stay."""

    def spoil(answer: Answer) -> Answer:
        body: JSON = dict(answer.body)
        node = body["data"]
        for name in path[:-1]:
            node = node[name]
        node[path[-1]] = None
        message = "Something went wrong while executing your query. This may be the result of a timeout."
        return replace(answer, body=body | {"errors": [{"message": message, "path": list(path)}]})

    return Fault(spoil, served=True)


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Fault:
    answer = Refused(status, message, headers=headers).answer
    return Fault(lambda _: answer)


@dataclass
class Queue:
    """Each entry serves one request: the first whose method and path match."""

    faults: list[tuple[str, re.Pattern[str], Fault]] = field(default_factory=list)
    actions: list[tuple[str, re.Pattern[str], Callable[[], object]]] = field(default_factory=list)

    def take_fault(self, method: str, path: str) -> Fault | None:
        return _take(self.faults, method, path)

    def take_action(self, method: str, path: str) -> Callable[[], object] | None:
        return _take(self.actions, method, path)


def _take(entries: list[tuple[str, re.Pattern[str], Kind]], method: str, path: str) -> Kind | None:
    for entry in entries:
        if entry[0] == method and entry[1].search(path):
            entries.remove(entry)
            return entry[2]
    return None
