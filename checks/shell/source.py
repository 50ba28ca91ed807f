"""A text with its place in a file, so that every offset becomes a line and a column."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from checks.model import Span


@dataclass(frozen=True, slots=True)
class Shift:
    """``length`` characters from ``start`` stand where the file has ``written`` others."""

    start: int
    length: int
    written: int


@dataclass(frozen=True)
class Source:
    """``text`` as it stands in ``path``.

    A script file starts at line 1, column 1. A ``run: |`` block of a workflow starts at ``first_line``
    with ``indent`` columns cut from each line. Where the text does not map line by line (a folded or
    quoted scalar), ``last_line`` is set and every span is the whole stretch ``first_line..last_line``.
    ``shifts`` are the places where ``text`` is not what the file has (``written``, if there are any).
    """

    path: str
    text: str
    first_line: int = 1
    indent: int = 0
    last_line: int | None = None
    shifts: tuple[Shift, ...] = ()
    written: str | None = None

    def replaced(self, text: str, shifts: tuple[Shift, ...]) -> Source:
        """The same place with another text."""
        return replace(self, text=text, shifts=shifts, written=self.text)

    @cached_property
    def _line_starts(self) -> list[int]:
        text = self.text if self.written is None else self.written
        return [0, *(offset + 1 for offset, char in enumerate(text) if char == "\n")]

    def position(self, offset: int, *, last: bool = False) -> tuple[int, int]:
        """Line and column (both from 1) of ``offset``; ``last`` for the end of a stretch."""
        for shift in reversed(self.shifts):
            if offset >= shift.start + shift.length:
                offset += sum(each.written - each.length for each in self.shifts if each.start <= shift.start)
                break
            if offset >= shift.start:
                earlier = sum(each.written - each.length for each in self.shifts if each.start < shift.start)
                is_end = last and offset == shift.start + shift.length - 1
                within = shift.written - 1 if is_end else min(offset - shift.start, shift.written - 1)
                offset = shift.start + earlier + within
                break
        row = bisect_right(self._line_starts, offset) - 1
        return self.first_line + row, offset - self._line_starts[row] + 1 + self.indent

    def span(self, start: int, end: int) -> Span:
        """The span of ``text[start:end]``."""
        if self.last_line is not None:
            return Span(self.path, self.first_line, 1, self.last_line, 1)
        line, column = self.position(start)
        last = max(end - 1, start)
        end_line, end_column = self.position(last, last=True)
        return Span(self.path, line, column, end_line, end_column + (1 if end > start else 0))

    def line(self, offset: int) -> int:
        """The line of ``offset``."""
        return self.first_line if self.last_line is not None else self.position(offset)[0]
