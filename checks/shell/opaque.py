"""Characters that stand for text nobody knows yet: one for each character of what was written there.

They come from the private range of Unicode, survive every quoting, and are read as one unknown.
"""

from __future__ import annotations

import re

FIRST = 0xE000
LAST = 0xE0FF
_RUN = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]+")


def hide(written: str) -> str:
    """``written`` as opaque characters; those beyond Latin-1 become a question mark."""
    return "".join(chr(FIRST + (ord(char) if ord(char) < LAST - FIRST else ord("?"))) for char in written)


def runs(text: str) -> list[tuple[int, int, str]]:
    """Start, end and what was written, for each opaque stretch of ``text``."""
    return [
        (match.start(), match.end(), "".join(chr(ord(char) - FIRST) for char in match[0]))
        for match in _RUN.finditer(text)
    ]
