"""Objects in GitHub's shape.

Each starts as the smallest instance that the official schema allows, so that what a schema leaves optional is
absent, and takes the stand-in's values over it.
"""

import zlib
from typing import Any
from urllib.parse import quote

from tests.github.contracts import spec
from tests.github.state import JSON, Pull, Repository, State

API = "https://api.github.com"
WEB = "https://github.com"


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
    smallest: JSON = _smallest(schema | {"nullable": False}, address)
    if "url" in smallest:
        smallest["url"] = address
    return smallest | values


def _resolved(schema: JSON) -> JSON:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        return _resolved(spec()["components"]["schemas"][name])
    if "allOf" in schema:
        parts = [_resolved(part) for part in schema["allOf"]]
        merged: JSON = {"type": "object", "properties": {}, "required": []}
        for part in parts:
            merged["properties"] |= part.get("properties", {})
            merged["required"] += part.get("required", [])
        return merged
    return schema


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
            fields = schema.get("properties", {})
            return {key: _smallest(fields.get(key, {}), f"{url}/{key}") for key in schema.get("required", [])}
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
            return "2026-01-01T00:00:00Z"
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
    if schema != "pull-request-simple":
        changed = held.git.changed_files(held.merge_base(pull), held.head(pull))
        values |= {
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
