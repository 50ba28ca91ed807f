"""The evaluator's paths against what bash did, command by command and word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from checks.shell.evaluate import Evaluation, Outcome
from checks.shell.interpreter import Invocation
from checks.shell.programs import PROGRAMS
from checks.shell.value import Field, Text
from tests.oracle.sandbox import TEXT_PROGRAMS, Truth

Verdict: TypeAlias = Literal["exact", "first path", "some path", "differs", "not checked"]
TRAINING = frozenset({"python", "python3", "torchrun", "accelerate", "deepspeed", "uv", "ray"})
QUIET = frozenset({*TEXT_PROGRAMS, *PROGRAMS, "record"})


def commands_of(truth: Truth, *, training: bool) -> list[tuple[str, ...]]:
    """The commands that count: all but the text programs, or only those that may train."""
    return [
        each for each in truth.commands if each and _counts(each[0].rpartition("/")[2], each[1:2], training)
    ]


def invocations_of(outcome: Outcome, *, training: bool) -> list[Invocation]:
    """The evaluator's commands that count, by the same rule."""
    return [
        each
        for each in outcome.invocations
        if _counts(_name(each.argv[0]), [word.known or "" for word in each.argv[1:2]], training)
    ]


def _name(word: Field) -> str:
    return (word.known or "").rpartition("/")[2]


def _counts(name: str, first: Sequence[str], training: bool) -> bool:
    if not training:
        return name not in QUIET
    return name in TRAINING and list(first) not in (["-c"], ["-"])


def verdict(evaluation: Evaluation, truth: Truth, *, training: bool) -> Verdict:
    """How the evaluation compares with ``truth``."""
    wanted = commands_of(truth, training=training)
    for number, path in enumerate(evaluation.paths):
        found = invocations_of(path, training=training)
        if len(found) == len(wanted) and all(map(agrees, found, wanted)):
            if number:
                return "some path"
            unknown = any(word.known is None for each in found for word in each.argv)
            return "first path" if unknown or len(evaluation.paths) > 1 else "exact"
    return "not checked" if evaluation.not_checked else "differs"


def agrees(invocation: Invocation, argv: Sequence[str]) -> bool:
    """True if every word is equal, an unknown standing for any text (unquoted: for any number of words)."""
    reachable = {0}
    for word in invocation.argv:
        following: set[int] = set()
        for at in reachable:
            if word.may_split:
                following |= set(range(at, len(argv) + 1))
            elif at < len(argv) and _matches(word.text, argv[at]):
                following.add(at + 1)
        reachable = following
    return len(argv) in reachable


def _matches(text: Text, written: str) -> bool:
    pattern = "".join(re.escape(piece) if isinstance(piece, str) else ".*" for piece in text)
    return re.fullmatch(pattern, written, re.S) is not None


def misplaced(invocation: Invocation, sources: dict[str, str]) -> list[str]:
    """Words whose span does not hold their own text: only those written without any expansion are judged."""
    wrong: list[str] = []
    for word in invocation.argv:
        span = word.span
        is_text = word.known is not None and not word.origins
        if not is_text or (span.line, span.column) == (span.end_line, span.end_column):
            continue
        if span.line != span.end_line or span.path not in sources:
            continue
        line = sources[span.path].split("\n")[span.line - 1]
        written = line[span.column - 1 : span.end_column - 1]
        if not re.search(r"[$`'\"\\{~*?\[]|\+=", written) and written != word.known:
            wrong.append(f"{span.path}:{span.line}:{span.column}: {written!r} for {word.known!r}")
    return wrong
