"""What the stand-in remembers: plain mutable records, readable by tests."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.github.repository import BareRepository

JSON = dict[str, Any]

# What the App's manifest asks for.
DEFAULT_PERMISSIONS = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "issues": "read",
}


@dataclass
class ReviewComment:
    id: int
    review: int
    author: str
    body: str
    path: str
    side: str  # LEFT or RIGHT
    line: int  # in the file at `commit`, or at its merge base for LEFT
    start_line: int | None
    start_side: str | None
    commit: str
    created_at: str
    minimized: str | None = None  # the classifier, once minimised


@dataclass
class Thread:
    id: str
    comments: list[ReviewComment]  # the first one has the place, the others are replies
    resolved: bool = False


@dataclass
class Review:
    id: int
    author: str
    state: str
    body: str
    commit: str
    submitted_at: str


@dataclass
class IssueComment:
    id: int
    author: str
    body: str
    association: str
    created_at: str
    minimized: str | None = None
    reactions: dict[tuple[str, str], int] = field(default_factory=dict)  # (login, content) -> id


@dataclass
class Pull:
    """A pull request; its shas are read from the repository whenever somebody asks."""

    id: int
    number: int
    base: str
    head: str
    author: str
    title: str
    body: str
    created_at: str
    draft: bool = False
    state: str = "open"  # or closed
    merged: bool = False
    association: str = "CONTRIBUTOR"
    head_repository: str | None = None  # full name of the fork it comes from
    fork_deleted: bool = False  # `head.repo` is null then
    reviews: list[Review] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    comments: list[IssueComment] = field(default_factory=list)

    @property
    def review_comments(self) -> list[ReviewComment]:
        return [comment for thread in self.threads for comment in thread.comments]


@dataclass
class CheckRun:
    id: int
    name: str
    head: str
    started_at: str
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    completed_at: str | None = None
    output: JSON = field(default_factory=dict)  # title, summary, text
    annotations: list[JSON] = field(default_factory=list)
    actions: list[JSON] = field(default_factory=list)


@dataclass
class Repository:
    id: int
    full_name: str
    git: BareRepository
    default_branch: str = "main"
    private: bool = False
    tree_limit: int = 100_000  # entries; more are cut off and the listing says `truncated`
    pulls: dict[int, Pull] = field(default_factory=dict)
    check_runs: list[CheckRun] = field(default_factory=list)
    collaborators: dict[str, str] = field(default_factory=dict)  # login -> admin, write, read

    def head(self, pull: Pull) -> str:
        return self.git.sha(pull.head)

    def base(self, pull: Pull) -> str:
        return self.git.sha(pull.base)

    def merge_base(self, pull: Pull) -> str:
        return self.git.merge_base(self.base(pull), self.head(pull))


@dataclass
class Token:
    permissions: dict[str, str]
    expires_at: datetime
    repositories: frozenset[str] | None = None  # full names; None is all of the installation

    def reaches(self, full_name: str) -> bool:
        return self.repositories is None or full_name in self.repositories

    def grants(self, permission: str, access: str) -> bool:
        ranks = {"read": 1, "write": 2, "admin": 3}
        return ranks.get(self.permissions.get(permission, ""), 0) >= ranks[access]


@dataclass
class HookDelivery:
    id: int
    guid: str
    event: str
    action: str | None
    headers: dict[str, str]
    payload: JSON
    delivered_at: str
    status: str = "OK"
    status_code: int = 202
    redelivery: bool = False


@dataclass
class State:
    app_id: int
    slug: str
    installation_id: int
    permissions: dict[str, str]
    clock: Callable[[], datetime]
    repositories: dict[str, Repository] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    deliveries: list[HookDelivery] = field(default_factory=list)
    manifest_codes: set[str] = field(default_factory=set)
    patch_line_limit: int = 20_000  # lines in one answer; later files come without a patch, unmarked
    mutation_needs: dict[str, str] = field(
        default_factory=lambda: {
            "minimizeComment": "pull_requests=write",
            "resolveReviewThread": "contents=write",
        }
    )
    used_requests: int = 0
    # Comments and check runs have long outgrown 32 bits on GitHub.
    counter: "itertools.count[int]" = field(default_factory=lambda: itertools.count(3_000_000_001))

    @property
    def bot(self) -> str:
        return f"{self.slug}[bot]"

    def new_id(self) -> int:
        return next(self.counter)

    def timestamp(self, later: timedelta = timedelta()) -> str:
        return (self.clock() + later).strftime("%Y-%m-%dT%H:%M:%SZ")


def now() -> datetime:
    return datetime.now(UTC)
