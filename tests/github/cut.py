"""Cuts the vendored GitHub descriptions under `tests/data/github/` from their npm packages.

    python -m tests.github.cut            # `npm pack` of the pinned versions into a temporary folder
    python -m tests.github.cut FOLDER     # FOLDER/<package>/… holds the unpacked packages

The tests never run this: they read the committed cuts.
"""

import gzip
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "github"

PACKAGES = {"openapi": "23.0.2", "graphql-schema": "15.26.1", "webhooks-examples": "7.6.1"}

REPO = "/repos/{owner}/{repo}"
OPERATIONS = {
    "/app": ["get"],
    "/app/hook/deliveries": ["get"],
    "/app/hook/deliveries/{delivery_id}": ["get"],
    "/app/hook/deliveries/{delivery_id}/attempts": ["post"],
    "/app/installations": ["get"],
    "/app/installations/{installation_id}/access_tokens": ["post"],
    "/app-manifests/{code}/conversions": ["post"],
    "/installation/repositories": ["get"],
    "/meta": ["get"],
    REPO: ["get"],
    f"{REPO}/check-runs": ["post"],
    f"{REPO}/check-runs/{{check_run_id}}": ["get", "patch"],
    f"{REPO}/check-runs/{{check_run_id}}/annotations": ["get"],
    f"{REPO}/collaborators/{{username}}/permission": ["get"],
    f"{REPO}/commits/{{ref}}/check-runs": ["get"],
    f"{REPO}/commits/{{commit_sha}}/pulls": ["get"],
    f"{REPO}/compare/{{basehead}}": ["get"],
    f"{REPO}/contents/{{path}}": ["get"],
    f"{REPO}/git/blobs/{{file_sha}}": ["get"],
    f"{REPO}/git/trees/{{tree_sha}}": ["get"],
    f"{REPO}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{REPO}/issues/comments/{{comment_id}}": ["get", "patch"],
    f"{REPO}/issues/comments/{{comment_id}}/reactions": ["post"],
    f"{REPO}/pulls/comments/{{comment_id}}": ["patch"],
    f"{REPO}/pulls/{{pull_number}}": ["get"],
    f"{REPO}/pulls/{{pull_number}}/comments": ["get"],
    f"{REPO}/pulls/{{pull_number}}/comments/{{comment_id}}/replies": ["post"],
    f"{REPO}/pulls/{{pull_number}}/files": ["get"],
    f"{REPO}/pulls/{{pull_number}}/reviews": ["get", "post"],
}

EVENTS = [
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
    "issue_comment",
    "ping",
    "pull_request",
    "pull_request_review_comment",
]

# The webhook payloads that the stand-in sends, by their name in the description's `x-webhooks`.
SENT_WEBHOOKS = [
    "check-run-rerequested",
    "check-suite-rerequested",
    "issue-comment-created",
    "pull-request-closed",
    "pull-request-converted-to-draft",
    "pull-request-edited",
    "pull-request-opened",
    "pull-request-ready-for-review",
    "pull-request-reopened",
    "pull-request-synchronize",
]

_REFERENCE = re.compile(r'"\$ref":\s*"#/components/(\w+)/([^"]+)"')
_DROPPED_FROM_OPERATIONS = ("description", "x-github", "externalDocs", "tags")


def cut_openapi(spec: dict[str, Any]) -> dict[str, Any]:
    """The operations of `OPERATIONS` and the payloads of `SENT_WEBHOOKS` with all they refer to."""
    paths = {
        path: {method: _plain_operation(spec["paths"][path][method]) for method in methods}
        for path, methods in OPERATIONS.items()
    }
    webhooks = {name: {"post": _plain_operation(spec["x-webhooks"][name]["post"])} for name in SENT_WEBHOOKS}
    cut = {key: spec[key] for key in ("openapi", "info", "servers")}
    cut |= {"paths": paths, "x-webhooks": webhooks}
    _drop_examples(cut)
    cut["components"] = _reached_components(cut, spec["components"])
    _admit_null(cut)
    for mapping in _mappings(cut["paths"]):  # the validator cannot discriminate an array by its `type`
        if "oneOf" in mapping:
            mapping.pop("discriminator", None)
    _admit_deleted_fork(cut["components"]["schemas"])
    comment = cut["components"]["schemas"]["pull-request-review-comment"]["properties"]
    for name in ("line", "position"):  # null on an outdated comment, which the description forgets
        comment[name]["nullable"] = True
    return cut


def _plain_operation(operation: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in operation.items() if key not in _DROPPED_FROM_OPERATIONS}


def _reached_components(roots: Any, components: dict[str, Any]) -> dict[str, Any]:
    reached: dict[str, dict[str, Any]] = {}
    waiting = _REFERENCE.findall(json.dumps(roots))
    while waiting:
        kind, name = waiting.pop()
        if name in reached.setdefault(kind, {}):
            continue
        component = reached[kind][name] = components[kind][name]
        _drop_examples(component)
        waiting += _REFERENCE.findall(json.dumps(component))
    return {kind: dict(sorted(named.items())) for kind, named in sorted(reached.items())}


def _drop_examples(node: Any) -> None:
    """The examples of media types and parameters serve documentation only."""
    for mapping in _mappings(node):
        if "schema" in mapping:
            mapping.pop("examples", None)


def _admit_null(node: Any) -> None:
    """GitHub writes `nullable: true` beside an enum without null; OpenAPI 3.0 then refuses null."""
    for mapping in _mappings(node):
        values = mapping.get("enum")
        if mapping.get("nullable") is True and isinstance(values, list) and None not in values:
            values.append(None)


def _admit_deleted_fork(schemas: dict[str, Any]) -> None:
    """`head.repo` is null once the fork is gone (desktop/desktop#3022), which the description forgets."""
    for name in ("pull-request", "pull-request-simple"):
        repo = schemas[name]["properties"]["head"]["properties"]
        repo["repo"] = {"$ref": "#/components/schemas/nullable-repository"}
    pushed = schemas["webhook-pull-request-synchronize"]["properties"]["pull_request"]
    pushed["properties"]["head"]["properties"]["repo"]["nullable"] = True


def _mappings(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _mappings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _mappings(value)


def cut_webhook_examples(index: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {event["name"]: event["examples"] for event in index if event["name"] in EVENTS}


def cut_all(packages: Path) -> None:
    """Writes the three cuts; `packages` holds the unpacked packages by name."""
    DATA.mkdir(parents=True, exist_ok=True)
    spec = json.loads((packages / "openapi/generated/api.github.com.json").read_text())
    (DATA / "openapi.json").write_text(json.dumps(cut_openapi(spec), separators=(",", ":")) + "\n")
    _write_gzip("schema.graphql.gz", (packages / "graphql-schema/schema.graphql").read_bytes())
    index = json.loads((packages / "webhooks-examples/api.github.com/index.json").read_text())
    examples = json.dumps(cut_webhook_examples(index), separators=(",", ":"))
    _write_gzip("webhook-examples.json.gz", examples.encode())


def _write_gzip(name: str, content: bytes) -> None:
    (DATA / name).write_bytes(gzip.compress(content, 9, mtime=0))


def _fetch(folder: Path) -> None:
    for package, version in PACKAGES.items():
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"@octokit/{package}@{version}"],
            cwd=folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
        with tarfile.open(folder / packed.stdout.strip()) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        (folder / "unpacked" / "package").rename(folder / package)


def main(arguments: list[str]) -> None:
    if arguments:
        cut_all(Path(arguments[0]))
        return
    with tempfile.TemporaryDirectory() as folder:
        _fetch(Path(folder))
        cut_all(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
