"""Commits and working trees of a local clone, straight from git objects: nothing is checked out."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from checks.snapshot import MAX_FILE_BYTES, Snapshot, TreeEntry

# A hook of the clone's own configuration is no business of a check.
GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitError(Exception):
    """No repository, or a revision that is not in it; the text is ready for the user."""


class Repository:
    """A local clone, bare or not. ``folder`` may lie anywhere inside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise GitError(f"`{folder}` is not a folder")
        try:
            self._git("rev-parse", "--git-dir")
        except GitError:
            raise GitError(f"`{folder}` is not inside a git repository") from None

    @property
    def prefix(self) -> str:
        """The path of ``folder`` relative to the top of the tree."""
        return self._git("rev-parse", "--show-prefix").strip().rstrip("/")

    def commit(self, revision: str) -> str:
        """The full id of ``revision``. Raises GitError if it is unknown."""
        try:
            return self._git(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            ).strip()
        except GitError:
            raise GitError(f"`{revision}` is not a commit of this repository") from None

    def merge_base(self, base: str, head: str) -> str:
        """The merge base of two commits. Raises GitError if they share no history."""
        try:
            return self._git("merge-base", base, head).strip()
        except GitError:
            raise GitError(f"`{base}` and `{head}` share no history") from None

    def snapshot(self, commit: str) -> Snapshot:
        """The tree of ``commit``; no file's bytes are read yet."""
        tree: dict[str, TreeEntry] = {}
        for row in self._git("ls-tree", "-r", "-z", "--full-tree", "-l", commit).split("\0"):
            if row:
                facts, path = row.split("\t", 1)
                mode, _, blob, size = facts.split()
                if size == "BAD":
                    raise GitError(f"object {blob} of `{path}` is missing or broken")
                tree[path] = TreeEntry(blob, mode, None if size == "-" else int(size))
        return Snapshot(tree, {}, commit)

    def working_tree(self) -> Snapshot:
        """Tracked files and untracked ones that are not ignored, as they are on disk now."""
        try:
            top = Path(self._git("rev-parse", "--show-toplevel").strip())
        except GitError:
            raise GitError(f"`{self.folder}` has no working tree; name a commit with --head") from None
        tree: dict[str, TreeEntry] = {}
        blobs: dict[str, bytes] = {}
        submodules = {
            row.split("\t", 1)[1] for row in self._rows("ls-files", "-s") if row.startswith("160000")
        }
        for path in sorted({*self._rows("ls-files"), *self._rows("ls-files", "-o", "--exclude-standard")}):
            if path in submodules:
                tree[path] = TreeEntry("", "160000")
            else:
                _add(top, path, tree, blobs)
        return Snapshot(tree, blobs)

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The bytes of blob ids, in one batch. Raises GitError if one is missing (a partial clone)."""
        wanted = list(dict.fromkeys(blobs))
        result = subprocess.run(
            [*GIT, "-C", str(self.folder), "cat-file", "--batch"],
            input="".join(f"{blob}\n" for blob in wanted).encode(),
            capture_output=True,
            check=False,
            env={**os.environ, **ENVIRONMENT},
        )
        if result.returncode:
            raise GitError(_words(result.stderr))
        found: dict[str, bytes] = {}
        data, at = result.stdout, 0
        for blob in wanted:
            end = data.find(b"\n", at)
            if end < 0:
                raise GitError(f"object {blob} cannot be read: {_words(result.stderr)}")
            _, kind, *size = data[at:end].decode().split()
            if kind == "missing":
                raise GitError(f"object {blob} is missing from this repository (a partial clone?)")
            at = end + 1
            found[blob] = data[at : at + int(size[0])]
            at += int(size[0]) + 1
        return found

    def _rows(self, *arguments: str) -> list[str]:
        return [row for row in self._git(*arguments, "-z", "--full-name", ":/").split("\0") if row]

    def _git(self, *arguments: str) -> str:
        result = subprocess.run(
            [*GIT, "-C", str(self.folder), *arguments],
            capture_output=True,
            check=False,
            env={**os.environ, **ENVIRONMENT},
        )
        if result.returncode:
            raise GitError(_words(result.stderr))
        return result.stdout.decode("utf-8", "surrogateescape")


def _words(errors: bytes) -> str:
    return errors.decode("utf-8", "replace").strip() or "git failed without a word"


def _add(top: Path, path: str, tree: dict[str, TreeEntry], blobs: dict[str, bytes]) -> None:
    """One file of the working tree; a tracked file that is gone from disk is not part of it."""
    file = top / path
    if file.is_symlink() or file.resolve() != top.resolve() / path:
        # A link, or below one: it may lead out of the repository.
        tree[path] = TreeEntry("", "120000")
    elif file.is_file():
        size = file.stat().st_size
        data = file.read_bytes() if size <= MAX_FILE_BYTES else b""
        blob = hashlib.sha1(b"blob %d\0" % size + data, usedforsecurity=False).hexdigest()
        tree[path] = TreeEntry(blob, "100644", size)
        blobs[blob] = data
