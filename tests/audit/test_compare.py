"""What a change introduces: absent at base, more severe than at base, or changed on a touched line."""

from __future__ import annotations

import pytest

from checks.compare import change_between, review
from checks.model import Report, Severity
from checks.snapshot import Snapshot
from tests.mini import (
    OLD_SCRIPT,
    REF_CONFIG,
    SCRIPT,
    WORKFLOW,
    base_files,
    edited,
    head_files,
    not_inheriting,
    snapshot,
)


def rules(report: Report) -> list[tuple[str, Severity]]:
    return [(finding.rule, finding.severity) for finding in report.findings]


def change(before: dict[str, str], after: dict[str, str], **options: object) -> Report:
    return review(snapshot(after, "head"), snapshot(before, "base"), **options)  # type: ignore[arg-type]


def test_the_sample_pull_request_has_exactly_one_finding() -> None:
    report = change(base_files(), head_files())
    assert rules(report) == [("role-parity", Severity.LOW)]
    assert {launch.status for launch in report.launches} == {"composed"}
    assert {(launch.script, launch.job.id if launch.job else None) for launch in report.launches} == {
        (SCRIPT, "gspo-moe-megatron"), (OLD_SCRIPT, "grpo-small-megatron"),
    }  # fmt: skip
    assert (report.base, report.head, report.not_checked) == ("base", "head", ())


def test_an_unchanged_finding_is_not_introduced_and_all_shows_it() -> None:
    after = edited(head_files(), OLD_SCRIPT, "rollout.n=4", "rollout.n=8")
    assert rules(change(head_files(), after)) == []
    assert rules(change(head_files(), after, everything=True)) == [("role-parity", Severity.LOW)]


def test_a_switch_that_raises_the_severity_is_introduced() -> None:
    before = not_inheriting(head_files())
    after = edited(before, SCRIPT, "use_kl_loss=False", "use_kl_loss=True")
    assert rules(change(before, after)) == [("role-parity", Severity.HIGH)]
    # Back again: less severe, but the evidence changed on the line that the change touches.
    assert rules(change(after, before)) == [("role-parity", Severity.MEDIUM)]


def test_changed_evidence_on_a_touched_line_is_introduced() -> None:
    after = edited(head_files(), SCRIPT, "moe_router_dtype=fp32", "moe_router_dtype=fp64")
    assert rules(change(head_files(), after)) == [("role-parity", Severity.LOW)]


def test_a_config_change_reaches_unchanged_scripts() -> None:
    before = edited(head_files(), SCRIPT, "use_kl_loss=False", "use_kl_loss=True")
    report = change(before, not_inheriting(before))
    assert rules(report) == [("role-parity", Severity.HIGH)]
    assert report.findings[0].path == SCRIPT


def test_a_tree_that_does_not_compose_at_base_is_no_fault_of_the_change() -> None:
    broken = {**base_files(), REF_CONFIG: "defaults: [nowhere]\n"}
    assert rules(change(broken, head_files())) == [("role-parity", Severity.LOW)]


def test_a_renamed_script_keeps_its_findings() -> None:
    before = head_files()
    after = {**before, WORKFLOW: before[WORKFLOW].replace("run_gspo_moe", "run_gspo_renamed")}
    after[SCRIPT.replace("run_gspo_moe", "run_gspo_renamed")] = after.pop(SCRIPT)
    report = change(before, after)
    assert rules(report) == []
    assert len(report.launches) == 2


def test_fingerprints_ignore_lines_and_values() -> None:
    first = change(base_files(), head_files()).findings[0]
    moved = edited(head_files(), SCRIPT, "set -x\n", "set -x\n\n\n")
    moved = edited(moved, SCRIPT, "moe_router_dtype=fp32", "moe_router_dtype=fp64")
    second = change(base_files(), moved).findings[0]
    assert first.fingerprint == second.fingerprint
    assert first.places != second.places


