"""What is in scope: workflows with NPU jobs and what they run, scripts that speak of Ascend NPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.workflow.load import is_workflow

_ENTRY_MODULE = re.compile(r"main\w*\.py|\w*_main\.py|sft_trainer\w*\.py")
_NPU = re.compile(r"npu|ascend|mindspeed|HCCL_|torch_npu", re.I)


def is_script(path: str) -> bool:
    """True for a bash script by its name."""
    return path.endswith(".sh")


def names_npu(path: str) -> bool:
    """True if the path alone puts a script in scope."""
    return is_script(path) and bool(_NPU.search(path))


def speaks_of_npu(text: str) -> bool:
    """True if the text puts a script in scope."""
    return bool(_NPU.search(text))


def likely_needed(paths: Iterable[str], changed: frozenset[str]) -> list[str]:
    """Files worth fetching before the first look: only a saving of rounds, never part of a judgement."""
    return [
        path
        for path in paths
        if is_workflow(path)
        or names_npu(path)
        or (path in changed and is_script(path))
        or (path.endswith(".yaml") and "/config/" in f"/{path}")
        or _ENTRY_MODULE.fullmatch(path.rpartition("/")[2])
    ]
