"""Reads ``[[ … ]]``: words, operators and their nesting. Source: bash manual, *Conditional Constructs*."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.shell.scan import MAX_DEPTH, ShellSyntaxError, end_of_line, end_of_parentheses, skip_unit
from checks.shell.syntax import Binary, Both, Condition, Either, Not, Unary, Word
from checks.shell.word import read_word

UNARY = frozenset(f"-{letter}" for letter in "abcdefghkprstuwxGLNOSznovR")
BINARY = frozenset({
    "==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
})  # fmt: skip
_OPERATOR = re.compile(r"&&|\|\||[()<>]|!(?=[ \t\n])")


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    is_operator: bool


def read_condition(text: str, start: int, end: int) -> Condition:
    """The condition in ``text[start:end]``, between ``[[`` and ``]]``. Raises ShellSyntaxError."""
    reader = _Reader(text, _tokens(text, start, end), end)
    condition = reader.either(0)
    if reader.tokens:
        raise ShellSyntaxError(reader.tokens[0].start, f"unexpected {reader.tokens[0].text} in [[ ]]")
    return condition


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    tokens: list[_Token] = []
    at = start
    while at < end:
        if text[at] in " \t\n":
            at += 1
            continue
        if text.startswith("\\\n", at):
            at += 2
            continue
        if text[at] == "#":
            at = end_of_line(text, at)
            continue
        is_regex = bool(tokens) and tokens[-1].text == "=~"
        match = None if is_regex else _OPERATOR.match(text, at, end)
        stop = match.end() if match else _end_of_word(text, at, end, is_regex)
        tokens.append(_Token(text[at:stop], at, stop, match is not None))
        at = stop
    return tokens


def _end_of_word(text: str, at: int, end: int, is_regex: bool) -> int:
    """Words end at a blank or an operator; parentheses belong to a regular expression and to a pattern."""
    while at < end and text[at] not in " \t\n":
        if text[at] == "(":
            at = end_of_parentheses(text, at)
        elif not is_regex and (text[at] in ")<>" or text.startswith(("&&", "||"), at)):
            break
        else:
            at = skip_unit(text, at)
    return min(at, end)


class _Reader:
    def __init__(self, text: str, tokens: list[_Token], end: int) -> None:
        self.text = text
        self.tokens = tokens
        self.end = end

    def either(self, depth: int) -> Condition:
        left = self.both(depth)
        while self.take("||"):
            left = Either(left, self.both(depth))
        return left

    def both(self, depth: int) -> Condition:
        left = self.primary(depth)
        while self.take("&&"):
            left = Both(left, self.primary(depth))
        return left

    def primary(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise ShellSyntaxError(self.place, f"nested deeper than {MAX_DEPTH}")
        if self.take("!"):
            return Not(self.primary(depth + 1))
        if self.take("("):
            inner = self.either(depth + 1)
            if not self.take(")"):
                raise ShellSyntaxError(self.place, "unclosed ( in [[ ]]")
            return inner
        return self.comparison()

    def comparison(self) -> Condition:
        first = self.word()
        following = self.tokens[0] if self.tokens else None
        is_binary = following is not None and following.text in BINARY and len(self.tokens) > 1
        if first.text in UNARY and following is not None and not following.is_operator and not is_binary:
            return Unary(first.text, self.read(self.word()))
        if following is not None and following.text in BINARY:
            self.tokens.pop(0)
            return Binary(self.read(first), following.text, self.read(self.word()))
        return Unary("-n", self.read(first))

    def word(self) -> _Token:
        if not self.tokens or self.tokens[0].is_operator:
            raise ShellSyntaxError(self.place, "a word is missing in [[ ]]")
        return self.tokens.pop(0)

    def take(self, operator: str) -> bool:
        if self.tokens and self.tokens[0].is_operator and self.tokens[0].text == operator:
            self.tokens.pop(0)
            return True
        return False

    def read(self, token: _Token) -> Word:
        return read_word(self.text, token.start, token.end)

    @property
    def place(self) -> int:
        return self.tokens[0].start if self.tokens else self.end
