"""Where a comment may stand: only lines of the diff, checked before anything is posted.

The ladder: the exact lines in one hunk, else the lines of the same statement that are in one hunk, else no
inline place (the finding goes to the check run, with an annotation). Source: GitHub docs, *Create a review
for a pull request*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from app.github.snapshot import DiffFile
from checks.model import Edit, Finding, Place


@dataclass(frozen=True, slots=True)
class Hunk:
    """The lines of head that one hunk shows: added and context lines."""

    lines: frozenset[int]


Diff = Mapping[str, tuple[Hunk, ...]]


@dataclass(frozen=True, slots=True)
class Anchor:
    """Lines ``start_line``..``line`` of ``path`` at head; with ``suggestion``, what they may become."""

    path: str
    start_line: int
    line: int
    suggestion: str | None = None


def hunks(files: Iterable[DiffFile]) -> Diff:
    """The commentable lines of every file of the diff; a file without a patch has none."""
    return {file.filename: _hunks(file.patch) for file in files if file.patch is not None}


def _hunks(patch: str) -> tuple[Hunk, ...]:
    text = f"--- a/file\n+++ b/file\n{patch.rstrip(chr(10))}\n"
    try:
        parsed = PatchSet(text)
    except UnidiffParseError:
        return ()
    return tuple(
        Hunk(frozenset(line.target_line_no for line in hunk if line.target_line_no is not None))
        for file in parsed
        for hunk in file
    )


def place(finding: Finding, diff: Diff) -> Anchor | None:
    """The best anchor for ``finding``, None if no line of it is in the diff."""
    edit = one_edit(finding.fix)
    if edit is not None and _within_one_hunk(Place(edit.path, edit.start_line, edit.end_line), diff):
        return Anchor(edit.path, edit.start_line, edit.end_line, edit.replacement)
    for exact in finding.places:
        if _within_one_hunk(exact, diff):
            return Anchor(exact.path, exact.line, exact.end_line)
    for partly in finding.places:
        shown = _longest_shown(partly, diff)
        if shown is not None:
            return Anchor(shown.path, shown.line, shown.end_line)
    return None


def one_edit(fix: tuple[Edit, ...]) -> Edit | None:
    """Edits of adjacent lines as one; None if they are apart or there are none."""
    if not fix:
        return None
    ordered = sorted(fix, key=lambda edit: edit.start_line)
    first, last = ordered[0], ordered[-1]
    apart = any(
        before.path != after.path or after.start_line != before.end_line + 1
        for before, after in pairwise(ordered)
    )
    if apart:
        return None
    kept = [edit.replacement for edit in ordered if edit.replacement]
    return Edit(first.path, first.start_line, last.end_line, "\n".join(kept))


def _within_one_hunk(place_: Place, diff: Diff) -> bool:
    wanted = set(range(place_.line, place_.end_line + 1))
    return any(wanted <= hunk.lines for hunk in diff.get(place_.path, ()))


def _longest_shown(place_: Place, diff: Diff) -> Place | None:
    best: Place | None = None
    for hunk in diff.get(place_.path, ()):
        shown = [line for line in range(place_.line, place_.end_line + 1) if line in hunk.lines]
        if shown and (best is None or len(shown) > best.end_line - best.line + 1):
            best = Place(place_.path, shown[0], shown[-1])
    return best
