"""GitHub's expression language, three-valued: ``${{ env.X || 'd' }}`` on contexts that are partly known.

Source: GitHub docs, *Evaluate expressions in workflows and actions*.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from checks.markdown import code
from checks.shell.value import Text, Unknown, join, known, text_of

MAX_DEPTH = 40
MAX_LENGTH = 20_000

Value: TypeAlias = "Text | float | bool | Unknown | Mapping[str, Any] | Sequence[Any] | None"
"""A string is a Text; ``Unknown`` stands for a value of any kind."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))|'(?P<string>(?:[^']|'')*)'"
    r"|(?P<name>[A-Za-z_][\w-]*)|(?P<operator>&&|\|\||==|!=|<=|>=|[<>!().,\[\]*]))"
)
ASKS_STATUS = re.compile(r"\b(always|success|failure|cancelled)\s*\(", re.I)
"""A condition that says itself what happens after a failure or a skipped job."""
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class BadExpression(Exception):
    """Text that is no expression GitHub would accept."""


@dataclass(frozen=True)
class Contexts:
    """What names stand for: a mapping is known with all its keys; a name that is missing is unknown.

    ``open`` names have further keys that are not known (``env`` of a job that steps may extend). ``failed``
    once a step of the job is known to fail.
    """

    values: Mapping[str, Any]
    open: frozenset[str] = frozenset()
    failed: bool = False

    def with_values(self, **values: Any) -> Contexts:
        """The same with some names replaced."""
        return replace(self, values={**self.values, **values})


def evaluate(expression: str, contexts: Contexts, unknown: Unknown) -> Value:
    """The value of ``expression`` (without ``${{ }}``). Raises BadExpression."""
    if len(expression) > MAX_LENGTH:
        raise BadExpression(f"an expression of more than {MAX_LENGTH} characters")
    reader = _Reader(_tokens(expression), contexts, unknown)
    value = reader.either(0)
    if reader.tokens:
        raise BadExpression(f"{code(reader.tokens[0][1])} is not expected in {code(expression.strip())}")
    return value


def truth(value: Value) -> bool | None:
    """Truth as GitHub has it (``''``, 0, false and null are false); None if unknown."""
    if isinstance(value, Unknown):
        return None
    if isinstance(value, tuple) and any(isinstance(piece, Unknown) for piece in value):
        return True if any(isinstance(piece, str) for piece in value) else None
    if isinstance(value, tuple):
        return bool(value)
    return bool(value) if not isinstance(value, Mapping | list) else True


def as_text(value: Value) -> Text:
    """What the value becomes inside a string."""
    if isinstance(value, Unknown):
        return (value,)
    if isinstance(value, tuple):
        return value
    if value is None:
        return ()
    if isinstance(value, bool):
        return text_of("true" if value else "false")
    if isinstance(value, int | float):
        return text_of(_written(value))
    return text_of("Array" if isinstance(value, list) else "Object")


