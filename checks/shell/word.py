"""Reads one word of the source: quotes, escapes, expansions, and array literals."""

from __future__ import annotations

import re

from checks.shell.opaque import runs
from checks.shell.scan import (
    ShellSyntaxError,
    end_of_ansi_quotes,
    end_of_backquotes,
    end_of_dollar,
    end_of_double_quotes,
    end_of_line,
    end_of_name,
    end_of_parentheses,
    end_of_single_quotes,
    is_name_start,
    skip_unit,
)
from checks.shell.syntax import (
    Arithmetic,
    ArrayLiteral,
    Assignment,
    CommandSubstitution,
    Literal,
    NotRead,
    Opaque,
    Parameter,
    Part,
    ProcessSubstitution,
    Word,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])?(\+?)=")
_BRACED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_OPERATORS = (
    ":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^",
    ",,", ",", "@", ":",
)  # fmt: skip
_LONGER = frozenset(":#%/^,")
_ESCAPED_IN_DOUBLE_QUOTES = '$`"\\'
_ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|(?P<hex>x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4})|(?P<plain>.))", re.S
)
_ANSI_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "r": "\r",
    "a": "\a",
    "e": "\x1b",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "E": "\x1b",
    "?": "?",
}


def read_word(text: str, start: int, end: int) -> Word:
    """The word at ``text[start:end]``. Raises ShellSyntaxError."""
    return Word(tuple(_parts(text, start, end, quoted=False)), start, end)


def read_quoted(text: str, start: int, end: int) -> Word:
    """``text[start:end]`` as if it stood between double quotes (a here-document's body)."""
    return Word(tuple(_parts(text, start, end, quoted=True)), start, end)


def read_assignment(text: str, start: int, end: int) -> Assignment | None:
    """``text[start:end]`` as an assignment, None if it is none."""
    match = _ASSIGNMENT.match(text, start, end)
    if match is None:
        return None
    name, index, append = match.groups()
    value: Word | ArrayLiteral
    if text.startswith("(", match.end()) and match.end() < end:
        value = read_array(text, match.end(), end)
    else:
        value = read_word(text, match.end(), end)
    return Assignment(name, value, start, end, bool(append), index[1:-1] if index else None)


def read_array(text: str, start: int, end: int) -> ArrayLiteral:
    """``( … )`` with ``start`` at the opening parenthesis: one word per element, comments left out."""
    elements: list[Word] = []
    at = start + 1
    while at < end - 1:
        if text.startswith("\\\n", at):
            at += 2
        elif text[at] in " \t\n":
            at += 1
        elif text[at] == "#":
            at = end_of_line(text, at)
        else:
            element_end = _end_of_element(text, at, end - 1)
            elements.append(read_word(text, at, element_end))
            at = element_end
    return ArrayLiteral(tuple(elements), start, end)


def _end_of_element(text: str, at: int, end: int) -> int:
    while at < end and text[at] not in " \t\n":
        if text.startswith("\\\n", at) and text[at + 2 : at + 3] in (" ", "\t", "\n", ""):
            break
        if text[at] in "();&|<>":
            raise ShellSyntaxError(at, f"unquoted {text[at]} inside an array")
        at = skip_unit(text, at)
    return min(at, end)


def _parts(text: str, start: int, end: int, *, quoted: bool, nested: bool = False) -> list[Part]:
    """``nested`` for the word of ``"${V:-word}"``, in which double quotes still quote."""
    parts: list[Part] = []
    at = start
    while at < end:
        char = text[at]
        if char == "\\":
            special = "" if not quoted else _ESCAPED_IN_DOUBLE_QUOTES + ("}" if nested else "")
            at = _escape(text, at, end, special, parts)
        elif char == "'" and not quoted:
            inner_start, at = at + 1, end_of_single_quotes(text, at)
            parts += _plain(text[inner_start : at - 1], inner_start, quoted=True)
        elif char == '"' and (nested or not quoted):
            inner_start, at = at + 1, end_of_double_quotes(text, at)
            parts += _double_quoted(text, inner_start, at - 1)
        elif char == "$":
            at = _dollar(text, at, quoted=quoted, ansi=nested or not quoted, parts=parts)
        elif char == "`":
            inner_start, at = at, end_of_backquotes(text, at)
            parts.append(_backquoted(text, inner_start, at, quoted=quoted))
        elif char in "<>" and text.startswith("(", at + 1) and not quoted:
            inner_start, at = at, end_of_parentheses(text, at + 1)
            inner = CommandSubstitution(
                text[inner_start + 2 : at - 1], True, inner_start, at, inner_start + 2
            )
            parts.append(ProcessSubstitution(inner))
        else:
            at = _literal(text, at, end, "\\$`'\"<>" if not quoted else '\\$`"' if nested else "\\$`", parts)
    return parts


def _double_quoted(text: str, start: int, end: int) -> list[Part]:
    """What stands between double quotes: at least an empty word, unless a list without elements is in it."""
    parts = _parts(text, start, end, quoted=True)
    has_list = any(isinstance(part, Parameter) and "@" in (part.name, part.index) for part in parts)
    return parts if has_list else [*parts, Literal("", quoted=True)]


def _literal(text: str, at: int, end: int, special: str, parts: list[Part]) -> int:
    """Plain text up to a ``special`` character."""
    stop = at + 1
    while stop < end and text[stop] not in special:
        stop += 1
    parts += _plain(text[at:stop], at, quoted="'" not in special)
    return stop


def _plain(text: str, start: int, *, quoted: bool) -> list[Part]:
    """Text without expansions; opaque stretches of it are unknown."""
    parts: list[Part] = []
    at = 0
    for begin, end, written in runs(text):
        if begin > at:
            parts.append(Literal(text[at:begin], quoted))
        parts.append(Opaque(written, quoted, start + begin))
        at = end
    if at < len(text) or not parts:
        parts.append(Literal(text[at:], quoted))
    return parts


