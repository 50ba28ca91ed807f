"""A whole commit of a clone in memory, for the tools that go through all of it."""

from __future__ import annotations

from pathlib import Path

from app.git import Repository
from checks.snapshot import MAX_FILE_BYTES, Snapshot


def head_of(repo: Path) -> Snapshot:
    """The snapshot of HEAD with the bytes of every file that is read at all."""
    repository = Repository(repo)
    snapshot = repository.snapshot(repository.commit("HEAD"))
    files = [entry for entry in snapshot.tree.values() if entry.mode.startswith("100")]
    small = {entry.blob for entry in files if (entry.size or 0) <= MAX_FILE_BYTES}
    snapshot.blobs.update(repository.read(small))
    return snapshot
