"""``npu-review check`` on real git repositories: what it reads, what it prints, how it exits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.git import GitError, Repository
from tests.mini import OLD_SCRIPT, SCRIPT, base_files, edited, head_files, not_inheriting

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        [*GIT, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def commit(folder: Path, files: dict[str, str]) -> str:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A repository with base and head commit; base's branch has moved on since."""
    folder = tmp_path_factory.mktemp("clone")
    git(folder, "init", "-q", "-b", "main")
    base = commit(folder, base_files())
    git(folder, "checkout", "-q", "-b", "pull")
    head = commit(folder, head_files())
    git(folder, "checkout", "-q", "main")
    commit(folder, {"README.md": "moved on\n"})
    git(folder, "checkout", "-q", "pull")
    return folder, base, head


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check", *arguments])
    return result.exit_code, result.output


def as_json(*arguments: str) -> dict[str, Any]:
    code, output = check(*arguments, "--format", "json", "--fail-on", "none")
    assert code == 0, output
    data: dict[str, Any] = json.loads(output)
    return data


def test_a_change_is_compared_with_its_merge_base(clone: tuple[Path, str, str]) -> None:
    folder, base, head = clone
    data = as_json("--repo", str(folder), "--base", "main", "--head", "pull")
    assert (data["schema"], data["base"], data["head"]) == (1, base, head)
    (finding,) = data["findings"]
    assert (finding["rule"], finding["severity"], finding["path"], finding["line"]) == (
        "role-parity",
        "low",
        SCRIPT,
        35,
    )
    assert [data["launches"][index]["script"] for index in finding["launches"]] == [SCRIPT]
    assert data["launches"][finding["launches"][0]]["job"] == {
        "workflow": ".github/workflows/nightly_ascend.yml", "id": "gspo-moe-megatron",
        "runner": "linux-aarch64-a3-16", "npus": 16,
        "matrix": None,
    }  # fmt: skip


CONTRACT = {
    "": {"schema", "base", "head", "launches", "findings", "not_checked", "stats"},
    "launches": {"script", "line", "job", "module", "config", "overrides", "status", "reason"},
    "findings": {
        "rule", "severity", "title", "message", "path", "line", "end_line", "places", "launches", "also",
        "condition", "related", "evidence", "fix", "fingerprint",
    },
    "places": {"path", "line", "end_line"},
    "related": {"path", "line", "end_line", "message"},
    "evidence": {"key", "value", "path", "line"},
    "fix": {"path", "start_line", "end_line", "replacement"},
    "stats": {"seconds", "files", "rules"},
}  # fmt: skip


def test_the_json_contract(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, not_inheriting(head_files()))
    data = as_json("--repo", str(tmp_path), "--head", "HEAD")
    finding = data["findings"][0]
    for name, keys in CONTRACT.items():
        value = data if name == "" else data.get(name, finding.get(name))
        for row in value if isinstance(value, list) else [value]:
            assert keys <= set(row), name
    documented = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    assert [key for keys in CONTRACT.values() for key in keys if f"`{key}`" not in documented] == []


def test_head_alone_audits_that_commit_and_nothing_audits_the_working_tree(
    clone: tuple[Path, str, str],
) -> None:
    folder, base, head = clone
    assert as_json("--repo", str(folder), "--head", base)["findings"] == []
    assert len(as_json("--repo", str(folder), "--head", head)["findings"]) == 1
    working = as_json("--repo", str(folder))
    assert (working["head"], len(working["findings"])) == (None, 1)


def test_base_alone_compares_with_the_working_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, base_files())
    write(tmp_path, head_files())
    data = as_json("--repo", str(tmp_path), "--base", "HEAD")
    assert [finding["path"] for finding in data["findings"]] == [SCRIPT]


def test_ignored_and_deleted_files_are_not_part_of_the_working_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, head_files())
    (tmp_path / SCRIPT).unlink()
    write(
        tmp_path,
        {".gitignore": "local/\n", "local/run_npu.sh": "python3 -m verl.trainer.main_ppo a.b=1 c.d=2\n"},
    )
    data = as_json("--repo", str(tmp_path))
    assert {launch["script"] for launch in data["launches"]} == {OLD_SCRIPT}