def _escape(text: str, at: int, end: int, special: str, parts: list[Part]) -> int:
    """A backslash: before one of the ``special`` characters it quotes, before any if there are none."""
    following = text[at + 1 : at + 2] if at + 1 < end else ""
    if following == "\n":
        return at + 2
    if at + 1 == len(text):
        # Bash drops a backslash at the end of the file.
        return at + 1
    if special and following not in special:
        parts.append(Literal("\\" + following, quoted=True))
    else:
        parts.append(Literal(following or "\\", quoted=True))
    return at + 1 + len(following)


def _dollar(text: str, at: int, *, quoted: bool, ansi: bool, parts: list[Part]) -> int:
    """``ansi`` where ``$'…'`` quotes: everywhere but right between double quotes."""
    stop = end_of_dollar(text, at, quoted=not ansi)
    following = text[at + 1 : at + 2]
    if following == "[":
        parts.append(NotRead("$[", at, stop))
    elif stop == at + 1:
        parts.append(Literal("$", quoted=quoted))
    elif following == "{":
        parts.append(_braced(text, at, stop, quoted=quoted))
    elif text.startswith("$((", at) and text.startswith("))", stop - 2):
        parts.append(Arithmetic(text[at + 3 : stop - 2], quoted, at, stop))
    elif following == "(":
        parts.append(CommandSubstitution(text[at + 2 : stop - 1], quoted, at, stop, at + 2))
    elif following == "'":
        meant = _ansi(text[at + 2 : end_of_ansi_quotes(text, at) - 1])
        if any("\ud800" <= char <= "\udfff" for char in meant):
            parts.append(NotRead(text[at:stop], at, stop))
        else:
            parts += _plain(meant, at, quoted=True)
    elif following == '"':
        parts += _double_quoted(text, at + 2, stop - 1)
    else:
        parts.append(Parameter(text[at + 1 : stop], quoted, at, stop))
    return stop


def _backquoted(text: str, start: int, end: int, *, quoted: bool) -> CommandSubstitution:
    inner = text[start + 1 : end - 1]
    if "\\" not in inner:
        return CommandSubstitution(inner, quoted, start, end, start + 1)
    escaped = '$`\\"' if quoted else "$`\\"
    unescaped = re.sub(r"\\([" + re.escape(escaped) + "])", r"\1", inner)
    return CommandSubstitution(unescaped, quoted, start, end, None)


def _braced(text: str, start: int, end: int, *, quoted: bool) -> Part:
    inner, last = start + 2, end - 1
    length = text[inner] == "#" and last - inner > 1
    indirect = text[inner] == "!" and last - inner > 1
    match = _BRACED.match(text, inner + 1 if length or indirect else inner, last)
    if match is None:
        return NotRead(text[start:end], start, end)
    name, index, rest = match[1], None, match.end()
    if text.startswith("[", rest):
        close = _end_of_index(text, rest, last)
        index, rest = text[rest + 1 : close - 1], close
    if rest == last:
        operator = "length" if length else ""
        return Parameter(name, quoted, start, end, index, operator, indirect=indirect)
    operator = next((each for each in _OPERATORS if text.startswith(each, rest)), "")
    split = operator in _LONGER and text.startswith("\\\n", rest + 1)
    if length or not operator or split:
        return NotRead(text[start:end], start, end)
    argument, second = _arguments(text, operator, rest + len(operator), last, quoted=quoted)
    return Parameter(name, quoted, start, end, index, operator, argument, second, indirect)


def _end_of_index(text: str, at: int, end: int) -> int:
    while at < end:
        if text[at] == "]":
            return at + 1
        at = skip_unit(text, at)
    raise ShellSyntaxError(at, "unclosed [ in ${")


def _arguments(text: str, operator: str, start: int, end: int, *, quoted: bool) -> tuple[Word, Word | None]:
    """The words after ``operator``: one, or two for ``/`` and ``:``. Outer quotes do not quote a pattern."""
    if operator[0] == "/":
        middle = _find(text, "/", start, end)
        pattern = _inner_word(text, start, middle, quoted=False)
        return pattern, _inner_word(text, min(middle + 1, end), end, quoted=False)
    if operator == ":":
        middle = _find(text, ":", start, end)
        length = _inner_word(text, middle + 1, end, quoted=True) if middle < end else None
        return _inner_word(text, start, middle, quoted=True), length
    is_pattern = operator[0] in "#%^,"
    return _inner_word(text, start, end, quoted=quoted and not is_pattern), None


def _inner_word(text: str, start: int, end: int, *, quoted: bool) -> Word:
    return Word(tuple(_parts(text, start, end, quoted=quoted, nested=quoted)), start, end)


def _find(text: str, wanted: str, at: int, end: int) -> int:
    depth = 0
    while at < end:
        if text[at] == wanted and not depth:
            return at
        depth += (text[at] == "(") - (text[at] == ")") if wanted == ":" else 0
        at = skip_unit(text, at)
    return end


def _ansi(body: str) -> str:
    """The text of ``$'…'``; a NUL ends it."""
    return _ANSI.sub(_ansi_character, body).partition("\0")[0]


def _ansi_character(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8) & 0xFF)
    if match["hex"]:
        return chr(int(match["hex"][1:], 16))
    return _ANSI_ESCAPES.get(match["plain"], match[0])


def is_name(text: str) -> bool:
    """True if ``text`` is a shell variable name."""
    return bool(text) and is_name_start(text[0]) and end_of_name(text, 0) == len(text)
