"""A sample pull request and the real client, set as the App sets it, without a socket."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from githubkit import AppAuthStrategy, AppInstallationAuthStrategy, GitHub
from githubkit.cache import MemCacheStrategy

from tests.github.repository import BareRepository
from tests.github.standin import Standin

NAME = "octo/training"
NUMBER = 7
PULL = f"/repos/{NAME}/pulls/{NUMBER}"

Installation = GitHub[AppInstallationAuthStrategy]

SCRIPT = "".join(f"line {number}\n" for number in range(1, 41))


def connect(standin: Standin, key: str | None = None) -> GitHub[AppAuthStrategy]:
    return GitHub(
        AppAuthStrategy(standin.app_id, key or standin.private_key),
        async_transport=httpx.ASGITransport(standin.app),
        cache_strategy=MemCacheStrategy(),
        http_cache=False,
        auto_retry=False,
        timeout=10,
    )


@pytest.fixture
def repository(standin: Standin) -> BareRepository:
    """`main` has run.sh, old.sh and logo.bin; `feature` changes line 20, renames, replaces and adds."""
    git = standin.add_repository(NAME, collaborators={"maintainer": "write"}).git
    git.commit({"run.sh": SCRIPT, "old.sh": SCRIPT, "logo.bin": b"\0\1"})
    git.commit(
        {
            "run.sh": SCRIPT.replace("line 20\n", "line twenty\n"),
            "old.sh": None,
            "new.sh": SCRIPT.replace("line 1\n", "line one\n"),
            "logo.bin": b"\0\2",
            "sub dir/added.sh": "echo added",
        },
        branch="feature",
        start="main",
    )
    git.commit({"README.md": "main went on\n"})
    standin.open_pull(NAME, NUMBER, "main", "feature")
    return git


@pytest.fixture
async def client(standin: Standin, repository: BareRepository) -> AsyncIterator[Installation]:
    app = connect(standin)
    async with app.with_auth(app.auth.as_installation(standin.installation_id)) as installation:
        yield installation


async def post_review(client: Installation, *comments: dict[str, Any], **fields: Any) -> Any:
    review = {"event": "COMMENT", "body": "", "comments": list(comments), **fields}
    answer = await client.arequest("POST", f"{PULL}/reviews", json=review)
    return answer.json()
