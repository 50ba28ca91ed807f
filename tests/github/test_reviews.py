"""Reviews: what may carry a comment, all or nothing, threads over pushes."""

from typing import Any

import pytest
from githubkit.exception import RequestFailed

from tests.github.conftest import NAME, NUMBER, PULL, SCRIPT, Installation, post_review
from tests.github.hunks import hunks, moved_line
from tests.github.repository import BareRepository
from tests.github.standin import Standin

pytestmark = pytest.mark.anyio

SHOWN_LINES = range(17, 24)  # line 20 is changed, three lines of context around it


def comment(line: int, **fields: Any) -> dict[str, Any]:
    return {"path": "run.sh", "line": line, "side": "RIGHT", "body": "a remark", **fields}


async def refusal(client: Installation, *comments: dict[str, Any], **fields: Any) -> Any:
    with pytest.raises(RequestFailed) as caught:
        await post_review(client, *comments, **fields)
    assert caught.value.response.status_code == 422
    return caught.value.response.json()["errors"]


async def listed(client: Installation) -> list[dict[str, Any]]:
    comments: list[dict[str, Any]] = (await client.arequest("GET", f"{PULL}/comments")).json()
    return comments


@pytest.mark.parametrize("side", ["LEFT", "RIGHT"])
async def test_every_shown_line_carries_a_comment(standin: Standin, client: Installation, side: str) -> None:
    await post_review(client, *(comment(line, side=side) for line in SHOWN_LINES))
    assert [(one["line"], one["side"]) for one in await listed(client)] == [(n, side) for n in SHOWN_LINES]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (comment(16), "Line could not be resolved"),
        (comment(24, side="LEFT"), "Line could not be resolved"),
        (comment(1, path="sub dir/added.sh", side="LEFT"), "Line could not be resolved"),
        (comment(1, path="logo.bin"), "Line could not be resolved"),
        (comment(20, path="README.md"), "Path could not be resolved"),
        (comment(20, path="old.sh"), "Path could not be resolved"),
        (comment(20, body=""), "Body can't be blank"),
        (comment(20, body="x" * 65_537), "Body is too long (maximum is 65536 characters)"),
        (
            comment(20, start_line=16, start_side="RIGHT"),
            "Pull request review thread start line must be part of the same hunk as the line.",
        ),
        (
            comment(20, start_line=20, start_side="RIGHT"),
            "Pull request review thread start line must precede the end line.",
        ),
    ],
)
async def test_one_bad_comment_refuses_the_whole_review(
    standin: Standin, client: Installation, bad: dict[str, Any], reason: str
) -> None:
    assert await refusal(client, comment(20), bad, comment(21)) == [reason]
    assert standin.pull(NAME, NUMBER).reviews == []
    assert await listed(client) == []


async def test_lines_of_two_hunks_make_no_range(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    text = SCRIPT.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n")
    repository.commit({"run.sh": text}, branch="feature")
    await post_review(client, comment(7, start_line=4, start_side="RIGHT"))
    assert len(await refusal(client, comment(30, start_line=5, start_side="RIGHT"))) == 1


async def test_an_empty_review_and_an_unknown_commit_are_refused(client: Installation) -> None:
    assert await refusal(client) == ["Body can't be blank"]
    assert len(await refusal(client, comment(20), commit_id="0" * 40)) == 1


async def test_one_pending_review_at_a_time(standin: Standin, client: Installation) -> None:
    async def pend() -> Any:
        return (await client.arequest("POST", f"{PULL}/reviews", json={"comments": [comment(20)]})).json()

    assert (await pend())["state"] == "PENDING"
    assert await listed(client) == []
    with pytest.raises(RequestFailed):
        await pend()


async def test_own_comments_are_edited_and_answered(standin: Standin, client: Installation) -> None:
    await post_review(client, comment(20))
    (first,) = await listed(client)
    address = f"/repos/{NAME}/pulls/comments/{first['id']}"
    await client.arequest("PATCH", address, json={"body": "fixed"})
    await client.arequest("POST", f"{PULL}/comments/{first['id']}/replies", json={"body": "thanks"})
    edited, reply = await listed(client)
    assert edited["body"] == "fixed"
    assert reply["in_reply_to_id"] == first["id"]
    standin.pull(NAME, NUMBER).review_comments[0].author = "maintainer"
    with pytest.raises(RequestFailed):
        await client.arequest("PATCH", address, json={"body": "taken"})


async def test_a_push_shifts_a_comment_or_makes_it_outdated(
    client: Installation, repository: BareRepository
) -> None:
    await post_review(client, comment(20), comment(20, side="LEFT"))
    text = "a new first line\n" + SCRIPT.replace("line 20\n", "line twenty\n")
    repository.commit({"run.sh": text}, branch="feature")
    assert [one["line"] for one in await listed(client)] == [21, 20]
    repository.commit({"run.sh": text.replace("line twenty\n", "line 20 again\n")}, branch="feature")
    right, left = await listed(client)
    assert (right["line"], right["original_line"]) == (None, 20)
    assert left["line"] == 20


def test_an_unchanged_line_moves_and_a_removed_one_is_lost() -> None:
    patch = "@@ -2,4 +2,5 @@\n two\n-three\n+3\n+more\n four\n five\n@@ -9,2 +10,1 @@\n-nine\n ten"
    moves = {line: moved_line(patch, line) for line in (1, 2, 3, 4, 7, 9, 10, 12)}
    assert moves == {1: 1, 2: 2, 3: None, 4: 5, 7: 8, 9: None, 10: 10, 12: 12}


def test_text_that_looks_like_a_header_belongs_to_its_hunk() -> None:
    (hunk,) = hunks("@@ -1,2 +1,3 @@\n --- a\n+@@ -1 +1 @@\n+++ b")
    assert hunk.lines == ((1, 1), (None, 2), (None, 3))
