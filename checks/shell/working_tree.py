"""The files that a script sees: those of the snapshot, with what its own commands make and remove."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from checks.shell.source import Source
from checks.snapshot import Snapshot

Kind: TypeAlias = Literal["file", "folder"]


@dataclass
class WorkingTree:
    """``made`` are the files that were written (None: with a text that is not known).

    A removed path takes with it what lies below; what is written there later is there again.
    """

    snapshot: Snapshot
    made: dict[str, Source | None] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def write(self, path: str, source: Source | None) -> None:
        """A file is there now."""
        self.made[path] = source
        self.folders.update(_above(path))

    def make_folder(self, path: str) -> None:
        """``mkdir -p path``."""
        self.folders.update((path, *_above(path)))

    def remove(self, path: str) -> None:
        """``rm -r path``."""
        self.removed.add(path)
        below = f"{path}/"
        self.made = {
            each: text for each, text in self.made.items() if each != path and each[: len(below)] != below
        }
        self.folders = {each for each in self.folders if each != path and not each.startswith(below)}

    def is_removed(self, path: str) -> bool:
        """True if a command of the script has removed ``path`` and none has written it anew."""
        if not self.removed or path in self.made or path in self.folders:
            return False
        return not self.removed.isdisjoint((path, *_above(path)))

    def kind(self, path: str) -> Kind | None:
        """What is surely at ``path`` ("" is the root); None if that cannot be told, or nothing is there."""
        if path in self.made:
            return "file"
        if path in self.folders:
            return "folder"
        if self.is_removed(path):
            return None
        entry = self.snapshot.tree.get(path)
        if entry is not None and entry.mode not in ("120000", "160000"):
            return "file"
        is_folder = (
            not path or self.snapshot.is_folder(path) or (entry is not None and entry.mode == "160000")
        )
        return "folder" if is_folder else None

    def names(self, path: str) -> bool:
        """True if a script or a text can be read at ``path``: not a folder, and not removed."""
        return path in self.made or (path in self.snapshot and not self.is_removed(path))

    def children(self, folder: str) -> frozenset[str]:
        """The names of what is right below ``folder`` ("" is the root)."""
        prefix = f"{folder}/" if folder else ""
        own = self.snapshot.children(folder)
        if self.removed:
            own = frozenset(name for name in own if not self.is_removed(prefix + name))
        inside = [each[len(prefix) :] for each in (*self.made, *self.folders) if each.startswith(prefix)]
        return own | {name.partition("/")[0] for name in inside if name}

    def text(self, path: str) -> str | None:
        """The text at ``path``, None if it is not known. Raises as ``Snapshot.text`` does."""
        if path in self.made:
            source = self.made[path]
            return source.text if source is not None else None
        if self.is_removed(path) or self.snapshot.tree[path].mode == "120000":
            return None
        return self.snapshot.text(path)


def _above(path: str) -> tuple[str, ...]:
    """Every folder above ``path``, the root left out."""
    parts = path.split("/")
    return tuple("/".join(parts[:end]) for end in range(1, len(parts)))
