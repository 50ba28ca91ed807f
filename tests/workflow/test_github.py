"""What GitHub makes of workflows where one would guess otherwise: kinds, numbers, doubtful steps."""

from __future__ import annotations

from typing import Any

import pytest

from checks.shell.value import Unknown, known
from checks.workflow.load import load
from tests.workflow.test_expressions import value
from tests.workflow.test_jobs import LABEL, run, workflow

HEAD = f"on: push\njobs:\n  npu:\n    runs-on: {LABEL}\n    steps:\n"


def words(*files: Any) -> list[str]:
    """What ``show`` gets in the last step that calls it, an unknown part written as ``?``."""
    found, _ = run({"w.yml": files[0], **(files[1] if len(files) > 1 else {})})
    shown = [
        each.argv[1:]
        for context in found
        for path in context.evaluation.paths
        for each in path.invocations
        if each.argv[0].known == "show"
    ]
    return ["".join("?" if isinstance(p, Unknown) else p for p in word.text) for word in shown[-1]]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'10' > '9'", False), ("'b' > 'A'", True), ("10 > '9'", True), ("fromJSON('[1]') == 'abc'", False),
        ("fromJSON('{}') == fromJSON('{}')", False), ("true == 'true'", False), ("'1_0' == 10", False),
        ("'inf' > 5", False), ("'nan' == 0", False), ("null == 0", True), ("'' == 0", True),
    ],
)  # fmt: skip
def test_comparisons_between_kinds(expression: str, expected: bool) -> None:
    assert value(expression) is expected


@pytest.mark.parametrize("operator", ["== 8", "!= 8", "== true", "== null", "< 'x'"])
def test_what_is_not_known_equals_nothing_for_sure(operator: str) -> None:
    content = workflow(f'show "${{{{ env.N {operator} }}}}"', env={"N": "${{ vars.N }}"})
    assert words(content) == ["?"]


@pytest.mark.parametrize(
    "expression",
    [
        f"0x{'f' * 400}", f"fromJSON('{'9' * 400}')", f"format('{{{'9' * 5000}}}', 'a')",
        "fromJSON('[1]')['²']", f"fromJSON('[1]')['{'9' * 5000}']", f"'0x{'f' * 400}' == 1",
        "''" * 40 + "x", "${{ " * 2000,
    ],
)  # fmt: skip
def test_hostile_expressions_end(expression: str) -> None:
    run(
        {
            "w.yml": HEAD
            + f"      - run: |\n          show ${{{{ {expression} }}}}\n          show ${{{{ {expression}"
        }
    )


@pytest.mark.parametrize("extra", ['"include":null', '"exclude":5', '"include":"x"', '"a":3'])
def test_matrices_of_odd_shape_end(extra: str) -> None:
    matrix = '${{ fromJSON(\'{"b":[1],' + extra + "}') }}"
    run({"w.yml": workflow("show ${{ matrix.b }}", strategy={"matrix": matrix})})


def test_cells_may_be_added_and_left_out_by_an_expression() -> None:
    matrix = {
        "a": [1, 2],
        "include": "${{ fromJSON('[{\"a\":3}]') }}",
        "exclude": "${{ fromJSON('[{\"a\":2}]') }}",
    }
    found, _ = run({"w.yml": workflow("show ${{ matrix.a }}", strategy={"matrix": matrix})})
    cells = [context.evaluation.paths[0].invocations[0].argv[1].known for context in found]
    assert cells == ["1", "3"]


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = HEAD + '      - run: show "$A" "$B" "$C" "$D" "$E" "$F" "$G"\n' + (
        "        env: {A: 0x10, B: 0o17, C: 010, D: on, E: 1.50, F: 12:30, G: 1_0}\n"
    )  # fmt: skip
    assert words(text) == ["16", "15", "10", "on", "1.5", "12:30", "1_0"]


def test_cells_hold_scalars_of_yaml_1_2() -> None:
    text = HEAD.replace("steps:\n", "strategy: {matrix: {f: [on, 12:30, 010, 1e3, ~, '007']}}\n    steps:\n")
    found, _ = run({"w.yml": text + "      - run: show '${{ matrix.f }}'\n"})
    cells = [known(context.evaluation.paths[0].invocations[0].argv[1].text) for context in found]
    assert cells == ["on", "12:30", "10", "1000", "", "007"]


DOUBTFUL = "${{ github.event_name == 'schedule' }}"


@pytest.mark.parametrize("condition", [DOUBTFUL, "failure()"])
def test_what_a_step_leaves_that_may_not_run_is_not_known(condition: str) -> None:
    step = {"id": "c", "if": condition, "run": 'echo "M=1" >> $GITHUB_ENV; echo "o=1" >> $GITHUB_OUTPUT'}
    last = 'show "$M" "${{ env.M }}" "${{ steps.c.outputs.o }}" "${{ steps.c.outcome }}"'
    assert words(workflow(step, last)) == ["?", "?", "?", "?"]


