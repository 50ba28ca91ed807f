"""Bash arithmetic on 64-bit integers, by precedence climbing.

``evaluate`` gives an int, or None when an operand is unknown. Assignments (``i++``, ``x = 1``) are not
evaluated. Source: bash manual, *Shell Arithmetic*.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from checks.markdown import code

MAX_DEPTH = 50
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z]+|\d+)|(?P<name>\$?\{?[A-Za-z_]\w*\}?)"
    r"|(?P<operator>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|!~?:()]))"
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
Lookup = Callable[[str], str | None]


class NotEvaluated(Exception):
    """An expression that bash refuses or this evaluator does not know; the text says which."""


def evaluate(expression: str, lookup: Lookup, depth: int = 0) -> int | None:
    """The value of ``expression``; ``lookup`` gives a variable's text ("" if unset), None if unknown."""
    if depth > MAX_DEPTH:
        raise NotEvaluated("variables refer to one another without end")
    parser = _Parser(_tokens(expression), lookup, depth)
    if not parser.tokens:
        return 0
    value = parser.ternary()
    if parser.tokens:
        raise NotEvaluated(f"{code(parser.tokens[0])} is not expected in {code(expression.strip())}")
    return value


def _tokens(expression: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    end = len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        if match is None:
            raise NotEvaluated(f"{code(expression.strip())} is not evaluated")
        tokens.append(match[0].strip())
        at = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[str], lookup: Lookup, depth: int) -> None:
        self.tokens = tokens
        self.lookup = lookup
        self.depth = depth
        self.nesting = 0

    def ternary(self) -> int | None:
        condition = self.binary(1)
        if not self._take("?"):
            return condition
        yes = self.ternary()
        if not self._take(":"):
            raise NotEvaluated("`?` without `:`")
        no = self.ternary()
        if condition is None:
            return None
        return yes if condition else no

    def binary(self, least: int) -> int | None:
        left = self.unary()
        while self.tokens and (rank := _PRECEDENCE.get(self.tokens[0], 0)) >= least:
            operator = self.tokens.pop(0)
            right = self.binary(rank if operator == "**" else rank + 1)
            left = None if left is None or right is None else _wrap(_apply(operator, left, right))
        return left

    def unary(self) -> int | None:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise NotEvaluated(f"nested deeper than {MAX_DEPTH}")
        try:
            return self._operand()
        finally:
            self.nesting -= 1

    def _operand(self) -> int | None:
        if not self.tokens:
            raise NotEvaluated("an operand is missing")
        token = self.tokens.pop(0)
        if token == "(":
            value = self.ternary()
            if not self._take(")"):
                raise NotEvaluated("`(` without `)`")
            return value
        if token in ("-", "+", "!", "~"):
            value = self.unary()
            return (
                None if value is None else {"-": -value, "+": value, "!": int(not value), "~": ~value}[token]
            )
        if token[0].isdigit():
            return _number(token)
        if token[0].isalpha() or token[0] in "_$":
            return self._variable(token.strip("${}"))
        raise NotEvaluated(f"{code(token)} is not expected")

    def _variable(self, name: str) -> int | None:
        text = self.lookup(name)
        return None if text is None else evaluate(text, self.lookup, self.depth + 1)

    def _take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False


def _number(token: str) -> int:
    if "#" in token:
        base, digits = token.split("#")
        if not 2 <= int(base) <= 36:
            raise NotEvaluated(f"{code(token)}: base {base} is not evaluated")
        return _digits(token, digits, int(base))
    if token.lower().startswith("0x"):
        return _digits(token, token[2:], 16)
    return _digits(token, token, 8 if len(token) > 1 and token.startswith("0") else 10)


def _digits(token: str, digits: str, base: int) -> int:
    if len(digits) > 64:
        raise NotEvaluated("a number of more than 64 digits")
    try:
        return _wrap(int(digits, base))
    except ValueError:
        raise NotEvaluated(f"{code(token)} is no number of base {base}") from None


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise NotEvaluated("division by 0")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator == "**":
        if right < 0:
            raise NotEvaluated("exponent less than 0")
        return pow(left, right, 1 << 64) if right < (1 << 63) else 0
    operations: dict[str, Callable[[int, int], int]] = {
        "||": lambda a, b: int(bool(a) or bool(b)),
        "&&": lambda a, b: int(bool(a) and bool(b)),
        "|": lambda a, b: a | b,
        "^": lambda a, b: a ^ b,
        "&": lambda a, b: a & b,
        "==": lambda a, b: int(a == b),
        "!=": lambda a, b: int(a != b),
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
        "<<": lambda a, b: a << (b & 63),
        ">>": lambda a, b: a >> (b & 63),
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
    }
    return operations[operator](left, right)


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