def test_given_paths_limit_what_is_reported() -> None:
    everything = review(snapshot(head_files()), None)
    script = review(snapshot(head_files()), None, given=frozenset({OLD_SCRIPT}))
    folder = review(snapshot(head_files()), None, given=frozenset({"tests"}))
    assert (len(everything.launches), len(script.launches), len(folder.launches)) == (2, 1, 2)
    assert (rules(script), rules(folder)) == ([], [("role-parity", Severity.LOW)])
    assert folder.findings[0].launches == (1,)


def test_a_path_given_by_hand_is_in_scope_whatever_it_says() -> None:
    files = {**base_files(), "run.sh": "python3 -m verl.trainer.main_ppo trainer.nnodez=1 trainer.nnodes=1\n"}
    assert review(snapshot(files), None).findings == ()
    assert rules(review(snapshot(files), None, given=frozenset({"run.sh"}))) == [
        ("unknown-override", Severity.HIGH)
    ]


def test_missing_files_are_named_and_nothing_is_claimed() -> None:
    head, base = snapshot(head_files()), snapshot(base_files())
    empty = Snapshot(head.tree, {}), Snapshot(base.tree, {})
    report = review(*empty)
    assert report.findings == ()
    assert empty[0].needed >= {WORKFLOW, SCRIPT}


def test_files_that_are_refused_are_not_checked_and_the_rest_is_reviewed() -> None:
    bomb = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(7)
    )
    files: dict[str, str | bytes] = {
        **head_files(),
        "tests/special_npu/run_latin_npu.sh": "# \xe9\n".encode("latin-1"),
        "tests/special_npu/run_large_npu.sh": "#" * (256 * 1024 + 1),
        ".github/workflows/bomb_ascend.yml": bomb,
        ".github/workflows/deep_ascend.yml": "a: " + "[" * 9999,
    }
    report = review(snapshot(files), snapshot(base_files()))
    assert rules(report) == [("role-parity", Severity.LOW)]
    reasons = {each.path: each.reason for each in report.not_checked}
    assert "is not UTF-8" in reasons["tests/special_npu/run_latin_npu.sh"]
    assert "262145 bytes" in reasons["tests/special_npu/run_large_npu.sh"]
    assert "more than 50000 nodes" in reasons[".github/workflows/bomb_ascend.yml"]
    assert "nested deeper" in reasons[".github/workflows/deep_ascend.yml"]
    assert len(reasons) == 4


def test_changed_lines_are_those_of_head() -> None:
    lines = change_between(
        snapshot({"a.sh": "1\n2\n3\n"}), snapshot({"a.sh": "1\nx\n3\ny\n", "b.sh": "z\n"})
    ).lines
    assert lines["a.sh"] == frozenset({2, 4})
    assert 1 in lines["b.sh"]


@pytest.mark.parametrize("starter", ["xargs python3 -m", "my_launcher -m", "ray job submit python3 -m"])
def test_a_launch_behind_an_unknown_wrapper_is_not_silently_passed(starter: str) -> None:
    text = f"{starter} verl.trainer.main_ppo trainer.nnodes=1 trainer.total_epochs=2\n"
    report = review(snapshot({**base_files(), "run_npu.sh": text}), None)
    assert [each.reason for each in report.not_checked] == [
        "line 1: overrides for a command that is not recognised"
    ]


@pytest.mark.parametrize(
    "override", ["trainer.logger=[a", "trainer.nnodes=1,2", "model_engine=nowhere", "~trainer.x"]
)
def test_a_launch_that_hydra_refuses_for_a_reason_without_rule_is_not_checked(override: str) -> None:
    text = f"python3 -m verl.trainer.main_ppo '{override}' trainer.total_epochs=2\n"
    report = review(snapshot({**base_files(), "run_npu.sh": text}), None)
    assert [launch.status for launch in report.launches if launch.script == "run_npu.sh"] == ["rejected"]
    (unchecked,) = report.not_checked
    assert (unchecked.path, unchecked.reason.startswith("line 1: rejected: ")) == ("run_npu.sh", True)


