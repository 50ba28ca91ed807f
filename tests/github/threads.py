"""Where a review thread stands on the present diff."""

from tests.github.hunks import hunks, moved_line
from tests.github.pulls import changed_files
from tests.github.repository import ChangedFile
from tests.github.state import Pull, Repository, ReviewComment


def present_line(held: Repository, pull: Pull, comment: ReviewComment, line: int | None = None) -> int | None:
    """The line that carries the comment now; None once it is outdated.

    A comment is outdated when a push changed its line, or when the line left the diff. `line` asks for
    another line of the same comment, such as the start of a range.
    """
    line = line or comment.line
    old, new = _commented_versions(held, pull, comment)
    moved: int | None = line
    if old != new:
        renamed = _file(held.git.changed_files(old, new), comment.path)
        moved = moved_line(renamed.patch, line) if renamed else line
    shown = _file(changed_files(held, pull), comment.path)
    if moved is None or shown is None:
        return None
    return moved if any(hunk.shows(comment.side, moved) for hunk in hunks(shown.patch)) else None


def _commented_versions(held: Repository, pull: Pull, comment: ReviewComment) -> tuple[str, str]:
    """The commit whose text the comment stands on, and the one whose text is shown now."""
    if comment.side == "RIGHT":
        return comment.commit, held.head(pull)
    return held.git.merge_base(held.base(pull), comment.commit), held.merge_base(pull)


def _file(files: list[ChangedFile], path: str) -> ChangedFile | None:
    return next((file for file in files if path in (file.path, file.previous_path)), None)
