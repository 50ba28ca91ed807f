"""Where the arms of a ``case`` stand: patterns, bodies and what closes them, as offsets.

Source: bash manual, *Conditional Constructs*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.shell.scan import (
    CASE_WORD,
    ShellSyntaxError,
    end_of_bare_word,
    end_of_parentheses,
    skip_blanks,
    skip_unit,
    step,
)

_CLOSES = re.compile(r";;&|;;|;&")


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: the spans of its patterns and of its body, and its closing operator."""

    patterns: tuple[tuple[int, int], ...]
    body: tuple[int, int]
    then: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The span of the word after ``case`` and the arms."""

    word: tuple[int, int]
    arms: tuple[Arm, ...]


def read_layout(text: str, start: int, end: int) -> Layout:
    """The layout of ``text[start:end]``, from ``case`` to ``esac``. Raises ShellSyntaxError."""
    word_start = skip_blanks(text, start + len("case"))
    word_end = end_of_bare_word(text, word_start)
    at = skip_blanks(text, word_end)
    if not text.startswith("in", at):
        raise ShellSyntaxError(at, "case without in")
    at = skip_blanks(text, at + 2)
    arms: list[Arm] = []
    while not _is_esac(text, at):
        arm, at = _read_arm(text, at, end)
        arms.append(arm)
        at = skip_blanks(text, at)
    return Layout((word_start, word_end), tuple(arms))


def _is_esac(text: str, at: int) -> bool:
    match = CASE_WORD.match(text, at)
    return match is not None and match[1] == "esac"


def _read_arm(text: str, at: int, end: int) -> tuple[Arm, int]:
    patterns: list[tuple[int, int]] = []
    if text.startswith("(", at):
        at += 1
    while True:
        at = skip_blanks(text, at)
        pattern_end = _end_of_pattern(text, at)
        patterns.append((at, pattern_end))
        at = skip_blanks(text, pattern_end)
        if at >= end or text[at] not in "|)":
            raise ShellSyntaxError(min(at, end), "a case pattern without )")
        at += 1
        if text[at - 1] == ")":
            break
    body_start = at
    body_end, at, then = _end_of_body(text, at)
    return Arm(tuple(patterns), (body_start, body_end), then), at


def _end_of_pattern(text: str, at: int) -> int:
    start = at
    while at < len(text) and text[at] not in " \t\n|)":
        extended = at > start and text[at] == "(" and text[at - 1] in "?*+@!"
        at = end_of_parentheses(text, at) if extended else skip_unit(text, at)
    if at == start:
        raise ShellSyntaxError(at, "an empty case pattern")
    return at


def _end_of_body(text: str, at: int) -> tuple[int, int, str]:
    """End of the body, offset after its closing operator, and that operator (``;;`` before ``esac``)."""
    command_position = True
    while at < len(text):
        close = _CLOSES.match(text, at)
        if close is not None:
            return at, close.end(), close[0]
        word = CASE_WORD.match(text, at) if command_position else None
        if word is not None and word[1] == "esac":
            return at, at, ";;"
        at, command_position = step(text, at, command_position)
    raise ShellSyntaxError(len(text), "case without esac")
