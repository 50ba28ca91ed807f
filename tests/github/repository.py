"""A bare git repository, built from dictionaries of files and read through the git command."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}
_STATUS = {"A": "added", "C": "copied", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}
_ZEROS = "0" * 40


@dataclass(frozen=True)
class GitObject:
    sha: str
    kind: str  # blob, tree, commit
    content: bytes


@dataclass(frozen=True)
class TreeEntry:
    mode: str
    kind: str
    sha: str
    size: int | None  # bytes; blobs only
    path: str


@dataclass(frozen=True)
class ChangedFile:
    """One file of a diff; `patch` begins with its first hunk header, as GitHub gives it."""

    status: str
    sha: str
    path: str
    previous_path: str | None
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True)
class Link:
    """The content of a symbolic link."""

    target: str


Content = str | bytes | Link | None  # None deletes the file


class BareRepository:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader: subprocess.Popen[bytes] | None = None
        self.changed_files = lru_cache(maxsize=64)(self._changed_files)

    @classmethod
    def create(cls, path: Path) -> "BareRepository":
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(path)],
            check=True, env=_ENVIRONMENT,
        )  # fmt: skip
        return cls(path)

    def git(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        """The command's output; raises `CalledProcessError` when git refuses."""
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, input=stdin, check=True, capture_output=True, env=_ENVIRONMENT).stdout

    def close(self) -> None:
        if self._reader is not None and self._reader.stdin and self._reader.stdout:
            self._reader.stdin.close()
            self._reader.wait()
            self._reader.stdout.close()
            self._reader = None

    # Writing

    def commit(
        self,
        files: Mapping[str, Content],
        *,
        branch: str = "main",
        start: str | None = None,
        merge: str | None = None,
        message: str = "Change",
    ) -> str:
        """Adds a commit that lays `files` over its parent and moves `branch` to it; returns its sha.

        The parent is `start` (a ref or sha) if given, else the branch itself if it exists.
        """
        parent = self.resolve(start or f"refs/heads/{branch}")
        header = [
            f"commit refs/heads/{branch}",
            "committer A Developer <developer@example.org> 1767225600 +0000",
            f"data {len(message.encode())}\n{message}",
        ]
        header += [f"from {parent}"] if parent else []
        header += [f"merge {self.resolve(merge)}"] if merge else []
        stream = "\n".join(header).encode() + b"\n"
        stream += b"".join(_file_command(path, content) for path, content in files.items())
        self.git("fast-import", "--quiet", "--force", stdin=stream)
        return self.sha(f"refs/heads/{branch}")

    def delete_branch(self, branch: str) -> None:
        self.git("update-ref", "-d", f"refs/heads/{branch}")

    # Reading

    def resolve(self, name: str) -> str | None:
        """The object id that a ref, a sha or an expression such as `main:path` names."""
        found = self.read(name)
        return found.sha if found else None

    def sha(self, name: str) -> str:
        found = self.resolve(name)
        if found is None:
            raise KeyError(name)
        return found

    def read(self, name: str) -> GitObject | None:
        """One object through a `git cat-file --batch` that stays open; an annotated tag is not followed."""
        if not name or "\n" in name:
            return None
        if self._reader is None:
            self._reader = subprocess.Popen(
                ["git", "-C", str(self.path), "cat-file", "--batch"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_ENVIRONMENT,
            )  # fmt: skip
        if self._reader.stdin is None or self._reader.stdout is None:
            raise RuntimeError("git cat-file has no pipes")
        self._reader.stdin.write(name.encode() + b"\n")
        self._reader.stdin.flush()
        header = self._reader.stdout.readline().decode().rstrip("\n")
        if header.endswith((" missing", " ambiguous")):
            return None
        sha, kind, size = header.split(" ")
        content = self._reader.stdout.read(int(size) + 1)[:-1]
        return GitObject(sha, kind, content)

    def tree(self, name: str, *, recursive: bool = False) -> list[TreeEntry]:
        options = ["-r", "-t"] if recursive else []
        output = self.git("ls-tree", "-z", "--long", *options, name).decode(errors="replace")
        return [_tree_entry(line) for line in output.split("\0") if line]

    def merge_base(self, base: str, head: str) -> str:
        return self.git("merge-base", base, head).decode().strip()

    def parents(self, commit: str) -> list[str]:
        return self.git("rev-list", "--no-walk", "--parents", commit).decode().split()[1:]

    def commits_between(self, base: str, head: str) -> list[str]:
        """The commits that `head` has and `base` has not, oldest first."""
        return self.git("rev-list", "--reverse", f"{base}..{head}").decode().split()

    def _changed_files(self, old: str, new: str) -> list[ChangedFile]:
        """The two-dot difference between two commits, renames detected as `git diff -M` does."""
        raw = self.git("diff", "--raw", "--no-abbrev", "-M", "-z", old, new).decode(errors="replace")
        patch = self.git("diff", "--patch", "--full-index", "-M", old, new).decode(errors="replace")
        sections = iter(re.split(r"^diff --git .*\n", patch, flags=re.MULTILINE)[1:])
        fields = iter(raw.split("\0")[:-1])
        files = []
        for description in fields:
            _, _, old_sha, new_sha, letter = description.split(" ")
            first = next(fields)
            second = next(fields) if letter[0] in "RC" else None
            section = next(sections)
            if letter == "T":  # git shows a changed file type as a deletion and a creation
                section = next(sections)
            files.append(
                _changed_file(
                    status=_STATUS[letter[0]],
                    sha=old_sha if new_sha == _ZEROS else new_sha,
                    path=second or first,
                    previous_path=first if second else None,
                    section=section,
                )
            )
        return files


def _file_command(path: str, content: Content) -> bytes:
    if content is None:
        return f"D {path}\n".encode()
    mode = "100644"
    if isinstance(content, Link):
        mode, content = "120000", content.target
    data = content.encode() if isinstance(content, str) else content
    return f"M {mode} inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def _tree_entry(line: str) -> TreeEntry:
    description, path = line.split("\t", 1)
    mode, kind, sha, size = description.split()
    return TreeEntry(mode, kind, sha, None if size == "-" else int(size), path)


def _changed_file(status: str, sha: str, path: str, previous_path: str | None, section: str) -> ChangedFile:
    start = re.search(r"^@@ ", section, re.MULTILINE)
    patch = section[start.start() :].removesuffix("\n") if start else None
    lines = patch.split("\n") if patch else []
    additions = sum(line.startswith("+") for line in lines)
    deletions = sum(line.startswith("-") for line in lines)
    return ChangedFile(status, sha, path, previous_path, additions, deletions, patch)
