"""Conditions that nobody can know: both sides are gone through, and equal questions get equal answers."""

from __future__ import annotations

import pytest

from checks.shell.evaluate import MAX_PATHS, Evaluation, evaluate, evaluate_path
from checks.shell.source import Source
from checks.shell.state import Shell
from tests.mini import snapshot


def run(text: str, **files: str) -> Evaluation:
    tree = snapshot({"run.sh": text, **{name.replace("__", "."): content for name, content in files.items()}})
    return evaluate(tree, Shell(Source("run.sh", text), zero=("run.sh",), open=True))


def shown(text: str) -> list[list[str | None]]:
    """What ``show`` is given on each path, all its calls joined."""
    evaluation = run(text)
    assert evaluation.not_checked == ()
    return [
        [word.known for each in path.invocations if each.argv[0].known == "show" for word in each.argv[1:]]
        for path in evaluation.paths
    ]


@pytest.mark.parametrize(
    ("script", "paths"),
    [
        ('[ -z "$A" ] && A=d\nshow x', [["x"], ["x"]]),
        ('if [ -z "$A" ]; then show empty; else show given; fi', [["empty"], ["given"]]),
        ('if [ -n "$A" ]; then show given; else show empty; fi', [["empty"], ["given"]]),
        ('if [ "$A" = x ]; then show x; elif [ "$A" = y ]; then show y; fi', [[], ["x"], ["y"]]),
        ("case $A in x) show x;; y|z) show yz;; *) show other;; esac", [["other"], ["x"], ["yz"], ["yz"]]),
        ("if [ -f /data/x ]; then show there; else show gone; fi", [["there"], ["gone"]]),
        ("if program; then show ok; else show failed; fi", [["ok"], ["failed"]]),
        ("program && show after", [["after"]]),
        ("program || show failed", [[], ["failed"]]),
        ("A=0; grep -q x y && A=1; show $A", [["1"], ["0"]]),
        ("A=0; mkdir -p x && A=1; show $A", [["1"]]),
        ("while program; do show round; done", [["round"], []]),
        ("for A in $LIST; do show in; done", [["in"]]),
        ("[[ -n $A && $B == 1 ]] && show both", [[], [], ["both"]]),
    ],
)
def test_both_sides_are_gone_through(script: str, paths: list[list[str]]) -> None:
    assert sorted(shown(script)) == sorted(paths)
    assert shown(script)[0] == paths[0]


@pytest.mark.parametrize(
    "script",
    [
        'if [ -z "$A" ]; then show e; fi\nif [ -z "$A" ]; then show e; else show g; fi',
        'if [ -z "$A" ]; then show e; fi\nif [ -n "$A" ]; then show g; else show e; fi',
        'if [ -z "$A" ]; then show e; fi\nif [[ "$A" == "" ]]; then show e; else show g; fi',
        'if [ -z "$A" ]; then show e; fi\nshow ${A:+g}',
    ],
)
def test_the_same_question_is_asked_once(script: str) -> None:
    assert len(shown(script)) == 2


def test_a_default_is_not_taken_on_the_path_where_the_variable_is_given() -> None:
    assert shown('if [ -n "$A" ]; then :; A_GIVEN=1; fi\nshow ${A:-default}') == [["default"], [None]]


@pytest.mark.parametrize(
    "script",
    [
        'if [ -z "$A" ]; then echo usage; exit 1; fi\nshow x',
        "if [ -d /data ]; then mkdir -p /data/x; else echo no; fi\nshow x",
        '[ -n "$A" ] || { echo "set A"; exit 1; }\nshow x',
        "if [ -e /x ]; then if [ -f /y ]; then rm -rf /y; fi; fi\nshow x",
        "case $A in debug) echo debug;; *) ;; esac\nshow x",
        "command -v npu-smi || echo none\nshow x",
        'check() { [ -n "$A" ] || exit 1; }\ncheck\nshow x',
    ],
)
def test_branches_that_change_nothing_are_not_explored(script: str) -> None:
    assert shown(script) == [["x"]]


@pytest.mark.parametrize(
    ("script", "paths"),
    [
        ('A=$([ "$N" -gt 0 ] && echo 1 || echo 0)\nshow $A', [["0"], ["1"]]),
        ('A=$(if [ -n "$B" ]; then echo b; fi)\nshow "$A"', [[""], ["b"]]),
        ("f() { case $B in x) echo x;; *) echo other;; esac; }\nshow $(f)", [["other"], ["x"]]),
        (
            'f() { if [ -z "$B" ]; then return 1; fi; }\nif f; then show ok; else show no; fi',
            [["no"], ["ok"]],
        ),
        ('f() { if [ -z "$B" ]; then return; fi; C=1; }\nf\nshow ${C:-0}', [["0"], ["1"]]),
        ('check() { [ -n "$B" ] || exit 1; }\nif (check); then show ok; else show no; fi', [["no"], ["ok"]]),
    ],
)
def test_what_is_read_or_asked_for_is_explored(script: str, paths: list[list[str]]) -> None:
    assert shown(script) == paths


def test_a_comparison_that_known_parts_decide_is_no_question() -> None:
    script = (
        "M=$HOME/models/Qwen3-8B\n[[ $M == *Qwen* ]] && show qwen\n[[ $M == *Llama ]] || show no\n"
        '[ "$M" = "" ] || show full\n[ -z "$M" ] || show full\n[[ $M == x-8C ]] || show no'
    )
    assert shown(script) == [["qwen", "no", "full", "full", "no"]]


def test_more_paths_than_the_cap_are_said() -> None:
    evaluation = run("".join(f'[ -n "$A{n}" ] && B{n}=1\n' for n in range(8)) + "show x")
    assert len(evaluation.paths) == MAX_PATHS
    assert [each.reason for each in evaluation.not_checked] == [
        f"{MAX_PATHS} ways through this script are judged, it has more"
    ]
    assert {decision.holds for decision in evaluation.paths[0].decisions} == {False}


def test_a_loop_that_waits_for_the_outside_ends() -> None:
    assert shown("while true; do\n  if program; then show done; break; fi\n  sleep 1\ndone\nshow after") == [
        ["done", "after"],
        [],
    ]


def test_a_script_that_only_complains_without_arguments_is_given_some() -> None:
    script = 'if [ $# -lt 2 ]; then echo usage; exit 1; fi\nA=$1\nshift 2\nshow "$A" "$@" end'
    assert shown(script) == [[None, "end"]]


def test_a_sourced_file_outside_the_tree_may_have_set_what_has_a_default() -> None:
    evaluation = run("source settings.sh\nshow ${A:-d} $B")
    assert [each.reason for each in evaluation.not_checked] == [
        "line 1: `settings.sh` is not a file of this commit; what it sets is not known"
    ]
    assert [word.known for word in evaluation.paths[0].invocations[0].argv[1:]] == [None, None]
    assert shown("source ~/venv/bin/activate\nshow ${A:-d}") == [["d"]]


def test_a_path_is_taken_again_by_its_plan() -> None:
    text = 'if [ "$A" = x ]; then show x; elif [ "$A" = y ]; then show y; fi'
    shell = Shell(Source("run.sh", text), open=True)
    tree = snapshot({"run.sh": text})
    for path in evaluate(tree, shell).paths:
        assert evaluate_path(tree, shell, path.plan) == path


def test_select_runs_once_on_an_unknown_choice() -> None:
    assert shown("select A in x y; do show $A; break; done") == [[None]]