def test_a_renamed_key_is_found_in_launches_that_nobody_touched() -> None:
    before = {
        **base_files(),
        "examples/run_alone_npu.sh": "python3 -m verl.trainer.main_ppo trainer.nnodes=2 a.b=1\n",
    }
    path = "verl/trainer/config/ppo_trainer.yaml"
    after = edited(before, path, "nnodes:", "number_of_nodes:")
    report = change(before, after)
    assert {(finding.rule, finding.path) for finding in report.findings} >= {
        ("unknown-override", "examples/run_alone_npu.sh")
    }
    broken = edited(before, path, "nnodes:", "nnodes: [")
    assert {each.path for each in change(before, broken).not_checked} >= {
        "examples/run_alone_npu.sh",
        OLD_SCRIPT,
    }


def test_a_deleted_script_that_a_job_still_runs_is_said() -> None:
    after = {path: text for path, text in base_files().items() if path != OLD_SCRIPT}
    (unchecked,) = change(base_files(), after).not_checked
    assert (unchecked.path, "is not a file of this commit" in unchecked.reason) == (WORKFLOW, True)


def test_a_folder_limits_what_is_reported_and_adds_nothing() -> None:
    text = "python3 -m verl.trainer.main_ppo trainer.nnods=2\n"
    head = {**head_files(), "examples/run_gpu.sh": text}
    whole = change(base_files(), head, given=frozenset({""}))
    assert {launch.script for launch in whole.launches} == {SCRIPT, OLD_SCRIPT}
    part = change(base_files(), head, given=frozenset({"examples"}))
    assert (part.launches, part.findings) == ((), ())
    by_name = change(base_files(), head, given=frozenset({"examples/run_gpu.sh"}))
    assert rules(by_name) == [("unknown-override", Severity.HIGH)]


def test_a_repository_names_its_own_runners() -> None:
    settings = (
        "runners:\n- {label: 'my-npu-*', chip: Atlas A3, npus: 4}\n"
        "- {label: linux-aarch64-a3-16, chip: x, npus: 2}\n"
    )
    job = "on: push\njobs:\n  a:\n    runs-on: my-npu-7\n    steps: [{run: bash run_x.sh}]\n"
    workflow = {
        ".github/workflows/x.yml": job,
        "run_x.sh": "python3 -m verl.trainer.main_ppo trainer.nnodes=2\n",
    }
    files = {**head_files(), **workflow, ".github/npu-review.yml": settings}
    report = review(snapshot(files), None)
    npus = {launch.script: launch.job.npus for launch in report.launches if launch.job}
    assert (npus["run_x.sh"], npus[SCRIPT]) == (4, 2)
    # What the change itself says of runners does not count.
    assert "run_x.sh" not in {
        launch.script for launch in change({**head_files(), **workflow}, files).launches
    }


@pytest.mark.parametrize("text", ["runners: 5", "runners: [{label: x}]", "runners: [", "- 1", "just text"])
def test_a_wrong_configuration_is_said_and_the_rest_reviewed(text: str) -> None:
    report = review(snapshot({**head_files(), ".github/npu-review.yml": text}), None)
    assert [each.path for each in report.not_checked] == [".github/npu-review.yml"]
    assert len(report.launches) == 2


@pytest.mark.parametrize(
    ("flags", "status", "reason"),
    [
        ("--config-dir extra +more=own", "composed", None),
        ("--config-dir=extra/ --config-name own_main", "composed", None),
        ("--config-dir ../outside", "unresolved", "lies outside the repository"),
        ("--config-name=$NAME", "unresolved", "is not known"),
        ("--config-path $FOLDER", "unresolved", "is not known"),
        ("--config-dir=extra --config-name nowhere", "rejected", "Cannot find primary config"),
    ],
)
def test_hydra_flags_on_the_command_line(flags: str, status: str, reason: str | None) -> None:
    files = {
        **base_files(),
        "extra/more/own.yaml": "# @package _global_\ndata: {shuffle_more: true}\n",
        "extra/own_main.yaml": "defaults: [ppo_trainer, _self_]\ntrainer: {nnodes: 7}\n",
        "run_npu.sh": f"python3 -m verl.trainer.main_ppo {flags} trainer.nnodes=2 trainer.total_epochs=1\n",
    }
    (launch,) = [each for each in review(snapshot(files), None).launches if each.script == "run_npu.sh"]
    assert launch.status == status, launch.reason
    assert (reason or "") in (launch.reason or "")
