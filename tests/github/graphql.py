"""GraphQL, executed on GitHub's official schema.

Objects are dictionaries of values and of functions from a field's arguments to its value. A field that a
dictionary lacks is an error marked `NOT_HELD`, which the judge refuses: no null is ever made up.
"""

from collections.abc import Mapping
from typing import Any

from graphql import ExecutionResult, GraphQLError, GraphQLResolveInfo, execute_sync, parse, validate

from tests.github import shapes
from tests.github.call import Answer, Call
from tests.github.contracts import graphql_schema
from tests.github.graphql_mutations import mutations
from tests.github.graphql_objects import commit, connection, forbidden, issue_comment, review_thread
from tests.github.repository import GitObject
from tests.github.state import JSON, Pull, Repository

NOT_HELD = "STANDIN_NOT_HELD"
TEXT_LIMIT = 512_000  # bytes of a blob's text


def answer(call: Call) -> Answer:
    """Status 200 with data, errors or both, as GitHub does."""
    result = _execute(call)
    body: JSON = {} if result.data is None and result.errors else {"data": result.data}
    if result.errors:
        body["errors"] = [_error(error) for error in result.errors]
    return Answer(body)


def _execute(call: Call) -> ExecutionResult:
    try:
        document = parse(call.body.get("query") or "")
    except GraphQLError as error:
        return ExecutionResult(None, [error])
    problems = validate(graphql_schema(), document)
    if problems:
        return ExecutionResult(None, problems)
    return execute_sync(
        graphql_schema(),
        document,
        root_value=_queries(call) | mutations(call),
        variable_values=call.body.get("variables") or {},
        operation_name=call.body.get("operationName"),
        field_resolver=_resolve,
    )


def _resolve(source: Mapping[str, Any], info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    if info.field_name not in source:
        message = f"the stand-in does not hold {info.parent_type.name}.{info.field_name}"
        raise GraphQLError(message, extensions={"type": NOT_HELD})
    value = source[info.field_name]
    return value(arguments) if callable(value) else value


def _error(error: GraphQLError) -> JSON:
    """`type` stands beside the message in errors of execution; errors of validation have none."""
    extensions = dict(error.extensions or {})
    body: JSON = {"message": error.message}
    if "type" in extensions:
        body["type"] = extensions.pop("type")
    if error.path is not None:
        body["path"] = list(error.path)
    if error.locations:
        body["locations"] = [{"line": at.line, "column": at.column} for at in error.locations]
    return body | ({"extensions": extensions} if extensions else {})


def _not_found(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _queries(call: Call) -> JSON:
    def repository(arguments: JSON) -> JSON:
        name = f"{arguments['owner']}/{arguments['name']}"
        held = call.reach(name)
        if held is None:
            raise _not_found(f"Could not resolve to a Repository with the name '{name}'.")
        return _repository(call, held)

    limit = 5000
    return {
        "repository": repository,
        "viewer": {"login": call.state.bot, "id": f"BOT_{shapes.user_id(call.state.bot)}"},
        "rateLimit": {
            "limit": limit,
            "cost": 1,
            "used": call.state.used_requests,
            "remaining": limit - call.state.used_requests,
            "resetAt": call.state.timestamp(),
        },
    }


def _repository(call: Call, held: Repository) -> JSON:
    def pull_request(arguments: JSON) -> JSON:
        if not call.grants("pull_requests=read"):
            raise forbidden()
        pull = held.pulls.get(arguments["number"])
        if pull is None:
            number = arguments["number"]
            raise _not_found(f"Could not resolve to a PullRequest with the number of {number}.")
        return _pull_request(call, held, pull)

    def git_object(arguments: JSON) -> JSON | None:
        if not call.grants("contents=read"):
            raise forbidden()
        found = held.git.read(arguments.get("expression") or arguments.get("oid") or "")
        return _git_object(held, found) if found else None

    owner, name = held.full_name.split("/")
    return {
        "id": f"R_{held.id}",
        "databaseId": None,  # an Int, which our ids have outgrown
        "name": name,
        "nameWithOwner": held.full_name,
        "owner": {"__typename": "User", "login": owner},
        "isPrivate": held.private,
        "object": git_object,
        "pullRequest": pull_request,
    }


def _git_object(held: Repository, found: GitObject) -> JSON:
    body: JSON = {
        "id": f"{found.kind}_{found.sha}",
        "oid": found.sha,
        "abbreviatedOid": found.sha[:7],
        "__typename": found.kind.capitalize(),
    }
    if found.kind == "blob":
        return body | _blob(found.content)
    if found.kind == "tree":
        entries = [vars(entry) | {"name": entry.path, "oid": entry.sha} for entry in held.git.tree(found.sha)]
        modes = [entry | {"type": entry["kind"], "mode": int(entry["mode"], 8)} for entry in entries]
        return body | {"entries": modes}
    return body


def _blob(content: bytes) -> JSON:
    """Binary, as git judges it: a NUL in the first 8,000 bytes. `text` is null then."""
    binary = b"\0" in content[:8000]
    return {
        "byteSize": len(content),
        "isBinary": binary,
        "isTruncated": len(content) > TEXT_LIMIT,
        "text": None if binary else content[:TEXT_LIMIT].decode(errors="replace"),
    }


def _pull_request(call: Call, held: Repository, pull: Pull) -> JSON:
    pending = {review.id for review in pull.reviews if review.state == "PENDING"}
    threads = [thread for thread in pull.threads if thread.comments[0].review not in pending]
    return {
        "id": f"PR_{pull.id}",
        "fullDatabaseId": str(pull.id),
        "number": pull.number,
        "url": f"{shapes.WEB}/{held.full_name}/pull/{pull.number}",
        "title": pull.title,
        "body": pull.body,
        "state": "MERGED" if pull.merged else pull.state.upper(),
        "closed": pull.state == "closed",
        "merged": pull.merged,
        "isDraft": pull.draft,
        "isCrossRepository": pull.head_repository is not None,
        "author": shapes.actor(pull.author),
        "authorAssociation": pull.association,
        "baseRefName": pull.base,
        "headRefName": pull.head,
        "baseRefOid": held.base(pull),
        "headRefOid": held.head(pull),
        "changedFiles": len(held.git.changed_files(held.merge_base(pull), held.head(pull))),
        "reviewThreads": connection(threads, lambda thread: review_thread(call, held, pull, thread)),
        "commits": connection([held.head(pull)], lambda oid: {"commit": commit(call, held, oid)}),
        "comments": connection(pull.comments, lambda comment: issue_comment(call, held, pull, comment)),
    }
