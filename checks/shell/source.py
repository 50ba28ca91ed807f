"""A text with its place in a file, so that every offset becomes a line and a column."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from checks.model import Span


@dataclass(frozen=True)
class Source:
    """``text`` as it stands in ``path``.

    A script file starts at line 1, column 1. A ``run: |`` block of a workflow starts at ``first_line``
    with ``indent`` columns cut from each line. Where the text does not map line by line (a folded or
    quoted scalar), ``last_line`` is set and every span is the whole stretch ``first_line..last_line``.
    """

    path: str
    text: str
    first_line: int = 1
    indent: int = 0
    last_line: int | None = None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(offset + 1 for offset, char in enumerate(self.text) if char == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of ``offset``."""
        row = bisect_right(self._line_starts, offset) - 1
        return self.first_line + row, offset - self._line_starts[row] + 1 + self.indent

    def span(self, start: int, end: int) -> Span:
        """The span of ``text[start:end]``."""
        if self.last_line is not None:
            return Span(self.path, self.first_line, 1, self.last_line, 1)
        line, column = self.position(start)
        last = max(end - 1, start)
        end_line, end_column = self.position(last)
        return Span(self.path, line, column, end_line, end_column + (1 if end > start else 0))

    def line(self, offset: int) -> int:
        """The line of ``offset``."""
        return self.first_line if self.last_line is not None else self.position(offset)[0]
