"""The shell that GitHub starts for a ``run:`` block: its options, folder and variables.

Source: GitHub docs, *Workflow syntax*, ``jobs.<job_id>.steps[*].shell``; *Variables reference*, default ones.
"""

from __future__ import annotations

from checks.model import Span
from checks.shell.builtins import SET_LETTERS
from checks.shell.state import normal_path
from checks.shell.value import (
    GITHUB_ENV,
    GITHUB_OUTPUT,
    GITHUB_PATH,
    ROOT,
    Field,
    Text,
    Variable,
    join,
    known,
)
from checks.workflow.expressions import Contexts, as_text
from checks.workflow.load import Setting, Settings
from checks.workflow.render import text_with, value_of

BASH = ("bash", "sh", "bash {0}", "sh {0}", "bash -e {0}", "bash -l {0}", "bash -el {0}")
KNOWN_DEFAULTS: dict[str, Text] = {
    "CI": ("true",), "GITHUB_ACTIONS": ("true",), "GITHUB_WORKSPACE": (ROOT,), "GITHUB_ENV": (GITHUB_ENV,),
    "GITHUB_OUTPUT": (GITHUB_OUTPUT,), "GITHUB_PATH": (GITHUB_PATH,),
}  # fmt: skip
_DEFAULTS = frozenset(
    [f"GITHUB_{name}" for name in (
        "ACTION", "ACTIONS", "ACTION_PATH", "ACTION_REPOSITORY", "ACTOR", "ACTOR_ID", "API_URL", "BASE_REF",
        "ENV", "EVENT_NAME", "EVENT_PATH", "GRAPHQL_URL", "HEAD_REF", "JOB", "OUTPUT", "PATH", "REF",
        "REF_NAME", "REF_PROTECTED", "REF_TYPE", "REPOSITORY", "REPOSITORY_ID", "REPOSITORY_OWNER",
        "REPOSITORY_OWNER_ID", "RETENTION_DAYS", "RUN_ATTEMPT", "RUN_ID", "RUN_NUMBER", "SERVER_URL", "SHA",
        "STATE", "STEP_SUMMARY", "TRIGGERING_ACTOR", "WORKFLOW", "WORKFLOW_REF", "WORKFLOW_SHA", "WORKSPACE",
    )]
    + [f"RUNNER_{name}" for name in ("ARCH", "DEBUG", "ENVIRONMENT", "NAME", "OS", "TEMP", "TOOL_CACHE")]
)  # fmt: skip


def is_fixed(name: str) -> bool:
    """True for a variable that GitHub sets last, whatever ``env:`` and the environment file say."""
    return name in _DEFAULTS


def folder_of(setting: Setting | None, contexts: Contexts, path: str) -> str | None:
    """The working directory of a step, None if it is not known."""
    if setting is None:
        return ""
    text = text_with(setting.text, contexts, path, setting.line)
    folder = known(join("." if piece == ROOT else piece for piece in text))
    return normal_path(folder) if folder is not None else None


def given(text: Text, span: Span) -> Variable:
    return Variable((Field(text, span),), exported=True)


def variables_of(settings: Settings, contexts: Contexts, path: str) -> dict[str, Variable]:
    return {
        name: given(
            as_text(value_of(each.text, contexts, path, each.line)), Span(path, each.line, 1, each.line, 1)
        )
        for name, each in settings.items()
    }


def options_of(shell: str | None) -> frozenset[str]:
    """What is on from the start: ``bash -e`` if no shell is named, ``bash -eo pipefail`` for ``bash``."""
    if shell is None or shell == "sh":
        return frozenset({"errexit"})
    if shell == "bash":
        return frozenset({"errexit", "pipefail"})
    options: set[str] = set()
    words = iter(shell.split()[1:])
    for word in words:
        if not word.startswith("-") or word.startswith("--"):
            continue
        options.update(SET_LETTERS[letter] for letter in word[1:] if letter in SET_LETTERS)
        if "o" in word:
            options.add(next(words, ""))
    return frozenset(options & {*SET_LETTERS.values(), "pipefail"})
