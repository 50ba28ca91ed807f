"""Every path that a script can take: the interpreter, run again for each side of what is not known.

The paths are gone through by how many of the answers differ from the first path's; at most ``MAX_PATHS``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from checks.model import NotChecked
from checks.shell.interpreter import Interpreter, Invocation
from checks.shell.loops import Endless
from checks.shell.scripts import script
from checks.shell.state import Shell
from checks.shell.value import Status, Text
from checks.snapshot import Snapshot

MAX_PATHS = 24
MAX_STEPS = 60_000


@dataclass(frozen=True)
class Decision:
    """An undecided question in words, and the side that a path takes.

    ``follows`` is set where another answer on the same path already implies this one: a text that equals one
    word equals no other.
    """

    what: str
    holds: bool
    follows: bool = False


@dataclass(frozen=True)
class Outcome:
    """One path: the commands in order, what was not checked, the files evaluated, the decisions taken.

    ``written`` is what went to files: target, text, and whether it was appended; ``changed`` are the files of
    the tree among them.
    """

    invocations: tuple[Invocation, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    files: frozenset[str] = frozenset()
    decisions: tuple[Decision, ...] = ()
    status: Status = 0
    written: tuple[tuple[Text, Text, bool], ...] = ()
    changed: frozenset[str] = frozenset()
    steps: int = 0

    @property
    def plan(self) -> tuple[bool, ...]:
        """What makes the interpreter take this path again."""
        return tuple(decision.holds for decision in self.decisions)


@dataclass(frozen=True)
class Evaluation:
    """All paths of one script in one calling context. ``not_checked`` holds for all of them."""

    paths: tuple[Outcome, ...]
    not_checked: tuple[NotChecked, ...]
    files: frozenset[str]


def evaluate(tree: Snapshot, shell: Shell) -> Evaluation:
    """Evaluate ``shell.source`` and everything it calls that is in ``tree``. Raises NotFetched."""
    evaluation = _all_paths(tree, shell)
    if shell.open and all(isinstance(path.status, int) and path.status for path in evaluation.paths):
        # Without arguments it only complains: a person gives some.
        return _all_paths(tree, replace(shell, count_unknown=True))
    return evaluation


def evaluate_path(tree: Snapshot, shell: Shell, plan: Sequence[bool] = ()) -> Outcome:
    """Evaluate along one path."""
    host = Interpreter(tree, plan)
    path = shell.source.path
    host.files.add(path)
    host.scripts = (path,)
    running = replace(shell.copy(), host=host, names=shell.names or (shell.zero,))
    try:
        status = script(host, running)
    except Endless:
        status = 0
    return Outcome(
        tuple(host.invocations),
        tuple(dict.fromkeys(host.not_checked)),
        frozenset(host.files),
        _decisions(host),
        status,
        tuple(host.written),
        frozenset(path for path in host.working_tree.made if path in tree),
        host.steps,
    )


def _decisions(host: Interpreter) -> tuple[Decision, ...]:
    answers = host.decided.items()
    equal = {part for key, given in answers if key[0] == "equal" and given.plainly for part in key[1:]}
    return tuple(
        Decision(given.what, given.holds, _is_other(key, equal) and not given.plainly)
        for key, given in answers
    )


def _is_other(key: tuple[object, ...], equal: set[object]) -> bool:
    return key[0] == "equal" and any(part in equal for part in key[1:])


def _all_paths(tree: Snapshot, shell: Shell) -> Evaluation:
    plans: deque[tuple[bool, ...]] = deque([()])
    paths: list[Outcome] = []
    steps = 0
    while plans and len(paths) < MAX_PATHS and steps < MAX_STEPS:
        plan = plans.popleft()
        outcome = evaluate_path(tree, shell, plan)
        paths.append(outcome)
        steps += outcome.steps
        taken = outcome.plan
        # More plans than paths to go are never taken; one too many is kept to know that there are more.
        places = range(len(plan), min(len(taken), len(plan) + MAX_PATHS + 1))
        plans += [(*taken[:place], not taken[place]) for place in places]
    not_checked = list(dict.fromkeys(each for path in paths for each in path.not_checked))
    if plans:
        reason = f"{len(paths)} ways through this script are judged, it has more"
        not_checked.append(NotChecked(shell.source.path, reason))
    return Evaluation(
        tuple(paths), tuple(not_checked), frozenset(file for path in paths for file in path.files)
    )
