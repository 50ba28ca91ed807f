"""The miniature repository in verl's shape (tests/data/mini) and its sample pull request, as snapshots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from checks.snapshot import Snapshot, TreeEntry

DATA = Path(__file__).parent / "data"
SCRIPT = "tests/special_npu/nightly_ci_ascend/run_gspo_moe_megatron_npu.sh"
OLD_SCRIPT = "tests/special_npu/nightly_ci_ascend/run_grpo_small_megatron_npu.sh"
WORKFLOW = ".github/workflows/nightly_ascend.yml"
REF_CONFIG = "verl/trainer/config/ref/megatron_ref.yaml"
OTC = "actor_rollout_ref.ref.megatron.override_transformer_config"


@cache
def _files(folder: str) -> Mapping[str, str]:
    root = DATA / folder
    return {
        str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()
    }


def base_files() -> dict[str, str]:
    """The repository before the pull request."""
    return dict(_files("mini"))


def head_files() -> dict[str, str]:
    """The repository with the sample pull request modelled on verl #6273."""
    return {**_files("mini"), **_files("mini-pull")}


def not_inheriting(files: dict[str, str]) -> dict[str, str]:
    """The same tree with a reference config that does not inherit the transformer overrides."""
    lines = [line for line in files[REF_CONFIG].splitlines() if "override_transformer_config" not in line]
    return {**files, REF_CONFIG: "\n".join(lines) + "\n"}


def edited(files: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    """One piece of one file replaced; it must be there exactly once."""
    assert files[path].count(old) == 1, f"{old!r} is {files[path].count(old)} times in {path}"
    return {**files, path: files[path].replace(old, new)}


def snapshot(files: Mapping[str, str | bytes], commit: str | None = None) -> Snapshot:
    """All files present."""
    tree: dict[str, TreeEntry] = {}
    blobs: dict[str, bytes] = {}
    for path, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        blob = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        tree[path] = TreeEntry(blob, "100644", len(data))
        blobs[blob] = data
    return Snapshot(tree, blobs, commit)


def line_of(text: str, needle: str) -> int:
    """The number of the one line that contains ``needle``."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if needle in line]
    assert len(lines) == 1, f"{needle!r} is on lines {lines}"
    return lines[0]
