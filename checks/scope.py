"""What is in scope: workflows with NPU jobs and what they run, scripts that speak of Ascend NPUs."""

from __future__ import annotations

import re

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