def test_paths_limit_the_report_and_are_relative_to_the_folder(clone: tuple[Path, str, str]) -> None:
    folder, _, head = clone
    assert as_json("--repo", str(folder), "--head", head, OLD_SCRIPT)["findings"] == []
    assert len(as_json("--repo", str(folder), "--head", head, "tests")["findings"]) == 1
    inside = as_json("--repo", str(folder / "tests"), "--head", head, "special_npu")
    assert len(inside["findings"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--head", "nowhere"],
        ["--base", "nowhere"],
        ["--head", "HEAD", "no/such/file.sh"],
        ["--format", "xml"],
        ["--fail-on", "sometimes"],
        ["--nonsense"],
        ["--head", "--output=/tmp/x"],
    ],
)
def test_bad_arguments_exit_2(clone: tuple[Path, str, str], arguments: list[str]) -> None:
    code, output = check("--repo", str(clone[0]), *arguments)
    assert code == 2
    assert "Traceback" not in output


def test_no_repository_exits_2(tmp_path: Path) -> None:
    assert check("--repo", str(tmp_path))[0] == 2
    code, output = check("--repo", str(tmp_path / "absent"))
    assert (code, "is not a folder" in output) == (2, True)


def test_unrelated_histories_exit_2(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "a")
    commit(tmp_path, {"x": "1"})
    git(tmp_path, "checkout", "-q", "--orphan", "b")
    commit(tmp_path, {"x": "2"})
    code, output = check("--repo", str(tmp_path), "--base", "a", "--head", "b")
    assert (code, "share no history" in output) == (2, True)


def test_exit_codes_follow_the_threshold(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    files = edited(not_inheriting(head_files()), SCRIPT, "use_kl_loss=False", "use_kl_loss=True")
    commit(tmp_path, files)
    here = ("--repo", str(tmp_path), "--head", "HEAD")
    assert check(*here)[0] == 1
    assert check(*here, "--fail-on", "none")[0] == 0
    commit(tmp_path, head_files())
    assert check(*here)[0] == 0
    assert check(*here, "--fail-on", "medium")[0] == 0
    assert check(*here, "--fail-on", "low")[0] == 1


def test_what_is_not_checked_is_said_last_and_can_fail(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, {"run_npu.sh": "alias x=y; python3 x.py\n"})
    (tmp_path / "bad_npu.sh").write_bytes(b"\xff\xfe")
    code, output = check("--repo", str(tmp_path))
    assert code == 0
    assert output.splitlines()[-1] == "0 findings (0 high, 0 medium, 0 low) in 0 launches; 2 not checked"
    assert check("--repo", str(tmp_path), "--fail-on-unchecked")[0] == 1


def test_a_worker_that_dies_exits_3(clone: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checks.sandbox.START", "raise SystemExit(7)  # {root}")
    code, output = check("--repo", str(clone[0]), "--head", "HEAD")
    assert (code, "not reviewed: the worker ended with code 7" in output) == (3, True)


def test_text_names_place_message_evidence_and_fix(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, not_inheriting(head_files()))
    _, output = check("--repo", str(tmp_path), "--head", "HEAD")
    assert f"{SCRIPT}:35-38: medium role-parity: actor and reference model differ" in output
    assert "moe_router_dtype = fp32" in output
    assert "fix, composed and proven" in output
    assert output.splitlines()[-1].startswith(
        "1 finding (0 high, 1 medium, 0 low) in 2 launches; 0 not checked"
    )


def test_symlinks_and_submodules_are_listed_but_never_followed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "run_npu.sh").symlink_to("/etc/passwd")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    for snapshot in (Repository(tmp_path).snapshot("HEAD"), Repository(tmp_path).working_tree()):
        assert snapshot.tree["run_npu.sh"].mode == "120000"
    data = as_json("--repo", str(tmp_path), "--head", "HEAD")
    assert data["not_checked"] == [
        {"path": "run_npu.sh", "reason": "`run_npu.sh` is a symbolic link, which is not followed"}
    ]


def test_a_missing_object_is_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, {"a": "1"})
    with pytest.raises(GitError, match="is missing"):
        Repository(tmp_path).read(["0" * 40])