@pytest.mark.parametrize(
    "script",
    [
        'if [ -n "$X" ]; then echo "M=1" >> $GITHUB_ENV; fi',
        'if [ "$X" = y ]; then echo "M=1" >> "$GITHUB_ENV"; else echo "M=2" >> "$GITHUB_ENV"; fi',
        'grep -q x y && echo "M=1" >> "$GITHUB_ENV" || echo "M=2" >> "$GITHUB_ENV"',
        '[ -n "$X" ] && echo "M=1" | tee -a "$GITHUB_ENV"',
        "env >> $GITHUB_ENV",
        "export -p >> $GITHUB_ENV",
    ],
)
def test_what_a_branch_appends_that_may_not_run_is_not_known(script: str) -> None:
    assert words(workflow(script, 'show "${M:-d}"')) == ["?"]


def test_a_skipped_step_has_a_result() -> None:
    step = {"id": "c", "if": False, "run": "true"}
    assert words(workflow(step, "show ${{ steps.c.outcome }} ${{ steps.c.outputs.x == '' }}")) == [
        "skipped",
        "true",
    ]


ACTION = ".github/actions/x/action.yml"


def action(*steps: dict[str, Any]) -> dict[str, Any]:
    listed = [{"shell": "bash", **step} for step in steps]
    inputs = {"flag": {"default": "false"}}
    return {ACTION: {"inputs": inputs, "runs": {"using": "composite", "steps": listed}}}


@pytest.mark.parametrize(("given", "shown"), [(True, "false true on"), (False, "false false on")])
def test_the_inputs_of_an_action_are_texts(given: bool, shown: str) -> None:
    call = {"uses": "./.github/actions/x", "with": {"flag": f"${{{{ {str(given).lower()} }}}}"}}
    script = (
        "show ${{ inputs.flag == true }} ${{ inputs.flag == 'true' }} ${{ inputs.flag && 'on' || 'off' }}"
    )
    assert words(workflow(call), action({"run": script, "if": "inputs.flag"})) == shown.split()


def test_a_job_goes_on_after_an_action_that_may_fail() -> None:
    call = {"uses": "./.github/actions/x", "continue-on-error": True}
    assert words(workflow(call, "show after"), action({"run": "exit 1"})) == ["after"]


def test_a_job_that_needs_a_skipped_one_is_skipped() -> None:
    text = HEAD.replace(
        "  npu:\n", "  off: {runs-on: ubuntu-latest, if: false, steps: [{run: x}]}\n  npu:\n    needs: off\n"
    )
    found, _ = run({"w.yml": text + "      - run: show x\n"})
    assert found == []
    always = text.replace("needs: off\n", "needs: off\n    if: always()\n")
    assert words(always + "      - run: show x\n") == ["x"]


def test_inputs_by_hand_that_must_be_chosen() -> None:
    inputs = "{m: {type: choice, options: [x, y]}, r: {required: true}}"
    text = HEAD.replace("on: push", f"on: {{workflow_dispatch: {{inputs: {inputs}}}}}")
    assert words(text + '      - run: show "${{ inputs.m }}" "${{ inputs.r }}"\n') == ["x", "?"]


def test_names_of_variables_tell_capitals_apart() -> None:
    text = HEAD + '      - run: show "${{ env.A }}" "${{ env.foo }}"\n        env: {a: 1, A: 2, FOO: 3}\n'
    assert words(text) == ["2", ""]


@pytest.mark.parametrize(
    ("step", "line", "column"),
    [
        ("      - run: |\n          show a.b=1\n      - run: other\n", 7, 16),
        ("      - run: |\n          show a.b=1\n\n      - run: other\n", 7, 16),
        ("      - run: |+\n          show a.b=1\n\n      - run: other\n", 7, 16),
        ("      - run: |-\n          show a.b=1\n      - run: other\n", 7, 16),
        ("      - run: | # why\n\n          show a.b=1\n        env: {X: 1}\n", 8, 16),
        ("      - run: |2\n            show a.b=1\n      - run: other\n", 7, 18),
        ("      - run: &s |\n          show a.b=1\n      - run: *s\n", 7, 16),
        ("      - run: show a.b=1\n", 6, 19),
        ("      - run: &s show a.b=1\n", 6, 22),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_columns_are_those_of_the_file(step: str, line: int, column: int, newline: str) -> None:
    text = (HEAD + step).replace("\n", newline)
    source = load("w.yml", text).jobs[0].steps[0].run
    assert source is not None
    at = source.text.index("a.b=1")
    span = source.span(at, at + len("a.b=1"))
    assert (span.line, span.column) == (line, column)
    assert text.split("\n")[line - 1][column - 1 :].startswith("a.b=1")
