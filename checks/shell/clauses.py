"""Where the arms of a ``case`` stand: patterns, bodies and what closes them, as offsets.

Source: bash manual, *Conditional Constructs*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.shell.scan import (
    BLANKS,
    OPENS_COMMAND,
    ShellSyntaxError,
    end_of_line,
    end_of_parentheses,
    skip_unit,
)

_CASE_WORD = re.compile(r"(case|esac)(?=[\s;&|)<>]|\\\n|$)")
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
    word_start = _skip_blanks(text, start + len("case"))
    word_end = _end_of_bare_word(text, word_start)
    at = _skip_blanks(text, word_end)
    if not text.startswith("in", at):
        raise ShellSyntaxError(at, "case without in")
    at = _skip_blanks(text, at + 2)
    arms: list[Arm] = []
    while not _is_esac(text, at):
        arm, at = _read_arm(text, at, end)
        arms.append(arm)
        at = _skip_blanks(text, at)
    return Layout((word_start, word_end), tuple(arms))


def _is_esac(text: str, at: int) -> bool:
    match = _CASE_WORD.match(text, at)
    return match is not None and match[1] == "esac"


def _read_arm(text: str, at: int, end: int) -> tuple[Arm, int]:
    patterns: list[tuple[int, int]] = []
    if text.startswith("(", at):
        at += 1
    while True:
        at = _skip_blanks(text, at)
        pattern_end = _end_of_pattern(text, at)
        patterns.append((at, pattern_end))
        at = _skip_blanks(text, pattern_end)
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
        word = _CASE_WORD.match(text, at) if command_position else None
        if word is not None and word[1] == "esac":
            return at, at, ";;"
        at, command_position = _step(text, at, command_position)
    raise ShellSyntaxError(len(text), "case without esac")


def end_of_case(text: str, start: int) -> int:
    """The offset after the ``esac`` that closes the ``case`` at ``start``. Raises ShellSyntaxError."""
    at = _skip_blanks(text, _end_of_bare_word(text, _skip_blanks(text, start + len("case"))))
    at += len("in")
    depth = 1
    command_position = True
    while at < len(text):
        word = _CASE_WORD.match(text, at) if command_position else None
        if word is not None:
            depth += 1 if word[1] == "case" else -1
            at, command_position = word.end(), False
            if depth == 0:
                return at
        else:
            at, command_position = _step(text, at, command_position, nested=False)
    raise ShellSyntaxError(start, "case without esac")


def _step(text: str, at: int, command_position: bool, *, nested: bool = True) -> tuple[int, bool]:
    """One unit ahead, and whether a command may begin there."""
    char = text[at]
    if nested and command_position and (word := _CASE_WORD.match(text, at)) and word[1] == "case":
        return end_of_case(text, at), False
    if char == "#" and text[at - 1] in " \t\n;":
        return end_of_line(text, at), command_position
    if char in "\n;&|()":
        return at + 1, True
    if char in BLANKS:
        return at + 1, command_position
    end = _end_of_bare_word(text, at)
    word_text = text[at:end]
    return end, word_text == "in" or (command_position and word_text in OPENS_COMMAND)


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text):
        if text[at] in " \t\n":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#":
            at = end_of_line(text, at)
        else:
            break
    return at


def _end_of_bare_word(text: str, at: int) -> int:
    while at < len(text) and text[at] not in " \t\n;&|()":
        at = skip_unit(text, at)
    return at
