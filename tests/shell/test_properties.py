"""Properties of the parser and of the small languages inside bash, on generated text."""

from __future__ import annotations

import fnmatch
import subprocess
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.shell import arithmetic, pattern
from checks.shell.evaluate import evaluate, evaluate_path
from checks.shell.mask import mask
from checks.shell.parse import parse
from checks.shell.scan import ShellSyntaxError
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.snapshot import Snapshot

SHELLISH = st.text(alphabet=st.sampled_from(list("ab=1 \n\t'\"$(){}[]\\;|&<>#`*?!-~")), max_size=80)
PLAIN = st.text(alphabet=st.sampled_from(list("abc./-_0123")), min_size=1, max_size=12)


T = TypeVar("T")


def _or_refused(action: Callable[[], T], text: str) -> T | None:
    """The result, or None if the text is refused at an offset inside it and with a reason."""
    try:
        return action()
    except ShellSyntaxError as error:
        refusal = error
    assert 0 <= refusal.offset <= len(text)
    assert refusal.reason
    return None


@given(SHELLISH)
@settings(max_examples=500, deadline=None)
def test_the_mask_keeps_the_length_and_every_newline(text: str) -> None:
    masked = _or_refused(lambda: mask(text).text, text)
    if masked is None:
        return
    assert len(masked) == len(text)
    assert [at for at, char in enumerate(masked) if char == "\n"] == [
        at for at, char in enumerate(text) if char == "\n"
    ]


@given(SHELLISH)
@settings(max_examples=300, deadline=None)
def test_any_text_is_parsed_or_refused_with_a_place(text: str) -> None:
    _or_refused(lambda: parse(text), text)


@given(SHELLISH)
@settings(max_examples=300, deadline=None)
def test_any_text_is_evaluated_or_reported(text: str) -> None:
    evaluation = evaluate(Snapshot({}, {}), Shell(Source("x.sh", text), zero=("x.sh",), open=True))
    lines = text.count("\n") + 1
    for invocation in [each for path in evaluation.paths for each in path.invocations]:
        for word in invocation.argv:
            assert 1 <= word.span.line <= word.span.end_line <= lines


class Names:
    """The variables of an arithmetic expression."""

    def __init__(self, values: dict[str, str | None]) -> None:
        self.values = dict(values)

    def get(self, name: str, _: str | None) -> str | None:
        return self.values.get(name, "")

    def set(self, name: str, _: str | None, value: int | None) -> None:
        self.values[name] = None if value is None else str(value)


INTEGERS = st.integers(min_value=-(2**40), max_value=2**40)


@given(
    INTEGERS, INTEGERS.filter(bool), st.sampled_from(["+", "-", "*", "/", "%", "<", ">", "==", "&", "|", "^"])
)
@settings(deadline=None)
def test_arithmetic_agrees_with_bash(left: int, right: int, operator: str) -> None:
    expression = f"({left}) {operator} ({right})"
    printed = subprocess.run(
        ["bash", "-r", "-c", 'printf %s "$(($1))"', "bash", expression],
        env={}, capture_output=True, text=True, check=True, timeout=20,
    ).stdout  # fmt: skip
    assert str(arithmetic.evaluate(expression, Names({}))) == printed


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 ** 3 ** 2", 512), ("-2 ** 2", 4), ("1 ? 2 : 3", 2), ("0x10 + 010", 24), ("9 / -2", -4),
        ("-9 % 4", -1), ("!0 && 1 || 0", 1), ("1 << 62 << 1", -(2**63)), ("2#101", 5), ("", 0),
        ("x * 2", 14), ("~5", -6),
        ("x += 1, x", 8), ("x++ + x", 15), ("--x", 6), ("- -x", 7), ("y = x = 3", 3), ("0 && (x = 1), x", 7),
    ],
)  # fmt: skip
def test_arithmetic_values(expression: str, value: int) -> None:
    assert arithmetic.evaluate(expression, Names({"x": "7"})) == value


@pytest.mark.parametrize(
    "expression", ["1 +", "1 / 0", "(1", "1 ? 2", "1 = 2", "1 1", "08", "9" * 99, "(" * 99 + "1"]
)
def test_arithmetic_refuses(expression: str) -> None:
    with pytest.raises(arithmetic.NotEvaluated):
        arithmetic.evaluate(expression, Names({"a": "1"}))


def test_arithmetic_on_unknown_is_unknown_and_cycles_end() -> None:
    assert arithmetic.evaluate("1 + x", Names({"x": None})) is None
    assert arithmetic.evaluate(f"1 + {arithmetic.UNKNOWN}", Names({})) is None
    with pytest.raises(arithmetic.NotEvaluated):
        arithmetic.evaluate("x", Names({"x": "x"}))


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
@settings(deadline=None)
def test_pattern_prefixes_agree_with_fnmatch(glob: str, text: str) -> None:
    units = pattern.units([(glob, False)])
    lengths = [length for length in range(len(text) + 1) if fnmatch.fnmatchcase(text[:length], glob)]
    assert pattern.shortest(units, text) == (lengths[0] if lengths else None)
    assert pattern.longest(units, text) == (lengths[-1] if lengths else None)


def test_a_hostile_pattern_is_linear() -> None:
    units = pattern.units([("a*" * 500 + "b", False)])
    assert pattern.longest(units, "a" * 1000) is None


@given(PLAIN, PLAIN)
@settings(deadline=None, max_examples=50)
def test_trimming_agrees_with_bash(value: str, trim: str) -> None:
    forms = " ".join(f'"${{A{form}}}"' for form in (f"#{trim}*", f"%*{trim}", f"##*{trim}", f"%%{trim}*"))
    script = f"A='{value}'\nprintf '%s\\n' {forms}"
    printed = subprocess.run(
        ["bash", "-r"], input=script, env={}, capture_output=True, text=True, check=True, timeout=20
    ).stdout.splitlines()
    shown = script.replace("printf '%s\\n'", "show")
    argv = evaluate_path(Snapshot({}, {}), Shell(Source("x.sh", shown))).invocations[0].argv
    assert [word.known for word in argv[1:]] == printed
