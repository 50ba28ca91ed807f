"""Where a quoted or substituted stretch of bash ends: pure offset arithmetic on the source text.

Used by the mask (to hide what bashlex lacks) and by the word parser (to read it). All functions take the
offset of the opening character and return the offset after the closing one. They raise ``ShellSyntaxError``
with the opening offset when the text ends first, and when nesting is deeper than ``MAX_DEPTH``.
"""

from __future__ import annotations

import re

MAX_DEPTH = 40
BLANKS = " \t"
OPENS_COMMAND = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
CASE_WORD = re.compile(r"(case|esac)(?=[\s;&|)<>]|\\\n|$)")
HEREDOC = re.compile(r"<<(?P<strip>-?)[ \t]*(?P<word>'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"]+)")
SPECIAL_PARAMETERS = "@*#?$!-0123456789"


class ShellSyntaxError(Exception):
    """Text that bash would refuse: ``offset`` into the text and what is wrong there."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def is_name_start(char: str) -> bool:
    """True for a character that may begin a shell variable name."""
    return char.isascii() and (char.isalpha() or char == "_")


def is_name_char(char: str) -> bool:
    """True for a character that may continue a shell variable name."""
    return bool(char) and char.isascii() and (char.isalnum() or char == "_")


def end_of_name(text: str, start: int) -> int:
    """The offset after the variable name that begins at ``start``."""
    end = start
    while end < len(text) and is_name_char(text[end]):
        end += 1
    return end


def end_of_single_quotes(text: str, start: int) -> int:
    """``'…'``: no escapes inside."""
    end = text.find("'", start + 1)
    if end < 0:
        raise ShellSyntaxError(start, "unclosed single quote")
    return end + 1


def end_of_ansi_quotes(text: str, start: int) -> int:
    """``$'…'`` with ``start`` at the dollar: backslash escapes inside."""
    at = start + 2
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "'":
            return at + 1
        at += 1
    raise ShellSyntaxError(start, "unclosed $' quote")


def end_of_double_quotes(text: str, start: int, depth: int = 0) -> int:
    """``"…"`` with expansions inside."""
    _check(start, depth)
    at = start + 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return at + 1
        if char == "\\":
            at += 2
        elif char == "`":
            at = end_of_backquotes(text, at)
        elif char == "$":
            at = end_of_dollar(text, at, depth + 1, quoted=True)
        else:
            at += 1
    raise ShellSyntaxError(start, "unclosed double quote")


def end_of_backquotes(text: str, start: int) -> int:
    """`` `…` `` with backslash escapes inside."""
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "`":
            return at + 1
        at += 1
    raise ShellSyntaxError(start, "unclosed backquote")


def end_of_dollar(text: str, start: int, depth: int = 0, *, quoted: bool = False) -> int:
    """Any expansion that begins with ``$`` at ``start``; a lone dollar is one character long."""
    _check(start, depth)
    following = text[start + 1 : start + 2]
    if following == "{":
        return _end_of_braces(text, start, depth)
    if following == "(":
        return end_of_parentheses(text, start + 1, depth + 1)
    if following == "'" and not quoted:
        return end_of_ansi_quotes(text, start)
    if following == '"' and not quoted:
        return end_of_double_quotes(text, start + 1, depth + 1)
    if following and is_name_start(following):
        end = end_of_name(text, start + 1)
        if is_name_char(text[end + 2 : end + 3]):
            refuse_continuation(text, end)
        return end
    if following and following in SPECIAL_PARAMETERS:
        return start + 2
    refuse_continuation(text, start + 1)
    return start + 1


def _end_of_braces(text: str, start: int, depth: int) -> int:
    at = start + 2
    while at < len(text):
        if text[at] == "}":
            return at + 1
        at = skip_unit(text, at, depth + 1)
    raise ShellSyntaxError(start, "unclosed ${")


def end_of_parentheses(text: str, start: int, depth: int = 0) -> int:
    """``(…)`` with ``start`` at the opening parenthesis.

    Quotes, comments, nesting, the patterns of a ``case`` and here-documents are respected.
    """
    _check(start, depth)
    at = start + 1
    pending: list[re.Match[str]] = []
    has_commands = not text.startswith("((", start)
    if text.startswith("(", at + 2):
        refuse_continuation(text, at)
    while at < len(text):
        char = text[at]
        if char == ")":
            if text.startswith("((", start) and text[at - 1] == "\n":
                refuse_continuation(text, at - 2)
            return at + 1
        marker = HEREDOC.match(text, at) if char == "<" and has_commands else None
        if char == "(":
            at = end_of_parentheses(text, at, depth + 1)
        elif marker is not None and text[at - 1] != "<":
            pending.append(marker)
            at = marker.end()
        elif char == "\n" and pending:
            at = _end_of_bodies(text, at, pending)
            pending.clear()
        elif char == "c" and has_commands and text[at - 1] in " \t\n;(" and text[at : at + 5] == "case ":
            end = _end_of_case_or_none(text, at)
            has_commands = end is not None
            at = end or at + 1
        elif char == "#" and text[at - 1] in " \t\n;(":
            at = end_of_line(text, at)
        else:
            at = skip_unit(text, at, depth + 1)
    raise ShellSyntaxError(start, "unclosed (")


def skip_unit(text: str, at: int, depth: int = 0) -> int:
    """One step ahead: over a whole quote, substitution or escape, else over one character."""
    char = text[at]
    if char == "'":
        return end_of_single_quotes(text, at)
    if char == '"':
        return end_of_double_quotes(text, at, depth)
    if char == "`":
        return end_of_backquotes(text, at)
    if char == "$":
        return end_of_dollar(text, at, depth)
    if char == "\\":
        return min(at + 2, len(text))
    return at + 1


def end_of_line(text: str, at: int) -> int:
    """The offset of the next newline, or of the end."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def refuse_continuation(text: str, at: int) -> None:
    """Raises ShellSyntaxError if a continuation stands at ``at``, where it would split a token."""
    if text.startswith("\\\n", at):
        raise ShellSyntaxError(at, "a line that continues within a name or an operator")


