"""GitHub's expressions: values as its documentation gives them, unknown where a part is not known."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.shell.value import Unknown
from checks.workflow.expressions import BadExpression, Contexts, Value, as_text, evaluate, truth

UNKNOWN = Unknown("an expression", "w.yml", 1)
CONTEXTS = Contexts(
    {
        "env": {"A": ("a",), "EMPTY": (), "PART": ("x-", UNKNOWN)},
        "matrix": {"npus": 8, "flags": [("p",), ("q",)], "nested": {"k": ("v",)}},
        "inputs": {},
        "github": {"workspace": ("/w",)},
    },
    frozenset({"github"}),
)


def value(expression: str) -> Value:
    return evaluate(expression, CONTEXTS, UNKNOWN)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("env.A", "a"), ("env['A']", "a"), ("env.a", ""), ("env.MISSING", ""), ("'it''s'", "it's"),
        ("matrix.npus", "8"), ("1.5", "1.5"),
        ("matrix.nested.k", "v"), ("matrix.flags[1]", "q"), ("matrix.flags[9]", ""),
        ("inputs.x || 'd'", "d"), ("env.A || 'd'", "a"), ("env.A && 'yes' || 'no'", "yes"),
        ("env.EMPTY && 'yes' || 'no'", "no"), ("matrix.npus == 8", "true"), ("'A' == 'a'", "true"),
        ("'8' == 8", "true"), ("1 < 2 && 3 >= 3", "true"), ("!env.A", "false"), ("!!env.A", "true"),
        ("format('{0}-{1} {{x}}', env.A, matrix.npus)", "a-8 {x}"), ("contains('Hello', 'ELL')", "true"),
        ("startsWith(env.A, 'b')", "false"), ("endsWith('x.sh', '.sh')", "true"),
        ("join(matrix.flags, '-')", "p-q"), ("fromJSON('[1, \"b\"]')[1]", "b"), ("always()", "true"),
        ("(1 == 1) != false", "true"), ("null == ''", "true"), ("0x10", "16"), ("'0x10' == 16", "true"),
        ("1e21", "1E+21"),
        ("123456789012345678", "1.23456789012346E+17"), ("1e-7", "1E-07"),
    ],
)  # fmt: skip
def test_known_values(expression: str, text: str) -> None:
    assert "".join(str(piece) for piece in as_text(value(expression))) == text


@pytest.mark.parametrize(
    "expression",
    ["github.ref", "secrets.X", "needs.a.outputs.b || 'd'", "github.ref == 'x'", "steps.a.outputs.b",
     "hashFiles('**')", "!vars.X", "vars.X && 'a'"],
)  # fmt: skip
def test_what_is_not_known_is_unknown(expression: str) -> None:
    assert value(expression) == UNKNOWN


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("vars.X && false", False), ("false && vars.X", False), ("true || vars.X", True), ("env.PART", True),
     ("vars.X", None), ("''", False), ("'0'", True), ("0", False)],
)  # fmt: skip
def test_truth_is_three_valued(expression: str, expected: bool | None) -> None:
    assert truth(value(expression)) is expected


@pytest.mark.parametrize("expression", ["", "a b", "(1", "1 +", "'open", "env.", "f(", "format('{3}')", "]"])
def test_what_github_refuses_is_refused(expression: str) -> None:
    with pytest.raises(BadExpression):
        value(expression)


@given(st.text(alphabet="ab.'()[]!&|=<>01 ,*{}$-", max_size=30))
@settings(max_examples=500, deadline=None)
def test_any_text_has_a_value_or_is_refused(text: str) -> None:
    with contextlib.suppress(BadExpression):
        as_text(value(text))
