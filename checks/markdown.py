"""Repository text inside Markdown: a code span or a sentence that it cannot break out of."""

from __future__ import annotations

import re
from collections.abc import Sequence


def code(text: str) -> str:
    """``text`` as a code span, on one line, however many backticks it holds."""
    inner = re.sub(r"\s+", " ", text).strip() or " "
    longest = max((len(run) for run in re.findall(r"`+", inner)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in (inner[0], inner[-1]) else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``b`` and ``c`` as code, for a sentence."""
    quoted = [code(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]


def plain(text: str) -> str:
    """``text`` on one line without anything that Markdown, HTML or GitHub would act on."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|@&~$-])", r"\\\1", re.sub(r"\s+", " ", text))


def place(path: str, line: int) -> str:
    """``path:line`` as code."""
    return code(f"{path}:{line}")
