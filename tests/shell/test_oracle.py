"""The evaluator against real bash on generated scripts of the constructs it claims to know."""

from __future__ import annotations

import subprocess

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from checks.shell.evaluate import evaluate_path
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.snapshot import Snapshot

NAMES = st.sampled_from(["A", "B", "C"])
PLAIN = st.text(alphabet="ab1 .", max_size=4)
INTEGERS = st.integers(0, 9).map(str)


FORMS = (
    "$N", "${N}", "${N:-D}", "${N-D}", "${N:+D}", "${N:=D}", "${#N}", "${N#*a}", "${N%a*}", "${N##*a}",
    "${N%%a*}", "${N[@]}", "${#N[@]}", "${N[0]}", "$((D * 2 + 1))",
)  # fmt: skip


def _expansion(name: str, form: str, default: str) -> str:
    return form.replace("N", name).replace("D", default)


EXPANSIONS = st.builds(_expansion, NAMES, st.sampled_from(FORMS), INTEGERS)
PIECES = st.one_of(
    PLAIN.map(lambda text: f"'{text}'"),
    PLAIN.map(lambda text: f'"{text}"'),
    st.sampled_from(["x", "y=", "\\ ", "\\$", "-", ".", "'\"'", '"\'"', "$'\\t'", '""', "\\\n"]),
    EXPANSIONS,
    st.lists(st.one_of(EXPANSIONS, PLAIN), max_size=3).map(lambda parts: '"' + "".join(parts) + '"'),
)
WORDS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
SCALARS = st.builds(
    lambda name, sign, word: f"{name}{sign}{word}", NAMES, st.sampled_from(["=", "=", "+="]), WORDS
)
ARRAYS = st.builds(
    lambda name, sign, words: f"{name}{sign}({' '.join(words)})",
    NAMES,
    st.sampled_from(["=", "+="]),
    st.lists(WORDS, max_size=3),
)
SHOWS = st.lists(WORDS, max_size=4).map(lambda words: "show " + " ".join(words))
LINES = st.one_of(
    SCALARS, ARRAYS, SHOWS, SHOWS.map(lambda line: f"({line})"), st.builds("unset {}".format, NAMES)
)
PRELUDE = "show() { printf '<%s>' \"$@\"; printf '\\n'; }\n"
# Names that nobody sets are unknown to us and empty to bash: set them first.
FIRST = "A= B=b C=(c1 'c 2')\n"


def ours(script: str) -> list[str] | None:
    """What each ``show`` prints; None if something is not evaluated or not known."""
    outcome = evaluate_path(Snapshot({}, {}), Shell(Source("x.sh", script)))
    lines = [[word.known for word in each.argv] for each in outcome.invocations]
    if outcome.not_checked or any(word is None for line in lines for word in line):
        return None
    return ["".join(f"<{word}>" for word in line[1:]) or "<>" for line in lines if line[0] == "show"]


BODIES = st.lists(LINES, min_size=1, max_size=6).map("\n".join)


def _with_continuation(body: str, part: float) -> str:
    """``body`` with a line continuation at any place: within a word, an operator, a quote."""
    at = round(part * len(body))
    return f"{body[:at]}\\\n{body[at:]}"


@given(BODIES)
@settings(max_examples=300, deadline=None)
def test_words_are_those_of_bash(body: str) -> None:
    _compare(body)


@given(st.builds(_with_continuation, BODIES, st.floats(0, 1)))
@settings(max_examples=300, deadline=None)
def test_a_line_may_continue_anywhere(body: str) -> None:
    _compare(body)


def _compare(body: str) -> None:
    script = FIRST + body + "\n"
    words = ours(script)
    if words is None:
        reject()
    real = subprocess.run(
        ["bash", "-r"], input=PRELUDE + script, env={}, capture_output=True, text=True, timeout=20
    )  # fmt: skip
    assert real.stdout == "".join(f"{line}\n" for line in words), script
