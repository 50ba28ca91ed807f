"""The few fields of GitHub's payloads that are used. Source: GitHub docs, *Webhook events and payloads*."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Ignores everything else: GitHub adds and removes fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Installation(Model):
    """The installation that the event belongs to."""

    id: int


class Repository(Model):
    """The base repository."""

    full_name: str


class User(Model):
    """An account; ``type`` is ``User``, ``Bot``, …"""

    login: str
    type: str = "User"


class Pull(Model):
    """The pull request of a ``pull_request`` event."""

    number: int
    draft: bool = False
    state: str = "open"


class PullRequestEvent(Model):
    """``pull_request``."""

    action: str
    pull_request: Pull
    repository: Repository
    installation: Installation | None = None


class Issue(Model):
    """The issue of an ``issue_comment`` event; ``pull_request`` is there if it is one."""

    number: int
    state: str = "open"
    pull_request: dict[str, object] | None = None


class Comment(Model):
    """An issue comment; ``user`` is null for a deleted account."""

    id: int
    body: str | None = None
    user: User | None = None
    author_association: str = "NONE"


class IssueCommentEvent(Model):
    """``issue_comment``."""

    action: str
    issue: Issue
    comment: Comment
    repository: Repository
    sender: User | None = None
    installation: Installation | None = None
