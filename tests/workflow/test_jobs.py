"""Which launches workflows start: jobs, matrices, called workflows, composite actions, environment files."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from checks.contexts import Context, contexts
from checks.model import NotChecked
from checks.shell.value import ROOT, Unknown
from checks.workflow.runners import BUILT_IN
from tests.mini import snapshot

RUN = "run.sh"
LABEL = "linux-aarch64-a3-8"
NPU = "on: push\njobs: {a: {runs-on: linux-aarch64-a3-8, "


def workflow(*steps: dict[str, Any] | str, **job: Any) -> dict[str, Any]:
    listed = [{"run": step} if isinstance(step, str) else step for step in steps]
    return {"on": {"pull_request": {}}, "jobs": {"npu": {"runs-on": LABEL, "steps": listed, **job}}}


def run(files: dict[str, Any]) -> tuple[list[Context], list[NotChecked]]:
    texts = {
        (f".github/workflows/{name}" if name.endswith(".yml") and "/" not in name else name): (
            content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        )
        for name, content in files.items()
    }
    not_checked: list[NotChecked] = []
    tree = snapshot({"run.sh": 'show "$@"\n', **texts})
    found = [
        each for each in contexts(tree, None, frozenset(), BUILT_IN, not_checked) if each.job is not None
    ]
    return found, not_checked


def shown(files: dict[str, Any]) -> list[list[str | None]]:
    found, not_checked = run(files)
    assert not_checked == []
    return [
        [word.known for word in each.argv[1:]]
        for context in found
        for each in context.evaluation.paths[0].invocations
        if each.argv[0].known == "show"
    ]


def test_the_environment_of_three_levels_and_of_the_container_reaches_the_script() -> None:
    content = workflow(
        {"run": "show $A $B $C $D", "env": {"C": "step", "B": "step"}},
        env={"A": "job", "B": "job"},
        container={"image": "x", "env": {"D": "container", "A": "container"}},
    )
    content["env"] = {"A": "workflow", "C": "workflow"}
    assert shown({"w.yml": content}) == [["job", "step", "step", "container"]]


def test_appends_to_the_environment_file_are_carried_and_exports_are_not() -> None:
    steps = (
        'export LOST=1\necho "KEPT=$((1 + 1))" >> $GITHUB_ENV\necho "A=a b" | tee -a "${GITHUB_ENV}"',
        'show "${LOST:-none}" "$KEPT" "$A" "${{ env.KEPT }}"',
    )
    assert shown({"w.yml": workflow(*steps)}) == [["none", "2", "a b", "2"]]


def test_what_a_step_appends_unknown_is_unknown_later() -> None:
    found, _ = run(
        {"w.yml": workflow('echo "A=$(date)" >> "$GITHUB_ENV"\ndate >> $GITHUB_ENV', "show ${A:-d} ${B:-d}")}
    )
    words = found[-1].evaluation.paths[0].invocations[-1].argv[1:]
    assert [word.known for word in words] == [None, None]


def test_folders_in_the_path_file_come_first_in_later_steps() -> None:
    steps = (
        'echo /one >> $GITHUB_PATH\nprintf "%s\\n" /two "$PWD/three" >> "$GITHUB_PATH"',
        'show "$PATH"',
        {"run": 'show "$PATH"', "env": {"PATH": "/own"}},
    )
    found, _ = run({"w.yml": workflow(*steps)})
    words = [context.evaluation.paths[0].invocations[-1].argv[1].text for context in found[-2:]]
    runner = Unknown("the `PATH` of the runner", "", 0)
    assert words == [(ROOT, "/three:/two:/one:", runner), (ROOT, "/three:/two:/one:/own")]


def test_outputs_of_steps_are_known_where_bash_makes_them_known() -> None:
    steps = (
        {"id": "one", "run": 'echo "tag=v$((1 + 1))" >> "$GITHUB_OUTPUT"'},
        "show ${{ steps.one.outputs.tag }} end",
    )
    assert shown({"w.yml": workflow(*steps)}) == [["v2", "end"]]


def test_the_matrix_is_expanded_with_include_and_exclude() -> None:
    cells = {
        "a": [1, 2], "b": ["x", "y"],
        "exclude": [{"a": 2, "b": "y"}], "include": [{"a": 1, "c": "extra"}, {"a": 9, "b": "z"}],
    }  # fmt: skip
    content = workflow("show ${{ matrix.a }} ${{ matrix.b }} '${{ matrix.c }}'", strategy={"matrix": cells})
    assert shown({"w.yml": content}) == [
        ["1", "x", "extra"], ["1", "y", "extra"], ["2", "x", ""], ["9", "z", ""],
    ]  # fmt: skip
    found, _ = run({"w.yml": content})
    assert [each.job.matrix for each in found if each.job] == [
        "a=1, b=x, c=extra",
        "a=1, b=y, c=extra",
        "a=2, b=x",
        "a=9, b=z",
    ]


def test_a_runner_from_the_matrix_decides_the_npus() -> None:
    labels = {"runner": ["linux-aarch64-a3-16", "ubuntu-latest", "linux-aarch64-a2b3-8"]}
    content = workflow("show x", strategy={"matrix": labels})
    content["jobs"]["npu"]["runs-on"] = "${{ matrix.runner }}"
    found, _ = run({"w.yml": content})
    assert [(each.job.runner, each.job.npus) for each in found if each.job] == [
        ("linux-aarch64-a3-16", 16), ("linux-aarch64-a2b3-8", 8),
    ]  # fmt: skip


def test_a_matrix_beyond_the_cap_is_said() -> None:
    axis = list(range(20))
    found, not_checked = run({"w.yml": workflow("show x", strategy={"matrix": {"a": axis, "b": axis}})})
    assert len(found) == 256
    assert "more than 256 cells" in not_checked[0].reason


def test_a_called_workflow_gets_its_inputs_and_not_the_environment() -> None:
    callee = workflow("show '${{ inputs.size }}' '${{ inputs.flag }}' \"${A:-none}\"")
    callee["on"] = {"workflow_call": {"inputs": {"size": {"default": "small"}, "flag": {"default": "off"}}}}
    caller = {
        "on": "push", "env": {"A": "caller"},
        "jobs": {"call": {"uses": "./.github/workflows/callee.yml", "with": {"size": "${{ matrix.s }}"},
                          "strategy": {"matrix": {"s": ["big", "huge"]}}}},
    }  # fmt: skip
    files = {"callee.yml": callee, "caller.yml": caller}
    assert shown(files) == [["big", "off", "none"], ["huge", "off", "none"]]
    found, _ = run(files)
    assert {(each.job.workflow, each.job.id) for each in found if each.job} == {
        (".github/workflows/caller.yml", "call / npu")
    }


def test_a_local_composite_action_runs_in_place() -> None:
    action = {
        "name": "a", "inputs": {"what": {"default": "d"}},
        "runs": {"using": "composite", "steps": [{"run": "show ${{ inputs.what }}", "shell": "bash"}]},
    }  # fmt: skip
    step = {"uses": "./.github/actions/a", "with": {"what": "given"}}
    files = {"w.yml": workflow(step, {"uses": "./.github/actions/a"}), ".github/actions/a/action.yml": action}
    assert shown(files) == [["given"], ["d"]]


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("false", False),
        ("${{ false }}", False),
        ("1 == 2", False),
        ("github.ref == 'x'", True),
        ("always()", True),
    ],
)
def test_what_never_runs_is_left_out(condition: str, runs: bool) -> None:
    assert bool(shown({"w.yml": workflow("show x", **{"if": condition})})) is runs
    assert bool(shown({"w.yml": workflow({"run": "show x", "if": condition})})) is runs


def test_folders_defaults_and_shells() -> None:
    content = workflow({"run": "bash inner.sh; show after"}, {"run": "false; show no", "shell": "bash {0}"})
    content["jobs"]["npu"]["defaults"] = {"run": {"working-directory": ".hidden"}}
    assert shown({"w.yml": content, ".hidden/inner.sh": "show in"}) == [["in"], ["after"], ["no"]]
    assert shown({"w.yml": workflow("show a; false; show b")}) == [["a"]]
    assert shown({"w.yml": workflow({"run": "false | true; show b", "shell": "bash"})}) == []
    assert shown({"w.yml": workflow('cd "$GITHUB_WORKSPACE/lib" && bash x.sh'), "lib/x.sh": "show x"}) == [
        ["x"]
    ]


def test_expressions_in_a_block_keep_lines_and_columns() -> None:
    text = (
        "on: push\nenv: {N: '8'}\njobs:\n  npu:\n    runs-on: linux-aarch64-a3-8\n    steps:\n"
        "      - run: |\n          show a=${{ env.N }} b=1 \\\n"
        "            c=${{ github.ref }} d=${{ env.N }}2 'e=${{ github.x }}'\n"
    )
    (context,), not_checked = run({"w.yml": text})
    assert not_checked == []
    words = context.evaluation.paths[0].invocations[0].argv[1:]
    assert [word.known for word in words] == ["a=8", "b=1", None, "d=82", None]
    lines = text.split("\n")
    written = [lines[word.span.line - 1][word.span.column - 1 : word.span.end_column - 1] for word in words]
    assert written == [
        "a=${{ env.N }}",
        "b=1",
        "c=${{ github.ref }}",
        "d=${{ env.N }}2",
        "'e=${{ github.x }}'",
    ]
    assert [word.may_split for word in words] == [False, False, True, False, False]


def test_what_is_not_read_is_said() -> None:
    remote = {"on": "push", "jobs": {"a": {"uses": "someone/npu-ci/.github/workflows/x.yml@v1"}}}
    unknown = workflow("show x")
    unknown["jobs"]["npu"]["runs-on"] = "${{ needs.setup.outputs.npu-runner }}"
    merged = "on: push\nx: &x {a: 1}\njobs:\n  a:\n    <<: *x\n    runs-on: linux-aarch64-a3-8\n"
    python = workflow({"run": "print(1)", "shell": "python"})
    _, not_checked = run({"a.yml": remote, "b.yml": unknown, "c.yml": merged, "d.yml": python})
    assert {each.path[-5:]: each.reason.partition(": ")[2][:38] for each in not_checked} == {
        "a.yml": "the workflow `someone/npu-ci/.github/w",
        "b.yml": "the runner `${{ needs.setup.outputs.np",
        "c.yml": "GitHub does not read the merge key `<<",
        "d.yml": "a step for the shell `python`",
    }


def test_a_submitted_script_runs_on_the_cluster_of_its_job() -> None:
    patches = '[{"op":"replace","path":"/spec/limits/huawei.com~1ascend-1980","value":"16"}]'
    step = f"/cache/submit.sh e2e /cache/run.sh '[\"--script-path\",\"/copy/lib/train.sh\"]' '{patches}'"
    content = workflow(step)
    content["env"] = {"WORKER_REPLICAS": "2"}
    found, _ = run({"w.yml": content, "lib/train.sh": "show train"})
    assert [(each.path, each.job.npus) for each in found if each.job][-1] == ("lib/train.sh", 32)


def test_scalars_become_the_text_that_github_makes_of_them() -> None:
    text = (
        "on: push\nenv: {A: true, B: 3.10, C: ~, D: '3.10', E: 010, F: 1e3, G: yes, H: 1_000,\n"
        "  I: -.5, J: 'True'}\n"
        "jobs:\n  npu:\n    runs-on: linux-aarch64-a3-8\n"
        "    steps: [{run: 'show $A $B \"$C\" $D $E $F $G $H $I $J'}]\n"
    )
    assert shown({"w.yml": text}) == [
        ["true", "3.1", "", "3.10", "10", "1000", "yes", "1_000", "-0.5", "True"]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "on: push",
        "on: push\njobs:",
        "on: push\njobs: {a: }",
        "on: push\njobs: {a: [1]}",
        "jobs: {a: {steps: 3}}",
        NPU + "steps: [1, null, [], {run: [x]}, {run: 5}]}}",
        "on: push\njobs: {a: {runs-on: [[x]], steps: []}}",
        "on: {push: 5}\njobs: {a: {needs: {x: 1}}}",
        NPU + "strategy: {matrix: 5}, steps: [{run: show x}]}}",
        NPU + "strategy: {matrix: {a: {b: 1}}}, steps: [{run: show x}]}}",
        NPU + "strategy: {matrix: {include: 7}}, steps: [{run: show x}]}}",
        NPU + "container: [1], env: [2], steps: [{env: 3, run: show x}]}}",
        "on: push\njobs: {a: {uses: ./.github/workflows/w.yml}}",
        "on: push\njobs: {a: {uses: ./x}}",
        NPU + "steps: [{uses: ./}, {uses: ./../x}]}}",
        NPU + "steps: [{run: 'show ${{ fromJSON(1)[x].y }} ${{ ( }}'}]}}",
    ],
)
def test_odd_workflows_are_read_or_refused(text: str) -> None:
    run({"w.yml": text})


def test_a_workflow_that_calls_itself_ends() -> None:
    text = "on: {push: , workflow_call: }\njobs: {npu: {uses: ./.github/workflows/npu.yml}}\n"
    found, not_checked = run({"npu.yml": text})
    assert (found, len(not_checked)) == ([], 1)


def test_a_block_of_lines_in_the_environment_file() -> None:
    steps = ("{ echo 'A<<END'; echo one; echo two; echo END; echo B=3; } >> $GITHUB_ENV", 'show "$A" $B $CI')
    assert shown({"w.yml": workflow(*steps)}) == [["one\ntwo", "3", "true"]]


def test_a_step_that_is_known_to_fail_ends_the_job() -> None:
    steps = (
        "exit 1",
        "show x",
        {"run": "show always", "if": "always()"},
        {"run": "show f", "if": "failure()"},
    )
    assert shown({"w.yml": workflow(*steps)}) == [["always"], ["f"]]
    assert shown({"w.yml": workflow("program; false", "show x")}) == []
    assert shown({"w.yml": workflow("program", "show x")}) == [["x"]]
    assert shown({"w.yml": workflow({"run": "exit 1", "continue-on-error": True}, "show x")}) == [["x"]]


def test_outcomes_and_outputs_of_steps() -> None:
    steps = (
        {"id": "k", "run": "exit 1", "continue-on-error": True}, {"id": "u", "uses": "actions/cache@v4"},
        {"id": "o", "run": "F=$GITHUB_OUTPUT; echo 'v<<E' >> $F; echo a >> $F; echo E >> $F"},
        {"id": "t", "run": "echo v=1 >> $GITHUB_OUTPUT; echo w=2 > $GITHUB_OUTPUT"},
        "show ${{ steps.k.outcome }} ${{ steps.k.conclusion }}",
        "show ${{ steps.o.outputs.v }} '${{ steps.t.outputs.v }}'",
        "show ${{ steps.u.outputs.hit }}",
    )  # fmt: skip
    assert shown({"w.yml": workflow(*steps)}) == [["failure", "success"], ["a", ""], [None]]


def test_an_action_has_its_own_ids_outputs_and_no_defaults_of_the_job() -> None:
    action = {
        "outputs": {"r": {"value": "${{ steps.q.outputs.o }}"}},
        "runs": {"using": "composite", "steps": [
            {"id": "q", "shell": "bash", "run": "echo o=5 >> $GITHUB_OUTPUT; bash x.sh"}]},
    }  # fmt: skip
    steps = ({"id": "c", "uses": "./a"}, 'show "r=${{ steps.c.outputs.r }}" "q=${{ steps.q.outputs.o }}"')
    content = workflow(*steps, defaults={"run": {"working-directory": "d"}})
    files = {"w.yml": content, "a/action.yml": action, "x.sh": "show root", "d/x.sh": "show d"}
    assert shown(files) == [["root"], ["r=5", "q="]]


def test_inputs_that_are_booleans_are_no_texts() -> None:
    callee = workflow("show '${{ inputs.b }}' '${{ inputs.b && 1 || 2 }}' '${{ inputs.c && 1 || 2 }}'")
    callee["on"] = {"workflow_call": {"inputs": {"b": {"type": "boolean"}, "c": {"type": "boolean"}}}}
    caller = {"on": "push", "jobs": {"x": {"uses": "./.github/workflows/callee.yml", "with": {"c": True}}}}
    assert shown({"callee.yml": callee, "caller.yml": caller}) == [["false", "2", "1"]]


def test_the_environment_of_a_step_is_evaluated_before_it_is_set() -> None:
    content = workflow({"run": "show $B", "env": {"A": "step", "B": "${{ env.A }}"}}, env={"A": "job"})
    assert shown({"w.yml": content}) == [["job"]]


def test_a_script_that_an_earlier_step_writes_is_said() -> None:
    _, not_checked = run({"w.yml": workflow("sed -i s/a/b/ run.sh", "bash run.sh x")})
    assert [(each.path, "an earlier step" in each.reason) for each in not_checked] == [("run.sh", True)]
