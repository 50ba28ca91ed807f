"""Training that a script hands to a program which is not followed: it is said, never lost.

``ssh host "python -m …"``, ``tmux new -d 'bash run.sh'``, ``docker run image bash run.sh``, ``xargs python``:
where, with what environment and with which further words these run is not known.
"""

from __future__ import annotations

import re

from checks import scope
from checks.commands import command_inside, command_of, looks_like_training, names_python
from checks.markdown import code
from checks.model import NotChecked
from checks.shell.commands import ASKING
from checks.shell.evaluate import Evaluation
from checks.shell.harmless import HARMLESS
from checks.shell.interpreter import Invocation
from checks.shell.state import normal_path
from checks.shell.wrappers import program_of
from checks.snapshot import Snapshot

_STARTS_PYTHON = re.compile(r"(?:^|[\s;&|('\"])(?:python[\d.]*|torchrun)\s+(?:-\S+\s+)*[\w./-]+")
_OVERRIDE = re.compile(r"(?:^|[\s'\"])[+~]*\w+\.[\w.]+=")
_SCRIPT = re.compile(r"[\w./-]+\.sh(?![\w./-])")
# They read, copy or delete files, or take text: nothing is started.
_STARTS_NOTHING = (
    HARMLESS
    | ASKING
    | frozenset({"ps", "scp", "rsync", "sed", "awk", "perl", "zip", "gh", "jq", "install", "cmp"})
)


def unfollowed(snapshot: Snapshot, evaluation: Evaluation) -> list[NotChecked]:
    """What was handed on, once for each line and reason."""
    found = [
        NotChecked(each.scripts[-1], f"line {each.span.line}: {reason}")
        for path in evaluation.paths
        for each in path.invocations
        if command_of(each.argv) is None and (reason := _reason(snapshot, each)) is not None
    ]
    return list(dict.fromkeys(found))


def _reason(snapshot: Snapshot, invocation: Invocation) -> str | None:
    argv = invocation.argv
    program = program_of(argv)
    if looks_like_training(argv, 1 if names_python(argv) else 2):
        return "overrides for a command that is not recognised"
    if program in _STARTS_NOTHING:
        return None
    handed = code(program) if program else "a program that is not known"
    inside = command_inside(argv)
    if inside is not None and (looks_like_training(inside.words, 1) or _is_of_tree(snapshot, inside.module)):
        return f"{code(inside.module)} is handed to {handed}, which is not followed"
    for word in argv[1:]:
        text = word.known or ""
        if _STARTS_PYTHON.search(text) and _OVERRIDE.search(text):
            return f"a training command in the words of {handed} is not followed"
        script = next(
            (each for each in _SCRIPT.findall(text) if _is_script(snapshot, invocation, each)), None
        )
        if script is not None and not text.startswith(("[", "{")):
            return f"{code(script)} is handed to {handed}, which is not followed"
    return None


def _is_of_tree(snapshot: Snapshot, module: str) -> bool:
    return module in snapshot or f"{module.replace('.', '/')}.py" in snapshot


def _is_script(snapshot: Snapshot, invocation: Invocation, written: str) -> bool:
    path = normal_path(f"{invocation.cwd}/{written}" if invocation.cwd else written)
    return path is not None and path in snapshot and scope.is_script(path)
