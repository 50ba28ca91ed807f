"""The files of a repository at one commit, read lazily by path.

A snapshot knows the whole tree listing, but only the bytes that were fetched so far. Reading a file
whose bytes are not there raises ``NotFetched`` and notes the path, so that whoever holds the network or
the git objects can fetch all of them in one batch and ask again (DESIGN, *The sandbox boundary*).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from checks.markdown import code

MAX_FILE_BYTES = 256 * 1024


class SnapshotError(Exception):
    """A file that cannot be judged: the text says why, ready for *not checked*."""


class NotInTree(SnapshotError):
    """The path is not a file of this commit."""


class NotFetched(SnapshotError):
    """The file is in the tree, its bytes are not here yet."""


class Refused(SnapshotError):
    """The file is there but is not read: a symlink, too large, or no UTF-8."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of the tree: ``mode`` as git writes it ("100644", "100755", "120000", "160000")."""

    blob: str
    mode: str = "100644"
    size: int | None = None


@dataclass
class Snapshot:
    """Tree listing and the blobs fetched so far, by blob id. ``commit`` is None for a working tree."""

    tree: Mapping[str, TreeEntry]
    blobs: dict[str, bytes]
    commit: str | None = None
    needed: set[str] = field(default_factory=set)
    read_paths: set[str] = field(default_factory=set)
    _folders: dict[str, set[str]] | None = field(default=None, repr=False)

    def __contains__(self, path: str) -> bool:
        return path in self.tree and self.tree[path].mode != "160000"

    def is_folder(self, path: str) -> bool:
        """True if some file of the tree lies below ``path`` ("" is the root)."""
        return path in self._children()

    def children(self, folder: str) -> frozenset[str]:
        """The names of the files and folders right below ``folder`` ("" is the root)."""
        return frozenset(self._children().get(folder, ()))

    def _children(self) -> dict[str, set[str]]:
        if self._folders is None:
            self._folders = {}
            for path in self.tree:
                for folder, name in _steps(path):
                    self._folders.setdefault(folder, set()).add(name)
        return self._folders

    def blob_id(self, path: str) -> str | None:
        """The id of the file's content, None if there is no such file."""
        entry = self.tree.get(path)
        return entry.blob if entry else None

    def under(self, folder: str) -> list[str]:
        """All files below ``folder``, sorted."""
        prefix = f"{folder}/" if folder else ""
        return sorted(path for path in self.tree if path.startswith(prefix))

    def read(self, path: str) -> bytes:
        """The bytes of ``path``. Raises NotInTree, Refused or NotFetched."""
        entry = self.tree.get(path)
        if entry is None or entry.mode == "160000":
            raise NotInTree(f"{code(path)} is not in the tree")
        if entry.mode == "120000":
            raise Refused(f"{code(path)} is a symbolic link, which is not followed")
        if entry.size is not None and entry.size > MAX_FILE_BYTES:
            raise Refused(_too_large(path, entry.size))
        data = self.blobs.get(entry.blob)
        if data is None:
            self.needed.add(path)
            raise NotFetched(f"{code(path)} could not be fetched")
        if len(data) > MAX_FILE_BYTES:
            raise Refused(_too_large(path, len(data)))
        self.read_paths.add(path)
        return data

    def require(self, paths: Iterable[str]) -> None:
        """Note all of ``paths`` that are not here yet. Raises NotFetched if there are any."""
        missing = {path for path in paths if path in self and self.tree[path].blob not in self.blobs}
        if missing:
            self.needed |= missing
            raise NotFetched(f"{len(missing)} files could not be fetched, among them {code(min(missing))}")

    def text(self, path: str) -> str:
        """The file as UTF-8 text, line ends untouched. Raises as ``read`` does, Refused if no UTF-8."""
        try:
            return self.read(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"{code(path)} is not UTF-8 (byte {error.start})") from None

    def with_file(self, path: str, data: bytes) -> Snapshot:
        """The same tree with one file's content replaced: for proving a fix."""
        blob = f"edited:{hashlib.sha256(data).hexdigest()}"
        entry = self.tree.get(path)
        tree = {**self.tree, path: TreeEntry(blob, entry.mode if entry else "100644", len(data))}
        return Snapshot(tree, {**self.blobs, blob: data}, self.commit, self.needed, self.read_paths)


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Each folder above ``path`` with the name that follows in it."""
    while path:
        folder, _, name = path.rpartition("/")
        yield folder, name
        path = folder


def _too_large(path: str, size: int) -> str:
    return f"{code(path)} is {size} bytes, more than the {MAX_FILE_BYTES} that are read"
