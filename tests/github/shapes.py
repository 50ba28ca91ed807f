"""Objects in GitHub's shape.

Each holds the stand-in's own values and, besides, only what the official schema requires: what a schema
leaves optional is absent.
"""

import zlib
from functools import reduce
from typing import Any
from urllib.parse import quote

from tests.github.contracts import spec
from tests.github.state import JSON, Pull, Repository, State

API = "https://api.github.com"
WEB = "https://github.com"
_LONG_AGO = "2026-01-01T00:00:00Z"


def shape(name: str, address: str, /, **values: Any) -> JSON:
    """An instance of the schema `name` whose own address is `address`.

    Raises `KeyError` when a value is given that the schema does not know.
    """
    return inline(spec()["components"]["schemas"][name], address, **values)


def inline(schema: JSON, address: str, /, **values: Any) -> JSON:
    """The same for a schema that has no name."""
    schema = _resolved(schema)
    unknown = values.keys() - schema["properties"].keys()
    if unknown:
        raise KeyError(f"{schema.get('title', address)} has no {', '.join(sorted(unknown))}")
    completed: JSON = _completed(schema, values, address)
    if "url" in completed and "url" not in values:
        completed["url"] = address
    return completed


def _completed(schema: JSON, value: Any, address: str) -> Any:
    """`value` with whatever the schema requires and it lacks, at any depth."""
    schema = _resolved(schema)
    if not isinstance(value, dict):
        return value
    fields = schema.get("properties", {})
    completed = {
        name: _smallest(fields.get(name, {}), f"{address}/{name}")
        for name in schema.get("required", [])
        if name not in value
    }
    return completed | {
        name: _completed(fields.get(name, {}), one, f"{address}/{name}") for name, one in value.items()
    }


def _resolved(schema: JSON) -> JSON:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        return _resolved(spec()["components"]["schemas"][name])
    if "allOf" in schema:
        return reduce(_merged, map(_resolved, schema["allOf"]))
    return schema


def _merged(one: JSON, other: JSON) -> JSON:
    """What holds for both: the later schema adds to the fields that the earlier one describes."""
    fields = dict(one.get("properties", {}))
    for name, field in other.get("properties", {}).items():
        fields[name] = _merged(_resolved(fields[name]), _resolved(field)) if name in fields else field
    required = [*one.get("required", []), *other.get("required", [])]
    return one | other | ({"properties": fields, "required": required} if fields else {})


def _smallest(schema: JSON, url: str) -> Any:
    schema = _resolved(schema)
    if schema.get("nullable"):
        return None
    for choice in ("oneOf", "anyOf"):
        if choice in schema and "properties" not in schema:
            return _smallest(schema[choice][0], url)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type", "object"):
        case "object":
            return _completed(schema, {}, url)
        case "string":
            return _smallest_string(schema, url)
        case "array":
            return []
        case "boolean":
            return False
        case _:
            return 0


def _smallest_string(schema: JSON, url: str) -> str:
    match schema.get("format"):
        case "uri":
            return url
        case "date-time":
            return _LONG_AGO
        case _:
            return ""


def user(login: str) -> JSON:
    name = quote(login)  # the brackets of a bot's login may not stand in an address
    return shape(
        "simple-user",
        f"{API}/users/{name}",
        login=login,
        id=user_id(login),
        node_id=f"U_{user_id(login)}",
        html_url=f"{WEB}/{name}",
        gravatar_id="",
        avatar_url=f"https://avatars.githubusercontent.com/u/{user_id(login)}",
        type="Bot" if login.endswith("[bot]") else "User",
    )


def actor(login: str) -> JSON:
    """An author as GraphQL gives it: a bot's login has no `[bot]` there."""
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"__typename": kind, "login": login.removesuffix("[bot]"), "url": f"{WEB}/{quote(login)}"}


def user_id(login: str) -> int:
    return zlib.crc32(login.encode())


def repository_url(repository: Repository) -> str:
    return f"{API}/repos/{repository.full_name}"


def repository(held: Repository, schema: str = "repository") -> JSON:
    """`schema` is one of the shapes in which GitHub shows a repository."""
    owner, name = held.full_name.split("/")
    return shape(
        schema,
        repository_url(held),
        id=held.id,
        node_id=f"R_{held.id}",
        name=name,
        full_name=held.full_name,
        owner=user(owner),
        private=held.private,
        visibility="private" if held.private else "public",
        default_branch=held.default_branch,
        html_url=f"{WEB}/{held.full_name}",
        clone_url=f"{WEB}/{held.full_name}.git",
        git_url=f"git://github.com/{held.full_name}.git",
        created_at=_LONG_AGO,
        updated_at=_LONG_AGO,
        pushed_at=_LONG_AGO,
    )


def app(state: State) -> JSON:
    return shape(
        "integration",
        f"{API}/app",
        id=state.app_id,
        node_id=f"A_{state.app_id}",
        slug=state.slug,
        name=state.slug,
        client_id=f"Iv1.{state.app_id}",
        owner=user("app-owner"),
        html_url=f"{WEB}/apps/{state.slug}",
        external_url="https://example.org",
        permissions=state.permissions,
        events=["check_run", "check_suite", "issue_comment", "pull_request", "pull_request_review_comment"],
    )


def pull_request(held: Repository, pull: Pull, schema: str = "pull-request") -> JSON:
    url = f"{repository_url(held)}/pulls/{pull.number}"
    values: JSON = {
        "id": pull.id,
        "node_id": f"PR_{pull.id}",
        "number": pull.number,
        "html_url": f"{WEB}/{held.full_name}/pull/{pull.number}",
        "title": pull.title,
        "body": pull.body,
        "state": pull.state,
        "draft": pull.draft,
        "user": user(pull.author),
        "author_association": pull.association,
        "created_at": pull.created_at,
        "updated_at": pull.created_at,
        "base": _branch(held, pull.base, held.base(pull), held.full_name),
        "head": _branch(held, pull.head, held.head(pull), pull.head_repository or held.full_name),
    }
    if pull.fork_deleted:
        values["head"]["repo"] = None
    if schema != "pull-request-simple":
        changed = held.git.changed_files(held.merge_base(pull), held.head(pull))
        values |= {
            "merged": pull.merged,
            "comments": len(pull.comments),
            "review_comments": len(pull.review_comments),
            "commits": len(held.git.commits_between(held.base(pull), held.head(pull))),
            "additions": sum(file.additions for file in changed),
            "deletions": sum(file.deletions for file in changed),
            "changed_files": len(changed),
        }
    return shape(schema, url, **values)


def _branch(held: Repository, ref: str, sha: str, full_name: str) -> JSON:
    owner = full_name.split("/")[0]
    source = held
    if full_name != held.full_name:
        source = Repository(user_id(full_name), full_name, held.git, private=held.private)
    return {
        "ref": ref,
        "sha": sha,
        "label": f"{owner}:{ref}",
        "user": user(owner),
        "repo": repository(source),
    }
