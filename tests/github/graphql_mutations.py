"""The mutations that the stand-in holds: minimise a comment, resolve a thread."""

from collections.abc import Callable, Iterator
from functools import partial

from graphql import GraphQLError

from tests.github.call import Call
from tests.github.graphql_objects import forbidden, issue_comment, review_comment, review_thread
from tests.github.state import JSON, IssueComment, Pull, Repository, ReviewComment, Thread

Shown = Callable[[], JSON]


def mutations(call: Call) -> JSON:
    """Resolving needs `contents: write` for an App, minimising is taken to need `pull_requests: write`."""
    needs = call.state.mutation_needs

    def minimise(arguments: JSON) -> JSON:
        given = _admitted(call, arguments, needs["minimizeComment"])
        comment, shown = _comment(call, given["subjectId"])
        comment.minimized = given["classifier"].lower().replace("_", "-")
        return _payload(given, minimizedComment=shown())

    def unminimise(arguments: JSON) -> JSON:
        given = _admitted(call, arguments, needs["minimizeComment"])
        comment, shown = _comment(call, given["subjectId"])
        comment.minimized = None
        return _payload(given, unminimizedComment=shown())

    def resolve(arguments: JSON) -> JSON:
        given = _admitted(call, arguments, needs["resolveReviewThread"])
        return _payload(given, thread=_settled(call, given["threadId"], resolved=True))

    def unresolve(arguments: JSON) -> JSON:
        given = _admitted(call, arguments, needs["resolveReviewThread"])
        return _payload(given, thread=_settled(call, given["threadId"], resolved=False))

    return {
        "minimizeComment": minimise,
        "unminimizeComment": unminimise,
        "resolveReviewThread": resolve,
        "unresolveReviewThread": unresolve,
    }


def _admitted(call: Call, arguments: JSON, needs: str) -> JSON:
    if not call.grants(needs):
        raise forbidden()
    given: JSON = arguments["input"]
    return given


def _payload(given: JSON, **values: JSON) -> JSON:
    return {"clientMutationId": given.get("clientMutationId"), **values}


def _reached_pulls(call: Call) -> Iterator[tuple[Repository, Pull]]:
    for name in call.state.repositories:
        held = call.reach(name)
        if held is not None:
            yield from ((held, pull) for pull in held.pulls.values())


def _comment(call: Call, node_id: str) -> tuple[IssueComment | ReviewComment, Shown]:
    for held, pull in _reached_pulls(call):
        for comment in pull.comments:
            if node_id == f"IC_{comment.id}":
                return comment, partial(issue_comment, call, held, pull, comment)
        for thread in pull.threads:
            for one in thread.comments:
                if node_id == f"PRRC_{one.id}":
                    return one, partial(review_comment, call, held, pull, thread, one)
    raise _unknown_node(node_id)


def _settled(call: Call, node_id: str, *, resolved: bool) -> JSON:
    for held, pull, thread in _threads(call):
        if thread.id == node_id:
            thread.resolved = resolved
            return review_thread(call, held, pull, thread)
    raise _unknown_node(node_id)


def _threads(call: Call) -> Iterator[tuple[Repository, Pull, Thread]]:
    for held, pull in _reached_pulls(call):
        for thread in pull.threads:
            yield held, pull, thread


def _unknown_node(node_id: str) -> GraphQLError:
    return GraphQLError(
        f"Could not resolve to a node with the global id of '{node_id}'",
        extensions={"type": "NOT_FOUND"},
    )
