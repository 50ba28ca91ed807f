"""The trees of head and merge base, the diff between them, and blobs in batches."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.errors import HeadMoved, Refused
from app.github.client import Installation
from checks.snapshot import MAX_FILE_BYTES, Snapshot, TreeEntry

BLOBS_PER_QUERY = 100
COMPARE_FILES = 300
PULL_FILES = 3000
PAGE = 100


class DiffFile(BaseModel):
    """One file of the pull request's diff as GitHub gives it; ``patch`` is None for binary or huge files."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    filename: str
    status: str
    previous_filename: str | None = None
    changes: int = 0
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The merge base and the diff from it to head, on which comments may stand."""

    merge_base: str
    files: tuple[DiffFile, ...]


async def compare(github: Installation, full_name: str, number: int, base: str, head: str) -> Comparison:
    """Merge base and files: one request, more only beyond 300 files. Raises TryLater or Refused.

    Source: GitHub docs, *Compare two commits* (at most 300 files) and *List pull requests files* (3000).
    """
    response = await github.request("GET", f"/repos/{full_name}/compare/{base}...{head}")
    data = response.json()
    files = [DiffFile.model_validate(each) for each in data.get("files", [])]
    if len(files) >= COMPARE_FILES:
        files = await _pull_files(github, full_name, number)
    return Comparison(data["merge_base_commit"]["sha"], tuple(files))


async def _pull_files(github: Installation, full_name: str, number: int) -> list[DiffFile]:
    files: list[DiffFile] = []
    for page in range(1, PULL_FILES // PAGE + 1):
        params = {"per_page": PAGE, "page": page}
        response = await github.request("GET", f"/repos/{full_name}/pulls/{number}/files", params=params)
        batch = [DiffFile.model_validate(each) for each in response.json()]
        files += batch
        if len(batch) < PAGE:
            break
    return files


async def read_tree(github: Installation, full_name: str, commit: str) -> Snapshot:
    """The whole tree listing of ``commit``, no bytes. Raises Refused for a tree that GitHub cuts off."""
    response = await github.request(
        "GET", f"/repos/{full_name}/git/trees/{commit}", params={"recursive": "1"}
    )
    data = response.json()
    if data["truncated"]:
        raise Refused(f"the tree of {commit} is too large for one listing (GitHub: 100,000 entries)")
    tree = {
        entry["path"]: TreeEntry(entry["sha"], entry["mode"], entry.get("size"))
        for entry in data["tree"]
        if entry["type"] != "tree"
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
        data = await self.github.graphql(query, {"owner": owner, "name": name, "number": self.number})
        repository = data["repository"]
        if repository["pullRequest"]["headRefOid"] != self.head:
            raise HeadMoved
        found: dict[str, bytes] = {}
        for number, blob in enumerate(blobs):
            node = repository[f"b{number}"]
            if node and node["text"] is not None and not node["isTruncated"]:
                text = node["text"].encode()
                if len(text) == node["byteSize"]:
                    found[blob] = text
                    continue
            if node and node["byteSize"] <= MAX_FILE_BYTES:
                found[blob] = await self._raw(blob)
        return found

    async def _raw(self, blob: str) -> bytes:
        """A blob that GraphQL does not give exactly (no UTF-8): by the blobs endpoint."""
        response = await self.github.request("GET", f"/repos/{self.full_name}/git/blobs/{blob}")
        return base64.b64decode(response.json()["content"])
