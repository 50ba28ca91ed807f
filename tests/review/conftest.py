"""The sample pull request on the stand-in, and the reviewer with the real client, without a socket."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from app.github.client import GitHubApp
from app.review.run import Reviewer, ReviewOutcome, ReviewRequest
from tests.github.repository import BareRepository
from tests.github.standin import Exchange, Standin
from tests.mini import base_files, head_files

NAME = "octo/training"
NUMBER = 7


@pytest.fixture
def git(standin: Standin) -> BareRepository:
    """``main`` is the miniature repository, ``feature`` the sample pull request on it."""
    repository = standin.add_repository(NAME, collaborators={"maintainer": "write"}).git
    repository.commit(dict(base_files()))
    repository.commit(dict(head_files()), branch="feature", start="main")
    repository.commit({"README.md": "main went on\n"})
    standin.open_pull(NAME, NUMBER, "main", "feature")
    return repository


@pytest.fixture
def reviewer(standin: Standin) -> Reviewer:
    """The reviewer as the server builds it, except for the transport and the pause before a repeated GET."""
    app = GitHubApp(
        str(standin.app_id),
        standin.private_key,
        transport=httpx.ASGITransport(standin.app),
        retry_pause=timedelta(microseconds=1),
    )
    return Reviewer(app)


@pytest.fixture
def request_() -> ReviewRequest:
    return ReviewRequest(99, NAME, NUMBER)


async def review(reviewer: Reviewer, **fields: object) -> ReviewOutcome:
    return await reviewer.review(ReviewRequest(99, NAME, NUMBER, **fields))  # type: ignore[arg-type]


def sent(standin: Standin, method: str, end: str) -> list[Exchange]:
    """The requests whose path ends with ``end``."""
    return [each for each in standin.requests if each.method == method and each.path.endswith(end)]
