"""Which lines of a diff may carry a comment, and where a line goes when the file changes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True)
class Hunk:
    """The lines that one hunk shows, each as (number in the old file, number in the new file), 1-based.

    An added line has no old number, a deleted line no new one, a context line has both.
    """

    lines: tuple[tuple[int | None, int | None], ...]

    def shows(self, side: str, line: int) -> bool:
        """RIGHT shows added and context lines, LEFT deleted and context lines."""
        column = 0 if side == "LEFT" else 1
        return any(pair[column] == line for pair in self.lines)


def hunks(patch: str | None) -> list[Hunk]:
    """Raises `ValueError` when the patch does not begin with a hunk header."""
    sections = re.split(r"^(?=@@ )", patch or "", flags=re.MULTILINE)
    return [Hunk(tuple(_lines(section))) for section in sections if section]


def _lines(section: str) -> Iterator[tuple[int | None, int | None]]:
    header, *lines = section.split("\n")
    match = _HEADER.match(header)
    if match is None:
        raise ValueError(f"not a hunk header: {header!r}")
    old, new = int(match[1]), int(match[2])
    for line in lines:
        in_old, in_new = line.startswith((" ", "-")), line.startswith((" ", "+"))
        if in_old or in_new:  # else "\ No newline at end of file"
            yield (old if in_old else None, new if in_new else None)
        old += in_old
        new += in_new


def moved_line(patch: str | None, line: int) -> int | None:
    """Where an old file's `line` stands in the new file; None when the patch removed it."""
    shift = 0
    for hunk in hunks(patch):
        for old, new in hunk.lines:
            if old == line:
                return new
        shown = [old for old, _ in hunk.lines if old is not None]
        if shown and shown[-1] < line:
            shift += sum(new is not None for _, new in hunk.lines) - len(shown)
    return line + shift
