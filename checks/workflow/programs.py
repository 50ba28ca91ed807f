"""Who else writes what later steps go by: actions of other repositories, and programs that a step starts.

A program writes the files behind ``GITHUB_ENV`` and ``GITHUB_OUTPUT`` by their variables; a line
``::set-output`` on its output does the same. Source: GitHub docs, *Workflow commands for GitHub Actions*.
"""

from __future__ import annotations

import re

from checks.shell.evaluate import Evaluation
from checks.shell.state import normal_path
from checks.snapshot import NotFetched, Snapshot, SnapshotError

# They set nothing, or only what belongs to the tool that they install.
_HARMLESS_ACTIONS = re.compile(r"actions/(checkout|cache(/\w+)?|(up|down)load-artifact|setup-[\w-]+)@.*")
_BY_PROGRAM = re.compile(
    r"(?:environ|getenv|process\.env|ENV)\W{1,3}(?:get\W{1,3})?(?P<file>GITHUB_(?:ENV|OUTPUT))|::(?P<old>set-output)"
)
_READABLE = (".py", ".sh", ".js")


def action_sets_variables(uses: str) -> bool:
    """True if an action of another repository may set variables of the job."""
    return _HARMLESS_ACTIONS.fullmatch(uses) is None


def files_of_programs(snapshot: Snapshot, evaluation: Evaluation, text: str) -> frozenset[str]:
    """Which of ``GITHUB_ENV`` and ``GITHUB_OUTPUT`` a program of the step in ``text`` may write.

    Raises NotFetched.
    """
    found = _named(text)
    for path in sorted(evaluation.files | _started(snapshot, evaluation)):
        try:
            found |= _named(snapshot.text(path)) if path in snapshot else frozenset()
        except NotFetched:
            raise
        except SnapshotError:
            found |= {"GITHUB_ENV", "GITHUB_OUTPUT"}
    return found


def _named(text: str) -> frozenset[str]:
    return frozenset(match["file"] or "GITHUB_OUTPUT" for match in _BY_PROGRAM.finditer(text))


def _started(snapshot: Snapshot, evaluation: Evaluation) -> frozenset[str]:
    """The files of the tree that are words of a command."""
    found: set[str] = set()
    for outcome in evaluation.paths:
        for each in outcome.invocations:
            for word in each.argv:
                path = normal_path(f"{each.cwd or '.'}/{word.known or ''}")
                if path and path.endswith(_READABLE) and path in snapshot:
                    found.add(path)
    return frozenset(found)
