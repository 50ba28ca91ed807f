"""The worker process: same result as in-process, files on demand, nothing of this machine, no way out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from checks import sandbox
from checks.compare import review
from checks.sandbox import Request, SandboxFailed, Worker
from checks.snapshot import Snapshot
from tests.mini import SCRIPT, WORKFLOW, base_files, head_files, snapshot

ROOT = Path(sandbox.__file__).parent.parent


def empty(full: Snapshot) -> Snapshot:
    return Snapshot(full.tree, {}, full.commit)


def test_the_worker_says_what_the_core_says() -> None:
    head, base = snapshot(head_files(), "head"), snapshot(base_files(), "base")
    rounds: list[int] = []

    def fetch(blobs: Iterable[str]) -> dict[str, bytes]:
        wanted = list(blobs)
        rounds.append(len(wanted))
        return {blob: head.blobs.get(blob) or base.blobs[blob] for blob in wanted}

    report = sandbox.run(Request(empty(head), empty(base)), fetch)
    expected = review(head, base)
    assert replace(report, seconds=0.0, files=0) == replace(expected, seconds=0.0, files=0)
    assert len(rounds) <= sandbox.MAX_ROUNDS


def test_files_that_never_come_end_as_not_checked_after_bounded_rounds() -> None:
    head = empty(snapshot(head_files()))
    calls: list[list[str]] = []

    def fetch(blobs: Iterable[str]) -> dict[str, bytes]:
        calls.append(list(blobs))
        return {}

    report = sandbox.run(Request(head), fetch)
    assert len(calls) == sandbox.MAX_ROUNDS
    assert {WORKFLOW, SCRIPT} <= {each.path for each in report.not_checked}
    assert report.findings == ()


def in_the_worker(code: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` as the worker would after its lock-down."""
    prelude = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from checks.worker import lock_down; lock_down()\n"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", prelude + code],
        env={},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.fork()",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "open('/etc/passwd')",
        "import os; os.open('/etc/passwd', os.O_RDONLY)",
        "open('/tmp/written-by-the-sandbox', 'w')",
        "import os; os.remove('/tmp/x')",
    ],
)
def test_the_worker_reaches_nothing_of_this_machine(code: str) -> None:
    result = in_the_worker(code)
    assert result.returncode == 1
    assert "PermissionError" in result.stderr


def test_memory_is_bounded() -> None:
    result = in_the_worker("x = b'x' * (2 * 1024**3)")
    assert "MemoryError" in result.stderr


def test_the_worker_gets_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_REVIEW_PRIVATE_KEY", "must-not-appear")
    with Worker(Request(snapshot({}))) as worker:
        worker.ask({})
        environment = Path(f"/proc/{worker.process.pid}/environ").read_bytes()
    assert environment == b"LC_ALL=C.UTF-8\0"


def test_a_worker_that_is_killed_is_an_error_of_ours() -> None:
    with Worker(Request(snapshot({}))) as worker:
        worker.process.kill()
        worker.process.wait()
        with pytest.raises(SandboxFailed, match="signal 9"):
            worker.ask({})


def test_a_worker_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "WALL_SECONDS", -1.0)
    with Worker(Request(snapshot({}))) as worker, pytest.raises(SandboxFailed, match="took longer"):
        worker.ask({})


@pytest.mark.parametrize("answer", ["[]", "not json", '{"report": {}}', '{"need": 3}', "{}"])
def test_an_answer_that_is_not_understood_is_an_error_of_ours(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Worker(Request(snapshot({}))) as worker:
        monkeypatch.setattr(worker, "_receive", lambda: answer.encode())
        with pytest.raises(SandboxFailed, match="not understood"):
            worker.ask({})


def test_blobs_outside_the_tree_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    head = snapshot({"a.sh": "x"})
    with Worker(Request(head)) as worker:
        known = head.tree["a.sh"].blob
        monkeypatch.setattr(worker, "_receive", lambda: f'{{"need": ["{known}", "{"0" * 40}"]}}'.encode())
        assert worker.ask({}) == [known]
