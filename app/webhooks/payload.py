"""The few fields of GitHub's payloads that are used. Source: GitHub docs, *Webhook events and payloads*."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00]*$")]
FullName = Annotated[str, StringConstraints(max_length=300, pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]
Number = Annotated[int, Field(strict=True, ge=1, lt=2**31)]
Id = Annotated[int, Field(strict=True, ge=1, lt=2**63)]


class Model(BaseModel):
    """Ignores everything else: GitHub adds and removes fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Installation(Model):
    """The installation that the event belongs to."""

    id: Id


class Repository(Model):
    """The base repository."""

    full_name: FullName


class User(Model):
    """An account; ``type`` is ``User``, ``Bot``, …"""

    login: Text
    type: Text = "User"


class Pull(Model):
    """The pull request of a ``pull_request`` event."""

    number: Number
    draft: bool = False
    state: Text = "open"


class PullRequestEvent(Model):
    """``pull_request``."""

    action: Text
    pull_request: Pull
    repository: Repository
    installation: Installation | None = None


class Issue(Model):
    """The issue of an ``issue_comment`` event; ``pull_request`` is there if it is one."""

    number: Number
    state: Text = "open"
    pull_request: dict[str, object] | None = None


class Comment(Model):
    """An issue comment; ``user`` is null for a deleted account."""

    id: Id
    body: str | None = None
    user: User | None = None
    author_association: Text = "NONE"


class IssueCommentEvent(Model):
    """``issue_comment``."""

    action: Text
    issue: Issue
    comment: Comment
    repository: Repository
    sender: User | None = None
    installation: Installation | None = None
