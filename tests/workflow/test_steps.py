"""What a step sees of itself, of the steps before it and of the way in which its workflow was started."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workflow.test_jobs import LABEL, run, shown, workflow


def words(*steps: dict[str, Any] | str, files: dict[str, str] | None = None) -> list[str | None]:
    """The words of the last command; None for one that is not known."""
    found, _ = run({"w.yml": workflow(*steps), **(files or {})})
    return [word.known for word in found[-1].evaluation.paths[0].invocations[-1].argv[1:]]


def test_a_step_sees_its_own_environment_in_its_condition() -> None:
    step = {"run": "show ran", "env": {"GO": "yes"}, "if": "env.GO == 'yes'"}
    assert shown({"w.yml": workflow(step, {**step, "env": {"GO": "no"}})}) == [["ran"]]


@pytest.mark.parametrize(
    ("action", "default"),
    [
        ("actions/checkout@v4", "d"),
        ("actions/setup-python@v5", "d"),
        ("actions/upload-artifact@v4", "d"),
        ("actions/github-script@v7", None),
        ("somebody/sets-environment@v1", None),
        ("docker://alpine:3", None),
    ],
)
def test_actions_of_others_may_set_variables(action: str, default: str | None) -> None:
    assert words({"uses": action}, 'show "${A:-d}" "${{ env.B || \'d\' }}"') == [default, default]


@pytest.mark.parametrize(
    ("step", "known"),
    [
        ("python tools/set.py", False),
        ("cd tools && python set.py", False),
        ('python -c \'import os; open(os.environ["GITHUB_ENV"], "a").write("A=1")\'', False),
        ("python - <<'X'\nimport os\nopen(os.getenv('GITHUB_ENV'), 'a').write('A=1')\nX", False),
        ("python tools/other.py", True),
        ("echo B=1 >> $GITHUB_ENV", True),
    ],
)
def test_programs_that_write_the_environment_file_leave_names_unknown(step: str, known: bool) -> None:
    files = {
        "tools/set.py": "import os\nopen(os.environ.get('GITHUB_ENV'), 'a').write('A=1')\n",
        "tools/other.py": "print(1)\n",
    }
    assert words(step, "show ${A:-d}", files=files) == (["d"] if known else [None])


@pytest.mark.parametrize(
    "step",
    [
        "python -c 'print(\"::set-output name=x::1\")'",
        "echo '::set-output name=x::1'",
        "python tools/set.py",
        "bash tools/set.sh",
    ],
)
def test_outputs_that_a_program_may_set_are_unknown(step: str) -> None:
    files = {
        "tools/set.py": "import os\nopen(os.environ['GITHUB_OUTPUT'], 'a').write('x=1')\n",
        "tools/set.sh": 'echo "::set-output name=x::1"\n',
    }
    last = "show '${{ steps.s.outputs.x }}' end"
    assert words({"id": "s", "run": step}, last, files=files) == [None, "end"]
    assert words({"id": "s", "run": "echo x=1 >> $GITHUB_OUTPUT"}, last) == ["1", "end"]


def test_inputs_of_actions_and_workflows_do_not_tell_capitals_apart() -> None:
    action = {
        "inputs": {"Size": {"default": "7"}},
        "runs": {"using": "composite", "steps": [{"run": "show ${{ inputs.SIZE }}", "shell": "bash"}]},
    }
    called = {
        "on": {"workflow_call": {"inputs": {"Size": {"type": "string", "default": "7"}}}},
        "jobs": {"npu": {"runs-on": LABEL, "steps": [{"run": "show ${{ inputs.sIZE }}"}]}},
    }
    caller = {"on": "push", "jobs": {"a": {"uses": "./.github/workflows/called.yml", "with": {"SIZE": "8"}}}}
    uses = {"uses": "./act", "with": {"size": "8"}}
    files = {"w.yml": workflow(uses), "act/action.yml": action, "x.yml": caller, "called.yml": called}
    assert shown(files) == [["8"], ["8"]]


def test_an_action_sees_the_environment_of_the_step_that_uses_it() -> None:
    action = {"runs": {"using": "composite", "steps": [{"run": "show ${{ env.A }} $A", "shell": "bash"}]}}
    uses = {"uses": "./act", "env": {"A": "step"}}
    assert shown({"w.yml": workflow(uses), "act/action.yml": action}) == [["step", "step"]]


def test_steps_of_an_action_ask_for_failures_inside_it() -> None:
    steps = [{"run": "show first", "shell": "bash"}, {"run": "show bad; exit 1", "shell": "bash"}]
    after = {"run": "show after", "shell": "bash"}
    action = {"runs": {"using": "composite", "steps": [*steps, after]}}
    files = {
        "w.yml": workflow("exit 1", {"uses": "./act", "if": "Always()"}, "show end"),
        "act/action.yml": action,
    }
    assert shown(files) == [["first"], ["bad"]]


def test_inputs_are_empty_after_an_event_and_the_defaults_by_hand() -> None:
    content = workflow("show '${{ inputs.size }}' ${{ inputs.size || 3 }}")
    content["on"] = {"push": {}, "workflow_dispatch": {"inputs": {"size": {"default": "8"}}}}
    found, _ = run({"w.yml": content})
    assert shown({"w.yml": content}) == [["", "3"], ["8", "8"]]
    assert [each.job.matrix for each in found if each.job] == [None, "started by hand"]
    content["on"].pop("push")
    assert shown({"w.yml": content}) == [["8", "8"]]


@pytest.mark.parametrize(
    ("shell", "runs_on"),
    [
        ("bash -o errexit {0}", False),
        ("bash -eo pipefail {0}", False),
        ("bash --noprofile --norc -o pipefail -e {0}", False),
        ("bash -o pipefail {0}", True),
        ("bash -u {0}", True),
    ],
)
def test_the_options_of_a_shell_that_is_written_out(shell: str, runs_on: bool) -> None:
    step = {"run": "false\nshow on", "shell": shell}
    assert shown({"w.yml": workflow(step)}) == ([["on"]] if runs_on else [])


def test_what_github_sets_itself_cannot_be_replaced() -> None:
    environment = {"GITHUB_WORKSPACE": "/other", "GITHUB_TOKEN": "mine", "CI": "no"}
    step = {"run": 'show "${GITHUB_WORKSPACE##*/}" $GITHUB_TOKEN $CI', "env": environment}
    assert words(step) == [None, "mine", "no"]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ({"n": [1, 2], "exclude": [{"n": 1}]}, [["2"]]),
        ({"n": [1], "exclude": [{"n": 1}]}, []),
        ({"n": [1, True], "exclude": [{"n": True}]}, [["1"]]),
        ({"n": [1], "include": [{"n": True, "m": 2}]}, [["1"], ["true", "2"]]),
    ],
)
def test_cells_that_are_left_out(matrix: dict[str, Any], expected: list[list[str]]) -> None:
    content = workflow("show ${{ matrix.n }} ${{ matrix.m }}", strategy={"matrix": matrix})
    assert shown({"w.yml": content}) == expected


def test_runner_labels_do_not_tell_capitals_apart() -> None:
    content = workflow("show on")
    content["jobs"]["npu"]["runs-on"] = LABEL.upper()
    assert shown({"w.yml": content}) == [["on"]]


def test_comparison_without_capitals_keeps_the_number_of_characters() -> None:
    assert words("show ${{ 'ß' == 'SS' }} ${{ 'É' == 'é' }}") == ["false", "true"]
