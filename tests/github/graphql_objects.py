"""Threads and comments as GraphQL shows them, and the connections they come in."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from graphql import GraphQLError

from tests.github import shapes
from tests.github.call import Call
from tests.github.state import JSON, CheckRun, IssueComment, Pull, Repository, ReviewComment, Thread
from tests.github.threads import present_line

Item = TypeVar("Item")


def forbidden() -> GraphQLError:
    return GraphQLError(
        "Resource not accessible by integration",
        extensions={"type": "FORBIDDEN", "saml_failure": False},
    )


def connection(items: Sequence[Item], node: Callable[[Item], JSON]) -> Callable[[JSON], JSON]:
    """A paged list; cursors are positions. GitHub wants `first` or `last`, from 1 to 100."""

    def resolve(arguments: JSON) -> JSON:
        start, end = _window(len(items), arguments)
        nodes = [node(item) for item in items[start:end]]
        return {
            "totalCount": len(items),
            "nodes": nodes,
            "edges": [{"node": one, "cursor": str(start + at + 1)} for at, one in enumerate(nodes)],
            "pageInfo": {
                "hasNextPage": end < len(items),
                "hasPreviousPage": start > 0,
                "startCursor": str(start + 1) if nodes else None,
                "endCursor": str(end) if nodes else None,
            },
        }

    return resolve


def _window(total: int, arguments: JSON) -> tuple[int, int]:
    first, last = arguments.get("first"), arguments.get("last")
    size = first if first is not None else last
    if size is None:
        raise GraphQLError(
            "You must provide a `first` or `last` value to properly paginate the connection.",
            extensions={"type": "MISSING_PAGINATION_BOUNDARIES"},
        )
    if not 1 <= size <= 100:
        raise GraphQLError(
            f"Requesting {size} records exceeds the `first` limit of 100 records.",
            extensions={"type": "EXCESSIVE_PAGINATION"},
        )
    after = int(arguments.get("after") or 0)
    before = int(arguments.get("before") or total + 1) - 1
    if first is not None:
        return after, min(after + first, before)
    return max(before - size, after), before


def review_thread(call: Call, held: Repository, pull: Pull, thread: Thread) -> JSON:
    first = thread.comments[0]
    line = present_line(held, pull, first)
    may_resolve = call.grants("contents=write")
    return {
        "__typename": "PullRequestReviewThread",
        "id": thread.id,
        "isResolved": thread.resolved,
        "isOutdated": line is None,
        "isCollapsed": thread.resolved or line is None,
        "path": first.path,
        "line": line,
        "originalLine": first.line,
        "startLine": present_line(held, pull, first, first.start_line) if first.start_line else None,
        "originalStartLine": first.start_line,
        "diffSide": first.side,
        "startDiffSide": first.start_side,
        "subjectType": "LINE",
        "viewerCanResolve": may_resolve and not thread.resolved,
        "viewerCanUnresolve": may_resolve and thread.resolved,
        "viewerCanReply": call.grants("pull_requests=write"),
        "comments": connection(
            thread.comments, lambda comment: review_comment(call, held, pull, thread, comment)
        ),
    }


def review_comment(call: Call, held: Repository, pull: Pull, thread: Thread, comment: ReviewComment) -> JSON:
    line = present_line(held, pull, comment)
    first = thread.comments[0]
    shown = held.head(pull) if line else comment.commit
    return _comment(call, comment) | {
        "__typename": "PullRequestReviewComment",
        "id": f"PRRC_{comment.id}",
        "url": f"{shapes.WEB}/{held.full_name}/pull/{pull.number}#discussion_r{comment.id}",
        "path": comment.path,
        "line": line,
        "originalLine": comment.line,
        "outdated": line is None,
        "commit": {"__typename": "Commit", "oid": shown},
        "originalCommit": {"__typename": "Commit", "oid": comment.commit},
        "replyTo": None if comment is first else {"id": f"PRRC_{first.id}"},
        "pullRequestReview": {"id": f"PRR_{comment.review}", "fullDatabaseId": str(comment.review)},
    }


def issue_comment(call: Call, held: Repository, pull: Pull, comment: IssueComment) -> JSON:
    return _comment(call, comment) | {
        "__typename": "IssueComment",
        "id": f"IC_{comment.id}",
        "url": f"{shapes.WEB}/{held.full_name}/pull/{pull.number}#issuecomment-{comment.id}",
        "authorAssociation": comment.association,
    }


def commit(call: Call, held: Repository, oid: str) -> JSON:
    """A commit with its check suite of this App, which is there once it has a run."""

    def suites(arguments: JSON) -> JSON:
        if not call.grants("checks=read"):
            raise forbidden()
        wanted = (arguments.get("filterBy") or {}).get("checkName")
        runs = [run for run in held.check_runs if run.head == oid and wanted in (None, run.name)]
        return connection([oid] if runs else [], lambda _: _check_suite(held, runs))(arguments)

    return {"__typename": "Commit", "oid": oid, "checkSuites": suites}


def _check_suite(held: Repository, runs: Sequence[CheckRun]) -> JSON:
    def check_runs(arguments: JSON) -> JSON:
        wanted = (arguments.get("filterBy") or {}).get("checkName")
        shown = [run for run in runs if wanted in (None, run.name)]
        return connection(shown, lambda run: _check_run(held, run))(arguments)

    return {"__typename": "CheckSuite", "checkRuns": check_runs}


def _check_run(held: Repository, run: CheckRun) -> JSON:
    path = f"/{held.full_name}/runs/{run.id}"
    return {
        "__typename": "CheckRun",
        "id": f"CR_{run.id}",
        "databaseId": None,  # an Int, which these ids have outgrown
        "name": run.name,
        "externalId": run.external_id or None,
        "resourcePath": path,
        "permalink": f"{shapes.WEB}{path}",
    }


def _comment(call: Call, comment: ReviewComment | IssueComment) -> JSON:
    """`fullDatabaseId` is a BigInt, which comes as a string."""
    own = comment.author == call.state.bot
    values: dict[str, Any] = {
        "databaseId": None,  # an Int, which these ids have outgrown
        "fullDatabaseId": str(comment.id),
        "body": comment.body,
        "isMinimized": comment.minimized is not None,
        "minimizedReason": comment.minimized,
        "viewerDidAuthor": own,
        "viewerCanUpdate": own,
        "viewerCanMinimize": call.grants("pull_requests=write"),
        "author": shapes.actor(comment.author),
        "createdAt": comment.created_at,
        "updatedAt": comment.created_at,
    }
    return values
