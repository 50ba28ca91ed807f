"""GraphQL on the official schema: blobs, threads, mutations, errors."""

from typing import Any

import pytest
from githubkit.exception import GraphQLFailed

from tests.github import faults
from tests.github.conftest import NAME, NUMBER, SCRIPT, Installation, post_review
from tests.github.repository import BareRepository
from tests.github.standin import Standin

pytestmark = pytest.mark.anyio

BLOB = "... on Blob { text isTruncated isBinary byteSize oid }"
THREADS = """
query($cursor: String) {
  repository(owner: "octo", name: "training") {
    pullRequest(number: 7) {
      headRefOid baseRefOid isDraft state author { login }
      reviewThreads(first: 2, after: $cursor) {
        totalCount
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved isOutdated path line originalLine diffSide viewerCanResolve
          comments(first: 1) {
            nodes {
              id fullDatabaseId body isMinimized viewerDidAuthor author { login } originalCommit { oid }
            }
          }
        }
      }
    }
  }
}
"""
RESOLVE = 'mutation { resolveReviewThread(input: {threadId: "%s"}) { thread { isResolved } } }'
MINIMISE = """
mutation {
  minimizeComment(input: {subjectId: "%s", classifier: OUTDATED}) {
    minimizedComment { isMinimized minimizedReason }
  }
}
"""


async def objects(client: Installation, **expressions: str) -> Any:
    fields = " ".join(
        f'{alias}: object(expression: "{expression}") {{ {BLOB} }}'
        for alias, expression in expressions.items()
    )
    data = await client.async_graphql(f'{{ repository(owner: "octo", name: "training") {{ {fields} }} }}')
    return data["repository"]


async def pull_request(client: Installation, cursor: str | None = None) -> Any:
    data = await client.async_graphql(THREADS, {"cursor": cursor})
    return data["repository"]["pullRequest"]


async def errors(client: Installation, query: str) -> list[Any]:
    with pytest.raises(GraphQLFailed) as caught:
        await client.async_graphql(query)
    return list(caught.value.response.errors or [])


def comments(*lines: int) -> list[dict[str, Any]]:
    return [{"path": "run.sh", "line": line, "body": f"on {line}"} for line in lines]


async def test_blobs_by_alias(client: Installation, repository: BareRepository) -> None:
    head = repository.sha("feature")
    found = await objects(client, text=f"{head}:run.sh", binary=f"{head}:logo.bin", absent=f"{head}:nowhere")
    assert found["text"]["text"] == SCRIPT.replace("line 20\n", "line twenty\n")
    assert found["text"]["oid"] == repository.sha("feature:run.sh")
    assert (found["binary"]["text"], found["binary"]["isBinary"]) == (None, True)
    assert found["absent"] is None


async def test_a_long_text_is_cut(client: Installation, repository: BareRepository) -> None:
    repository.commit({"long.sh": "x" * 512_001, "fits.sh": "x" * 512_000}, branch="feature")
    found = await objects(client, long="feature:long.sh", fits="feature:fits.sh")
    assert (len(found["long"]["text"]), found["long"]["isTruncated"]) == (512_000, True)
    assert found["long"]["byteSize"] == 512_001
    assert found["fits"]["isTruncated"] is False


async def test_threads_come_in_pages(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    await post_review(client, *comments(18, 20, 22))
    first = await pull_request(client)
    assert first["headRefOid"] == repository.sha("feature")
    assert first["baseRefOid"] == repository.sha("main")
    assert first["reviewThreads"]["totalCount"] == 3
    info = first["reviewThreads"]["pageInfo"]
    assert info["hasNextPage"] is True
    second = await pull_request(client, info["endCursor"])
    (thread,) = second["reviewThreads"]["nodes"]
    assert (thread["line"], thread["diffSide"], thread["isOutdated"]) == (22, "RIGHT", False)
    (comment,) = thread["comments"]["nodes"]
    assert comment["fullDatabaseId"] == str(standin.pull(NAME, NUMBER).review_comments[2].id)
    assert comment["author"]["login"] == "npu-review"  # no [bot] here
    assert comment["viewerDidAuthor"] is True


async def test_a_thread_is_outdated_once_its_line_changes(
    client: Installation, repository: BareRepository
) -> None:
    await post_review(client, *comments(20))
    repository.commit({"run.sh": SCRIPT.replace("line 20\n", "another\n")}, branch="feature")
    (thread,) = (await pull_request(client))["reviewThreads"]["nodes"]
    assert (thread["isOutdated"], thread["line"], thread["originalLine"]) == (True, None, 20)


async def test_resolving_needs_contents_write(standin: Standin, client: Installation) -> None:
    await post_review(client, *comments(20))
    (thread,) = standin.pull(NAME, NUMBER).threads
    (error,) = await errors(client, RESOLVE % thread.id)
    assert (error.type, error.message) == ("FORBIDDEN", "Resource not accessible by integration")
    assert thread.resolved is False
    for token in standin.state.tokens.values():
        token.permissions["contents"] = "write"
    shown = await pull_request(client)
    assert shown["reviewThreads"]["nodes"][0]["viewerCanResolve"] is True
    await client.async_graphql(RESOLVE % thread.id)
    assert thread.resolved is True


async def test_a_comment_is_minimised(standin: Standin, client: Installation) -> None:
    await post_review(client, *comments(20))
    (comment,) = standin.pull(NAME, NUMBER).review_comments
    issue_comment = standin.add_comment(NAME, NUMBER, "old", author="npu-review[bot]")
    for node in (f"PRRC_{comment.id}", f"IC_{issue_comment.id}"):
        data = await client.async_graphql(MINIMISE % node)
        shown = data["minimizeComment"]["minimizedComment"]
        assert shown == {"isMinimized": True, "minimizedReason": "outdated"}
    assert comment.minimized == issue_comment.minimized == "outdated"
    (error,) = await errors(client, MINIMISE % "PRRC_1")
    assert error.type == "NOT_FOUND"


async def test_an_unknown_pull_request_is_an_error_beside_null(client: Installation) -> None:
    query = '{ repository(owner: "octo", name: "training") { pullRequest(number: 8) { id } } }'
    (error,) = await errors(client, query)
    assert (error.type, error.path) == ("NOT_FOUND", ["repository", "pullRequest"])


async def test_lists_must_be_bounded(client: Installation) -> None:
    count = "pullRequest(number: 7) { comments%s { totalCount } }"
    query = f'{{ repository(owner: "octo", name: "training") {{ {count} }} }}'
    (unbounded,) = await errors(client, query % "")
    (excessive,) = await errors(client, query % "(first: 101)")
    assert unbounded.type == "MISSING_PAGINATION_BOUNDARIES"
    assert excessive.type == "EXCESSIVE_PAGINATION"


async def test_a_partial_answer_keeps_the_other_fields(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    standin.fail_next("POST", "/graphql", faults.graphql_partial("repository", "lost"))
    with pytest.raises(GraphQLFailed) as caught:
        await objects(client, kept="feature:run.sh", lost="feature:new.sh")
    data = (caught.value.response.data or {})["repository"]
    assert data["lost"] is None
    assert data["kept"]["oid"] == repository.sha("feature:run.sh")
