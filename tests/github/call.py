"""One request to the stand-in, its answer, and the table entry that joins them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tests.github.state import JSON, Pull, Repository, State, Token

DOCUMENTATION = "https://docs.github.com/rest"
REPOSITORY = "/repos/{owner}/{repo}"
BODY_LIMIT = 65_536  # characters of a comment or a review


@dataclass(frozen=True)
class Call:
    state: State
    url: str  # without the query
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: JSON
    accept: str
    token: Token | None  # None where the App itself or nobody speaks

    @property
    def repository(self) -> Repository:
        """Raises `Refused` (404) for a repository that does not exist or that the token does not reach."""
        name = f"{self.path['owner']}/{self.path['repo']}"
        return self.reach(name) or not_found()

    @property
    def pull(self) -> Pull:
        number = self.path.get("pull_number") or self.path["issue_number"]
        return self.repository.pulls.get(int(number)) or not_found()

    def reach(self, full_name: str) -> Repository | None:
        if self.token is not None and not self.token.reaches(full_name):
            return None
        return self.state.repositories.get(full_name)

    def grants(self, needs: str) -> bool:
        return self.token is not None and permits(self.token, needs)


@dataclass(frozen=True)
class Answer:
    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # sent in place of `body`
    media_type: str = "application/json; charset=utf-8"


class Refused(Exception):
    """An answer in GitHub's error shape."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[Any] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        body: JSON = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
        if errors:
            body["errors"] = list(errors)
        self.answer = Answer(body, status, headers or {})


@dataclass(frozen=True)
class Operation:
    """`path` is the template of GitHub's description.

    `needs` is written as in the header `X-Accepted-GitHub-Permissions`: alternatives are separated by `;`.
    `speaker` says who may call: an installation, the App itself, or anybody.
    """

    method: str
    path: str
    handle: Callable[[Call], Answer]
    needs: str = "metadata=read"
    speaker: str = "installation"


def permits(token: Token, needs: str) -> bool:
    return any(
        all(token.grants(*permission.strip().split("=")) for permission in alternative.split(","))
        for alternative in needs.split(";")
    )


def not_found() -> NoReturn:
    raise Refused(404, "Not Found")


def invalid(message: str) -> NoReturn:
    """The longer of GitHub's two 422 shapes: `errors` are objects."""
    error = {"resource": "Request", "field": "body", "code": "custom", "message": message}
    raise Refused(422, "Validation Failed", [error])


def page_of(call: Call, items: Sequence[Any], *, default: int = 30) -> tuple[Sequence[Any], dict[str, str]]:
    """One page and its `Link` header, as asked for by `per_page` (at most 100) and `page`."""
    size = max(1, min(int(call.query.get("per_page", default)), 100))
    page = int(call.query.get("page", 1))
    last = max(1, math.ceil(len(items) / size))
    targets: dict[str, int] = {}
    if page > 1:
        targets |= {"prev": page - 1, "first": 1}
    if page < last:
        targets |= {"next": page + 1, "last": last}
    links = [f'<{call.url}?per_page={size}&page={number}>; rel="{name}"' for name, number in targets.items()]
    return items[(page - 1) * size : page * size], {"link": ", ".join(links)} if links else {}
