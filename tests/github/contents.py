"""Repositories and what git holds: comparison, trees, blobs, files, collaborators."""

import base64
from urllib.parse import quote

from tests.github import shapes
from tests.github.call import REPOSITORY, Answer, Call, Operation, not_found
from tests.github.pulls import diff_entries
from tests.github.repository import GitObject, TreeEntry
from tests.github.state import JSON, Repository

COMPARED_FILES = 300


def get_repository(call: Call) -> Answer:
    return Answer(shapes.repository(call.repository, "full-repository"))


def get_permission(call: Call) -> Answer:
    """A stranger may read a public repository; on a private one the permission is `none`, at status 200."""
    login = call.path["username"]
    permission = call.repository.collaborators.get(login, "none" if call.repository.private else "read")
    user = shapes.user(login) | {"permissions": _permission_flags(permission), "role_name": permission}
    return Answer({"permission": permission, "role_name": permission, "user": user})


def _permission_flags(permission: str) -> dict[str, bool]:
    return {
        "pull": permission in ("read", "write", "admin"),
        "triage": permission in ("write", "admin"),
        "push": permission in ("write", "admin"),
        "maintain": permission == "admin",
        "admin": permission == "admin",
    }


def compare(call: Call) -> Answer:
    """Three dots compare with the merge base; all files (at most 300) come with page 1."""
    held = call.repository
    base, _, head = call.path["basehead"].partition("...")
    base_sha, head_sha = held.git.resolve(base), held.git.resolve(head)
    if base_sha is None or head_sha is None:
        not_found()
    merge_base = held.git.merge_base(base_sha, head_sha)
    ahead = held.git.commits_between(base_sha, head_sha)
    behind = held.git.commits_between(head_sha, base_sha)
    files = held.git.changed_files(merge_base, head_sha)[:COMPARED_FILES]
    page = int(call.query.get("page", 1))
    body = shapes.shape(
        "commit-comparison",
        f"{shapes.repository_url(held)}/compare/{base}...{head}",
        base_commit=commit(held, base_sha),
        merge_base_commit=commit(held, merge_base),
        status=_relation(bool(ahead), bool(behind)),
        ahead_by=len(ahead),
        behind_by=len(behind),
        total_commits=len(ahead),
        commits=[commit(held, sha) for sha in ahead[:250]],
        files=diff_entries(held, head_sha, files, call.state.patch_line_limit) if page == 1 else [],
    )
    return Answer(body)


def _relation(ahead: bool, behind: bool) -> str:
    return {
        (False, False): "identical",
        (True, False): "ahead",
        (False, True): "behind",
        (True, True): "diverged",
    }[ahead, behind]


def commit(held: Repository, sha: str) -> JSON:
    url = f"{shapes.repository_url(held)}/commits/{sha}"
    return shapes.shape(
        "commit",
        url,
        sha=sha,
        node_id=f"C_{sha}",
        html_url=f"{shapes.WEB}/{held.full_name}/commit/{sha}",
        author=shapes.user("developer"),
        committer=shapes.user("developer"),
        parents=[{"sha": parent, "url": url.replace(sha, parent)} for parent in held.git.parents(sha)],
    )


def get_tree(call: Call) -> Answer:
    held = call.repository
    name = call.path["tree_sha"]
    found = held.git.resolve(f"{name}^{{tree}}")
    if found is None:
        not_found()
    entries = held.git.tree(found, recursive="recursive" in call.query)
    body = {
        "sha": found,
        "url": f"{shapes.repository_url(held)}/git/trees/{found}",
        "tree": [_tree_entry(held, entry) for entry in entries[: held.tree_limit]],
        "truncated": len(entries) > held.tree_limit,
    }
    return Answer(body)


def _tree_entry(held: Repository, entry: TreeEntry) -> JSON:
    collection = "trees" if entry.kind == "tree" else "blobs"
    body: JSON = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
    if entry.kind != "commit":
        body["url"] = f"{shapes.repository_url(held)}/git/{collection}/{entry.sha}"
    if entry.size is not None:
        body["size"] = entry.size
    return body


def get_blob(call: Call) -> Answer:
    held = call.repository
    blob = held.git.read(call.path["file_sha"])
    if blob is None or blob.kind != "blob":
        not_found()
    if "raw" in call.accept:
        return _raw(blob)
    body = {
        "sha": blob.sha,
        "node_id": f"B_{blob.sha}",
        "size": len(blob.content),
        "url": f"{shapes.repository_url(held)}/git/blobs/{blob.sha}",
        "encoding": "base64",
        "content": base64.encodebytes(blob.content).decode(),
    }
    return Answer(body)


def _raw(blob: GitObject) -> Answer:
    return Answer(raw=blob.content, media_type="application/vnd.github.raw+json; charset=utf-8")


def get_contents(call: Call) -> Answer:
    """A file (json or raw) or a directory's listing; above 1 MB json comes without content."""
    held = call.repository
    path = call.path["path"].strip("/")
    name = call.query.get("ref", held.default_branch)
    found = held.git.read(f"{name}:{path}")
    if found is None:
        not_found()
    if found.kind == "tree":
        entries = held.git.tree(found.sha)
        listing = [_content(held, f"{path}/{entry.path}".lstrip("/"), name, entry) for entry in entries]
        return Answer(listing)
    if "raw" in call.accept:
        return _raw(found)
    size = len(found.content)
    entry = TreeEntry("100644", "blob", found.sha, size, path)
    readable = size <= 1_000_000
    body = _content(held, path, name, entry) | {
        "encoding": "base64" if readable else "none",
        "content": base64.encodebytes(found.content).decode() if readable else "",
    }
    return Answer(body)


def _content(held: Repository, path: str, ref: str, entry: TreeEntry) -> JSON:
    quoted = quote(path)
    url = f"{shapes.repository_url(held)}/contents/{quoted}?ref={ref}"
    git_url = f"{shapes.repository_url(held)}/git/{entry.kind}s/{entry.sha}"
    html_url = f"{shapes.WEB}/{held.full_name}/{entry.kind}/{ref}/{quoted}"
    return {
        "type": _content_type(entry),
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": entry.sha,
        "size": entry.size or 0,
        "url": url,
        "git_url": git_url,
        "html_url": html_url,
        "download_url": None,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


def _content_type(entry: TreeEntry) -> str:
    if entry.mode == "120000":
        return "symlink"
    return {"tree": "dir", "commit": "submodule"}.get(entry.kind, "file")


OPERATIONS = [
    Operation("GET", REPOSITORY, get_repository),
    Operation("GET", f"{REPOSITORY}/collaborators/{{username}}/permission", get_permission),
    Operation("GET", f"{REPOSITORY}/compare/{{basehead}}", compare, needs="contents=read"),
    Operation("GET", f"{REPOSITORY}/contents/{{path}}", get_contents, needs="contents=read"),
    Operation("GET", f"{REPOSITORY}/git/blobs/{{file_sha}}", get_blob, needs="contents=read"),
    Operation("GET", f"{REPOSITORY}/git/trees/{{tree_sha}}", get_tree, needs="contents=read"),
]
