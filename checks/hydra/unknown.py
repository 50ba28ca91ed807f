"""Unknown parts in configurations: a marker text that every Hydra grammar position accepts.

Hydra and OmegaConf see an ordinary string; whatever ends up holding a marker, through any number of
interpolations, is unknown and is never judged.
"""

from __future__ import annotations

import re
from typing import Any

from omegaconf import OmegaConf

from checks.shell.value import Text

MARKER = "__npu_review_unknown__"
_MARKED = re.compile(re.escape(MARKER))


def marked(text: Text) -> str:
    """``text`` with each unknown part replaced by the marker."""
    return "".join(piece if isinstance(piece, str) else MARKER for piece in text)


def is_unknown(value: Any) -> bool:
    """True if ``value``, or anything inside a container, holds a marker."""
    if isinstance(value, str):
        return bool(_MARKED.search(value))
    if isinstance(value, dict):
        return any(is_unknown(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple):
        return any(is_unknown(part) for part in value)
    return False


def replace_resolvers() -> None:
    """Make the resolvers that read the outside give *unknown*: no value of ours can reach a comment."""

    def unknown(*_: Any) -> str:
        return MARKER

    for name in ("oc.env", "hydra", "now", "python_version"):
        OmegaConf.register_new_resolver(name, unknown, replace=True)