def _tokens(expression: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at, end = 0, len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        if match is None:
            raise BadExpression(f"{code(expression.strip())} is no expression")
        kind = match.lastgroup or ""
        tokens.append((kind, match[kind].replace("''", "'") if kind == "string" else match[kind]))
        at = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], contexts: Contexts, unknown: Unknown) -> None:
        self.tokens = tokens
        self.contexts = contexts
        self.unknown = unknown

    def either(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise BadExpression(f"nested deeper than {MAX_DEPTH}")
        left = self.both(depth)
        while self.take("||"):
            left = self._choose(left, self.both(depth), wanted=True)
        return left

    def both(self, depth: int) -> Value:
        left = self.equality(depth)
        while self.take("&&"):
            left = self._choose(left, self.equality(depth), wanted=False)
        return left

    def _choose(self, left: Value, right: Value, *, wanted: bool) -> Value:
        """``left`` if its truth is ``wanted`` (the operators give an operand, not a boolean)."""
        found = truth(left)
        if found is None:
            return False if right is False and not wanted else self.unknown
        return left if found == wanted else right

    def equality(self, depth: int) -> Value:
        left = self.comparison(depth)
        while (operator := self.peek()) in ("==", "!="):
            self.tokens.pop(0)
            same = _equal(left, self.comparison(depth))
            left = self.unknown if same is None else same == (operator == "==")
        return left

    def comparison(self, depth: int) -> Value:
        left = self.unary(depth)
        while (operator := self.peek()) in _COMPARISONS:
            self.tokens.pop(0)
            first, second = _comparable(left, self.unary(depth))
            left = self.unknown if first is None or second is None else _COMPARISONS[operator](first, second)
        return left

    def unary(self, depth: int) -> Value:
        if self.take("!"):
            found = truth(self.unary(depth + 1) if depth < MAX_DEPTH else self.unknown)
            return self.unknown if found is None else not found
        return self.postfix(self.primary(depth), depth)

    def primary(self, depth: int) -> Value:
        if not self.tokens:
            raise BadExpression("an operand is missing")
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return _parsed(text)
        if kind == "string":
            return text_of(text)
        if text == "(":
            value = self.either(depth + 1)
            self.expect(")")
            return value
        if kind != "name":
            raise BadExpression(f"{code(text)} is not expected")
        if self.take("("):
            return self.call(text, self.arguments(depth))
        constants: dict[str, Value] = {"true": True, "false": False, "null": None}
        return constants[text] if text in constants else self.contexts.values.get(text, self.unknown)

    def arguments(self, depth: int) -> list[Value]:
        values: list[Value] = []
        while not self.take(")"):
            values.append(self.either(depth + 1))
            if self.peek() != ")":
                self.expect(",")
        return values

    def postfix(self, value: Value, depth: int) -> Value:
        while (operator := self.peek()) in (".", "["):
            self.tokens.pop(0)
            if operator == ".":
                kind, name = self.tokens.pop(0) if self.tokens else ("", "")
                if kind != "name" and name != "*":
                    raise BadExpression("a name is missing after `.`")
                key: Value = text_of(name)
            else:
                key = self.either(depth + 1)
                self.expect("]")
            value = self.member(value, key)
        return value

    def member(self, value: Value, key: Value) -> Value:
        if isinstance(value, Unknown):
            return value
        name = known(as_text(key))
        if name is None:
            return self.unknown
        if isinstance(value, Mapping):
            # On Linux only the names of variables tell capitals apart.
            exact = value is self.contexts.values.get("env")
            found = next(
                (each for each in value if each == name or (not exact and each.lower() == name.lower())), None
            )
            if found is not None:
                inner: Value = value[found]
                return inner
            is_open = any(value is self.contexts.values.get(each) for each in self.contexts.open)
            return self.unknown if is_open else None
        if isinstance(value, list) and re.fullmatch(r"[0-9]{1,9}", name):
            return value[int(name)] if int(name) < len(value) else None
        return None if name != "*" else self.unknown

    def call(self, name: str, arguments: list[Value]) -> Value:
        function = _FUNCTIONS.get(name.lower())
        return self.unknown if function is None else function(self, arguments)

    def peek(self) -> str:
        return self.tokens[0][1] if self.tokens and self.tokens[0][0] == "operator" else ""

    def take(self, operator: str) -> bool:
        if self.peek() == operator:
            self.tokens.pop(0)
            return True
        return False

    def expect(self, operator: str) -> None:
        if not self.take(operator):
            raise BadExpression(f"{code(operator)} is missing")


def _written(number: float) -> str:
    """A number as the runner writes it: .NET's G15."""
    if math.isfinite(number):
        return f"{number:.15g}".replace("e", "E")
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _parsed(text: str) -> float:
    """The number in ``text``, NaN if it is none."""
    text = text.strip()
    if not text:
        return 0.0
    if based := re.fullmatch(r"0x([0-9a-fA-F]{1,16})|0o([0-7]{1,20})", text):
        return float(int(based[1], 16) if based[1] else int(based[2], 8))
    is_number = re.fullmatch(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", text)
    return float(text) if is_number else math.nan


def _number(value: Value) -> float | None:
    """The number that a value is taken for where kinds differ, NaN for none; None if it is not known."""
    if isinstance(value, Unknown):
        return None
    if isinstance(value, bool | int | float):
        return float(value)
    if value is None:
        return 0.0
    if isinstance(value, tuple):
        text = known(value)
        return None if text is None else _parsed(text)
    return math.nan


def _comparable(left: Value, right: Value) -> tuple[Any, Any]:
    """Both sides as texts without capitals if both are texts, else as numbers; None for what is not known."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        first, second = known(left), known(right)
        return (None, None) if first is None or second is None else (_upper(first), _upper(second))
    return _number(left), _number(right)


def _upper(text: str) -> str:
    """Capitals as .NET's ordinal comparison has them: one character stays one."""
    return "".join(large if len(large := each.upper()) == 1 else each for each in text)


def _equal(left: Value, right: Value) -> bool | None:
    if isinstance(left, Mapping | list) or isinstance(right, Mapping | list):
        return None if isinstance(left, Unknown) or isinstance(right, Unknown) else left is right
    first, second = _comparable(left, right)
    return None if first is None or second is None else bool(first == second)


def _format(reader: _Reader, arguments: list[Value]) -> Value:
    template = known(as_text(arguments[0])) if arguments else None
    if template is None:
        return reader.unknown
    pieces: list[str | Unknown] = []
    at = 0
    for match in re.finditer(r"\{\{|\}\}|\{([0-9]{1,9})\}", template):
        pieces.append(template[at : match.start()])
        at = match.end()
        if match[1] is None:
            pieces.append(match[0][0])
        elif int(match[1]) + 1 < len(arguments):
            pieces += as_text(arguments[int(match[1]) + 1])
        else:
            raise BadExpression(f"{code(match[0])} has no argument")
    return join([*pieces, template[at:]])


def _on_texts(test: Callable[[str, str], bool]) -> Callable[[_Reader, list[Value]], Value]:
    def function(reader: _Reader, arguments: list[Value]) -> Value:
        if len(arguments) != 2 or isinstance(arguments[0], Mapping | list):
            return reader.unknown
        first, second = (known(as_text(argument)) for argument in arguments)
        return reader.unknown if first is None or second is None else test(first.lower(), second.lower())

    return function


def _join(reader: _Reader, arguments: list[Value]) -> Value:
    if not arguments or not isinstance(arguments[0], list):
        return arguments[0] if arguments else reader.unknown
    separator = as_text(arguments[1]) if len(arguments) > 1 else (",",)
    pieces: list[str | Unknown] = []
    for number, each in enumerate(arguments[0]):
        pieces += [*(separator if number else ()), *as_text(each)]
    return join(pieces)


def _from_json(reader: _Reader, arguments: list[Value]) -> Value:
    text = known(as_text(arguments[0])) if len(arguments) == 1 else None
    if text is None:
        return reader.unknown
    try:
        return plain(json.loads(text, parse_int=float))
    except (ValueError, RecursionError):
        raise BadExpression(f"{code(text)} is no JSON") from None


def plain(value: Any) -> Value:
    """A value of JSON or YAML as one of expressions."""
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float) else text_of(str(value))


_FUNCTIONS: dict[str, Callable[[_Reader, list[Value]], Value]] = {
    "format": _format,
    "contains": _on_texts(lambda text, part: part in text),
    "startswith": _on_texts(str.startswith),
    "endswith": _on_texts(str.endswith),
    "join": _join,
    "fromjson": _from_json,
    "always": lambda _, __: True,
    "success": lambda reader, _: not reader.contexts.failed,
    "failure": lambda reader, _: True if reader.contexts.failed else reader.unknown,
}
