"""The evaluator against bash on every fixture: live where bubblewrap works, else as recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from checks.shell.evaluate import Evaluation, evaluate
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import Field, text_of
from tests.mini import snapshot
from tests.oracle.compare import commands_of, invocations_of, misplaced, verdict
from tests.oracle.fixtures import FIXTURES, Fixture
from tests.oracle.sandbox import Truth, run_files, works

RECORDED = Path(__file__).with_name("recorded.json")
BY_NAME = {fixture.name: fixture for fixture in FIXTURES}


# What only the caller, the runner or an outside program decides is unknown there, and rightly so.
WITH_UNKNOWN = frozenset({
    "assignment-5", "length and indirection-1", "arithmetic-10", "globbing-1", "test-16",
    "lists and exits-7", "lists and exits-11", "lists and exits-16", "redirection-10", "corners-15",
    "wrappers and eval-10", "jobs-5", "jobs-6", "wrappers and eval-21",
})  # fmt: skip


def evaluated(fixture: Fixture) -> Evaluation:
    shell = Shell(Source("main.sh", fixture.script), zero=text_of("main.sh"))
    place = shell.source.span(0, 0)
    shell.arguments = tuple(Field(text_of(argument), place) for argument in fixture.arguments)
    return evaluate(snapshot(fixture.files), shell)


def run(fixture: Fixture) -> Truth:
    return run_files(fixture.files, "main.sh", fixture.arguments)


@pytest.fixture(scope="session")
def recorded() -> dict[str, Truth]:
    return {
        name: Truth(tuple(map(tuple, commands)), 0, "")
        for name, commands in json.loads(RECORDED.read_text()).items()
    }


def test_there_are_enough_fixtures_and_each_is_recorded(recorded: dict[str, Truth]) -> None:
    assert len(FIXTURES) >= 150
    assert set(recorded) == set(BY_NAME)
    assert sum(bool(truth.commands) for truth in recorded.values()) == len(FIXTURES)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_evaluator_starts_what_bash_starts(name: str, recorded: dict[str, Truth]) -> None:
    evaluation = evaluated(BY_NAME[name])
    assert evaluation.not_checked == ()
    ours = [
        [
            ["".join(str(piece) for piece in word.text) for word in each.argv]
            for each in invocations_of(path, training=False)
        ]
        for path in evaluation.paths
    ]
    theirs = commands_of(recorded[name], training=False)
    expected = "first path" if name in WITH_UNKNOWN else "exact"
    assert verdict(evaluation, recorded[name], training=False) == expected, (ours, theirs)
    for path in evaluation.paths:
        for invocation in path.invocations:
            assert misplaced(invocation, {**BY_NAME[name].files}) == []


@pytest.mark.skipif(
    not works(), reason="NO WORKING BUBBLEWRAP: bash itself is not run, its recorded commands are compared"
)
@pytest.mark.parametrize("name", BY_NAME)
def test_bash_still_does_what_is_recorded(name: str, recorded: dict[str, Truth]) -> None:
    assert run(BY_NAME[name]).commands == recorded[name].commands


def record() -> None:
    """``make oracle-record``: write down what bash does."""
    commands = {fixture.name: run(fixture).commands for fixture in FIXTURES}
    RECORDED.write_text(json.dumps(commands, indent=1) + "\n")


if __name__ == "__main__":
    record()
    print(f"recorded {len(FIXTURES)} scripts", file=sys.stderr)
