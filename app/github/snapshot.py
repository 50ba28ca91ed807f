"""The trees of head and merge base, the diff between them, and blobs in batches."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from app.errors import HeadMoved, Refused
from app.github.client import Installation, Model, understood
from checks.snapshot import MAX_FILE_BYTES, Snapshot, TreeEntry

BLOBS_PER_QUERY = 100
COMPARE_FILES = 300
PULL_FILES = 3000
PAGE = 100


class DiffFile(Model):
    """One file of the pull request's diff as GitHub gives it; ``patch`` is None for binary or huge files."""

    filename: str
    status: str
    previous_filename: str | None = None
    changes: int = 0
    patch: str | None = None


class _Commit(Model):
    sha: str


class _Compared(Model):
    merge_base_commit: _Commit
    files: tuple[DiffFile, ...] = ()


class _Entry(Model):
    path: str
    mode: str
    type: str
    sha: str
    size: int | None = None


class _Tree(Model):
    tree: list[_Entry]
    truncated: bool


class _Content(Model):
    content: str


class _Blob(Model):
    text: str | None = None
    is_truncated: bool | None = Field(default=None, alias="isTruncated")
    size: int | None = Field(default=None, alias="byteSize")


class _Head(Model):
    oid: str = Field(alias="headRefOid")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The merge base and the diff from it to head, on which comments may stand."""

    merge_base: str
    files: tuple[DiffFile, ...]


async def compare(github: Installation, full_name: str, number: int, base: str, head: str) -> Comparison:
    """Merge base and files: one request, more only beyond 300 files. Raises TryLater or Refused.

    Source: GitHub docs, *Compare two commits* (at most 300 files) and *List pull requests files* (3000).
    """
    compared = await github.rest(_Compared, "GET", f"/repos/{full_name}/compare/{base}...{head}")
    files = compared.files
    if len(files) >= COMPARE_FILES:
        files = tuple(await _pull_files(github, full_name, number))
    return Comparison(compared.merge_base_commit.sha, files)


async def _pull_files(github: Installation, full_name: str, number: int) -> list[DiffFile]:
    files: list[DiffFile] = []
    for page in range(1, PULL_FILES // PAGE + 1):
        params = {"per_page": PAGE, "page": page}
        address = f"/repos/{full_name}/pulls/{number}/files"
        batch = await github.rest(list[DiffFile], "GET", address, params=params)
        files += batch
        if len(batch) < PAGE:
            break
    return files


async def read_tree(github: Installation, full_name: str, commit: str) -> Snapshot:
    """The whole tree listing of ``commit``, no bytes. Raises Refused for a tree that GitHub cuts off."""
    address = f"/repos/{full_name}/git/trees/{commit}"
    listing = await github.rest(_Tree, "GET", address, params={"recursive": "1"})
    if listing.truncated:
        raise Refused(f"the tree of {commit} is too large for one listing (GitHub: 100,000 entries)")
    tree = {
        entry.path: TreeEntry(entry.sha, entry.mode, entry.size)
        for entry in listing.tree
        if entry.type != "tree"
    }
    return Snapshot(tree, {}, commit)


class BlobReader:
    """Fetches blobs by id, many in one GraphQL query, and notices when the head moves meanwhile."""

    def __init__(self, github: Installation, full_name: str, number: int, head: str) -> None:
        self.github = github
        self.full_name = full_name
        self.number = number
        self.head = head

    async def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The bytes of every blob that could be had. Raises HeadMoved, TryLater or Refused."""
        wanted = list(dict.fromkeys(blobs))
        batches = [wanted[at : at + BLOBS_PER_QUERY] for at in range(0, len(wanted), BLOBS_PER_QUERY)]
        found: dict[str, bytes] = {}
        for answer in await asyncio.gather(*(self._batch(batch) for batch in batches)):
            found |= answer
        return found

    async def _batch(self, blobs: list[str]) -> dict[str, bytes]:
        owner, _, name = self.full_name.partition("/")
        fields = "\n".join(
            f'b{number}: object(oid: "{blob}") {{ ... on Blob {{ text isTruncated byteSize }} }}'
            for number, blob in enumerate(blobs)
        )
        query = (
            "query Blobs($owner: String!, $name: String!, $number: Int!) {"
            " repository(owner: $owner, name: $name) { pullRequest(number: $number) { headRefOid }\n"
            f"{fields}\n}} }}"
        )
        variables = {"owner": owner, "name": name, "number": self.number}
        data = await self.github.graphql(dict[str, dict[str, Any]], query, variables)
        repository = data["repository"]
        if understood(_Head, repository["pullRequest"], "POST /graphql").oid != self.head:
            raise HeadMoved
        found: dict[str, bytes] = {}
        for number, blob in enumerate(blobs):
            content = await self._content(blob, repository.get(f"b{number}"))
            if content is not None:
                found[blob] = content
        return found

    async def _content(self, blob: str, node: Any) -> bytes | None:
        """The exact bytes; None for an object that is gone or larger than is read."""
        if not node:
            return None
        answer = understood(_Blob, node, "POST /graphql")
        if answer.text is not None and not answer.is_truncated and len(answer.text.encode()) == answer.size:
            return answer.text.encode()
        if answer.size is None or answer.size > MAX_FILE_BYTES:
            return None
        # Not UTF-8: GraphQL does not give the exact bytes.
        raw = await self.github.rest(_Content, "GET", f"/repos/{self.full_name}/git/blobs/{blob}")
        return base64.b64decode(raw.content)
