"""``npu-review check``: the same engine on a local clone."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.git import GitError, Repository
from checks import sandbox
from checks.model import Report, Severity
from checks.report.json import to_json
from checks.report.text import to_text
from checks.snapshot import Snapshot

FINDINGS, BAD_ARGUMENTS, OUR_FAULT = 1, 2, 3


class Format(StrEnum):
    """Output formats."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """The lowest severity that makes the exit code 1."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Report only these files or folders, named from the folder of --repo."
        ),
    ] = None,
    repo: Annotated[Path, typer.Option(help="A clone, or any folder inside it.")] = Path(),
    base: Annotated[
        str | None, typer.Option(help="Report what head introduces since its merge base with this.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="The commit to look at; without it, the working tree.")
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.TEXT,
    fail_on: Annotated[FailOn, typer.Option(help="Exit 1 from this severity on.")] = FailOn.HIGH,
    everything: Annotated[
        bool, typer.Option("--all", help="With --base: report also what stood there.")
    ] = False,
    fail_on_unchecked: Annotated[bool, typer.Option(help="Exit 1 if something was not checked.")] = False,
) -> None:
    """Review a change, audit a commit, or audit the working tree of a local clone.

    Exit code: 2 bad arguments, no repository or an unknown revision; 3 a crash or limit of npu-review;
    1 findings at or above --fail-on (or, with --fail-on-unchecked, something not checked); 0 otherwise.
    """
    try:
        request, repository = _request(repo, base, head, paths or [], everything)
    except GitError as error:
        typer.echo(f"npu-review: {error}", err=True)
        raise typer.Exit(BAD_ARGUMENTS) from None
    try:
        report = sandbox.run(request, repository.read)
    except (sandbox.SandboxFailed, GitError) as error:
        typer.echo(f"npu-review: not reviewed: {error}", err=True)
        raise typer.Exit(OUR_FAULT) from None
    text = to_json(report) if output is Format.JSON else to_text(report)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
    raise typer.Exit(exit_code(report, fail_on, fail_on_unchecked=fail_on_unchecked))


def exit_code(report: Report, fail_on: FailOn, *, fail_on_unchecked: bool) -> int:
    """3 before 1 before 0."""
    if report.crashed:
        return OUR_FAULT
    if fail_on_unchecked and report.not_checked:
        return FINDINGS
    if fail_on is FailOn.NONE:
        return 0
    threshold = Severity(fail_on.value).rank
    return FINDINGS if any(finding.severity.rank >= threshold for finding in report.findings) else 0


def _request(
    folder: Path, base: str | None, head: str | None, paths: Iterable[str], everything: bool
) -> tuple[sandbox.Request, Repository]:
    repository = Repository(folder)
    after = repository.snapshot(repository.commit(head)) if head is not None else repository.working_tree()
    before: Snapshot | None = None
    if base is not None:
        merge_base = repository.merge_base(repository.commit(base), after.commit or repository.commit("HEAD"))
        before = repository.snapshot(merge_base)
    given = frozenset(_tree_path(repository, after, before, path) for path in paths)
    return sandbox.Request(after, before, given, everything), repository


def _tree_path(repository: Repository, head: Snapshot, base: Snapshot | None, path: str) -> str:
    """``path``, seen from the folder of ``--repo``, as a path of the tree. Raises GitError if not there."""
    if posixpath.isabs(path):
        path = posixpath.relpath(path, posixpath.abspath(repository.folder))
    tree_path = posixpath.normpath(posixpath.join(repository.prefix, path))
    tree_path = "" if tree_path == "." else tree_path
    sides = [side for side in (head, base) if side is not None]
    if not any(tree_path in side or side.is_folder(tree_path) for side in sides):
        raise GitError(f"`{path}` is not a file or folder of this repository")
    return tree_path
