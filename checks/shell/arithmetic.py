"""Bash arithmetic on 64-bit integers: an expression becomes a small tree, then a number.

``evaluate`` gives an int, or None when a value it needs is unknown. Source: bash manual, *Shell Arithmetic*.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from checks.markdown import code

MAX_DEPTH = 50
MAX_READS = 2_000
UNKNOWN = "__unknown__"
"""The name to write for a part of the text that is not known."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z@_]+|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator>\*\*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&^|]=|[-+*/%<>&^|!~?:()=,\[\]]))"
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="})


class NotEvaluated(Exception):
    """An expression that bash refuses or this evaluator does not know; the text says which."""


class Variables(Protocol):
    """What an expression reads and sets; ``index`` is None for a plain name."""

    def get(self, name: str, index: str | None) -> str | None:
        """The text ("" if unset), None if unknown."""

    def set(self, name: str, index: str | None, value: int | None) -> None:
        """Assign; ``value`` is None if unknown."""


@dataclass(frozen=True, slots=True)
class _Number:
    value: int


@dataclass(frozen=True, slots=True)
class _Name:
    name: str
    index: _Node | None


@dataclass(frozen=True, slots=True)
class _Operation:
    operator: str
    operands: tuple[_Node, ...]


_Node: TypeAlias = _Number | _Name | _Operation


def evaluate(
    expression: str, variables: Variables, depth: int = 0, budget: list[int] | None = None
) -> int | None:
    """The value of ``expression``. Raises NotEvaluated.

    ``budget`` holds how many variables may still be read: their texts are expressions again.
    """
    budget = [MAX_READS] if budget is None else budget
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise NotEvaluated("variables refer to one another without end")
    parser = _Parser(_tokens(expression))
    if not parser.tokens:
        return 0
    node = parser.comma()
    if parser.tokens:
        raise NotEvaluated(f"{code(parser.tokens[0])} is not expected in {code(expression.strip())}")
    return _Evaluation(variables, depth, budget).value(node)


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
    """Precedence climbing over a list of tokens that is used up from the left."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.nesting = 0

    def comma(self) -> _Node:
        left = self.assignment()
        while self.take(","):
            left = _Operation(",", (left, self.assignment()))
        return left

    def assignment(self) -> _Node:
        left = self.ternary()
        if self.tokens and self.tokens[0] in _ASSIGNING:
            operator = self.tokens.pop(0)
            if not isinstance(left, _Name):
                raise NotEvaluated("an assignment to something that is no variable")
            return _Operation(operator, (left, self.nested(self.assignment)))
        return left

    def ternary(self) -> _Node:
        condition = self.binary(1)
        if not self.take("?"):
            return condition
        yes = self.nested(self.comma)
        if not self.take(":"):
            raise NotEvaluated("`?` without `:`")
        return _Operation("?:", (condition, yes, self.nested(self.ternary)))

    def binary(self, least: int) -> _Node:
        left = self.nested(self.operand)
        while self.tokens and (rank := _PRECEDENCE.get(self.tokens[0], 0)) >= least:
            operator = self.tokens.pop(0)
            left = _Operation(operator, (left, self.binary(rank if operator == "**" else rank + 1)))
        return left

    def nested(self, read: Callable[[], _Node]) -> _Node:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise NotEvaluated(f"nested deeper than {MAX_DEPTH}")
        try:
            return read()
        finally:
            self.nesting -= 1

    def operand(self) -> _Node:
        if not self.tokens:
            raise NotEvaluated("an operand is missing")
        token = self.tokens.pop(0)
        if token == "(":
            node = self.comma()
            if not self.take(")"):
                raise NotEvaluated("`(` without `)`")
            return node
        if token in ("-", "+", "!", "~"):
            return _Operation("unary " + token, (self.nested(self.operand),))
        if token in ("++", "--"):
            target = self.nested(self.operand)
            if not isinstance(target, _Name):
                # Bash reads `--1` as two signs.
                return _Operation("unary " + token[0], (_Operation("unary " + token[0], (target,)),))
            return _Operation("before " + token, (target,))
        if token[0].isdigit():
            return _Number(_number(token))
        if token[0].isalpha() or token[0] == "_":
            return self.name(token)
        raise NotEvaluated(f"{code(token)} is not expected")

    def name(self, token: str) -> _Node:
        index: _Node | None = None
        if self.take("["):
            index = self.nested(self.comma)
            if not self.take("]"):
                raise NotEvaluated("`[` without `]`")
        node = _Name(token, index)
        if self.tokens and self.tokens[0] in ("++", "--"):
            return _Operation("after " + self.tokens.pop(0), (node,))
        return node

    def take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False


class _Evaluation:
    def __init__(self, variables: Variables, depth: int, budget: list[int]) -> None:
        self.variables = variables
        self.depth = depth
        self.budget = budget

    def value(self, node: _Node) -> int | None:
        match node:
            case _Number(value):
                return value
            case _Name():
                return self.read(node)
            case _Operation("?:", (condition, yes, no)):
                chosen = self.value(condition)
                return None if chosen is None else self.value(yes if chosen else no)
            case _Operation("&&" | "||" as operator, (left, right)):
                return self.logical(operator, left, right)
            case _Operation(",", (left, right)):
                self.value(left)
                return self.value(right)
            case _Operation(operator, (_Name() as target, right)) if operator in _ASSIGNING:
                old = self.read(target) if operator != "=" else 0
                return self.write(target, _combine(operator[:-1], old, self.value(right)))
            case _Operation(operator, (_Name() as target,)) if operator[-2:] in ("++", "--"):
                before = self.read(target)
                after = self.write(target, _combine(operator[-1], before, 1))
                return after if operator.startswith("before") else before
            case _Operation(operator, (operand,)):
                return _unary(operator[-1], self.value(operand))
            case _Operation(operator, (left, right)):
                return _combine(operator, self.value(left), self.value(right))
        raise TypeError(f"no arithmetic: {node!r}")

    def logical(self, operator: str, left: _Node, right: _Node) -> int | None:
        first = self.value(left)
        if first is None:
            return None
        if bool(first) == (operator == "||"):
            return int(bool(first))
        second = self.value(right)
        return None if second is None else int(bool(second))

    def read(self, node: _Name) -> int | None:
        if node.name == UNKNOWN:
            return None
        text = self.variables.get(node.name, self.index(node))
        return None if text is None else evaluate(text, self.variables, self.depth + 1, self.budget)

    def write(self, node: _Name, value: int | None) -> int | None:
        self.variables.set(node.name, self.index(node), value)
        return value

    def index(self, node: _Name) -> str | None:
        if node.index is None:
            return None
        value = self.value(node.index)
        if value is None:
            raise NotEvaluated(f"the index of {code(node.name)} is not known")
        return str(value)


def _number(token: str) -> int:
    if "#" in token:
        base, digits = token.split("#")
        if len(base) > 2 or not 2 <= int(base) <= 36:
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


def _unary(operator: str, value: int | None) -> int | None:
    if value is None:
        return None
    return _wrap({"-": -value, "+": value, "!": int(not value), "~": ~value}[operator])


def _combine(operator: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    return _wrap(_apply(operator, left, right)) if operator else right


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise NotEvaluated("division by 0")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator == "**":
        if right < 0:
            raise NotEvaluated("exponent less than 0")
        return pow(left, right, 1 << 64)
    operations: dict[str, Callable[[int, int], int]] = {
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