def _check(start: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ShellSyntaxError(start, f"nested deeper than {MAX_DEPTH}")


def _end_of_bodies(text: str, newline: int, markers: list[re.Match[str]]) -> int:
    """The offset of the newline before the line after the last end mark; ``newline`` if one has none."""
    at = newline
    for marker in markers:
        end_mark = re.escape(marker["word"].strip("'\"").replace("\\", ""))
        tabs = r"\t*" if marker["strip"] else ""
        found = re.compile(rf"\n{tabs}{end_mark}(?=\n)").search(text, at)
        if found is None:
            return newline + 1
        at = found.end()
    return at


def _end_of_case_or_none(text: str, at: int) -> int | None:
    try:
        return end_of_case(text, at)
    except ShellSyntaxError:
        return None


def end_of_case(text: str, start: int) -> int:
    """The offset after the ``esac`` that closes the ``case`` at ``start``. Raises ShellSyntaxError."""
    at = skip_blanks(text, end_of_bare_word(text, skip_blanks(text, start + len("case"))))
    at += len("in")
    depth = 1
    command_position = True
    while at < len(text):
        word = CASE_WORD.match(text, at) if command_position else None
        if word is not None:
            depth += 1 if word[1] == "case" else -1
            at, command_position = word.end(), False
            if depth == 0:
                return at
        else:
            at, command_position = step(text, at, command_position, nested=False)
    raise ShellSyntaxError(start, "case without esac")


def step(text: str, at: int, command_position: bool, *, nested: bool = True) -> tuple[int, bool]:
    """One unit ahead, and whether a command may begin there."""
    char = text[at]
    if nested and command_position and (word := CASE_WORD.match(text, at)) and word[1] == "case":
        return end_of_case(text, at), False
    if char == "#" and text[at - 1] in " \t\n;":
        return end_of_line(text, at), command_position
    if char in "\n;&|()":
        return at + 1, True
    if char in BLANKS:
        return at + 1, command_position
    end = end_of_bare_word(text, at)
    word_text = text[at:end]
    return end, word_text == "in" or (command_position and word_text in OPENS_COMMAND)


def skip_blanks(text: str, at: int) -> int:
    """The offset after blanks, newlines, continuations and comments."""
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


def end_of_bare_word(text: str, at: int) -> int:
    """The offset of the blank or operator that ends the word at ``at``."""
    while at < len(text) and text[at] not in " \t\n;&|()":
        at = skip_unit(text, at)
    return at
