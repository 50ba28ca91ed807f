"""Pull requests and their files."""

from collections.abc import Sequence
from urllib.parse import quote

from tests.github import shapes
from tests.github.call import REPOSITORY, Answer, Call, Operation, page_of
from tests.github.repository import ChangedFile
from tests.github.state import JSON, Pull, Repository

PULL = f"{REPOSITORY}/pulls/{{pull_number}}"
LISTED_FILES = 3000


def get_pull(call: Call) -> Answer:
    return Answer(shapes.pull_request(call.repository, call.pull))


def list_files(call: Call) -> Answer:
    held, pull = call.repository, call.pull
    page, headers = page_of(call, changed_files(held, pull)[:LISTED_FILES])
    entries = diff_entries(held, held.head(pull), page, call.state.patch_line_limit)
    return Answer(entries, headers=headers)


def changed_files(held: Repository, pull: Pull, head: str | None = None) -> list[ChangedFile]:
    """The pull request's diff as GitHub shows it: from the merge base to the head (or to an older `head`)."""
    head = head or held.head(pull)
    return held.git.changed_files(held.git.merge_base(held.base(pull), head), head)


def diff_entries(
    held: Repository, head: str, files: Sequence[ChangedFile], patch_line_limit: int
) -> list[JSON]:
    """Past `patch_line_limit` lines of patch the other files come bare, unmarked, with zero changes.

    https://github.com/orgs/community/discussions/213491
    """
    entries, lines = [], 0
    for file in files:
        entry = _diff_entry(held, head, file)
        lines += len((file.patch or "").split("\n"))
        if lines > patch_line_limit and file.patch:
            del entry["patch"]
            entry |= {"additions": 0, "deletions": 0, "changes": 0}
        entries.append(entry)
    return entries


def _diff_entry(held: Repository, head: str, file: ChangedFile) -> JSON:
    path = quote(file.path)
    entry: JSON = {
        "sha": file.sha,
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "blob_url": f"{shapes.WEB}/{held.full_name}/blob/{head}/{path}",
        "raw_url": f"{shapes.WEB}/{held.full_name}/raw/{head}/{path}",
        "contents_url": f"{shapes.repository_url(held)}/contents/{path}?ref={head}",
    }
    if file.patch:
        entry["patch"] = file.patch
    if file.previous_path:
        entry["previous_filename"] = file.previous_path
    return entry


def list_pulls_of_commit(call: Call) -> Answer:
    held = call.repository
    sha = call.path["commit_sha"]
    containing = [
        shapes.pull_request(held, pull, "pull-request-simple")
        for pull in held.pulls.values()
        if sha in held.git.commits_between(held.base(pull), held.head(pull))
    ]
    return Answer(containing)


OPERATIONS = [
    Operation("GET", PULL, get_pull, needs="pull_requests=read"),
    Operation("GET", f"{PULL}/files", list_files, needs="pull_requests=read"),
    Operation(
        "GET",
        f"{REPOSITORY}/commits/{{commit_sha}}/pulls",
        list_pulls_of_commit,
        needs="pull_requests=read",
    ),
]
