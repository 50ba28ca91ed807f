"""``make bench REPO=clone``: what evaluating the scripts of a clone costs, beside bash -n and shfmt.

Each script is read, masked, parsed and evaluated on all its paths with empty caches. The other programs are
started once for each script, as anybody would who used them; their start is part of their time.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from checks.shell.evaluate import evaluate
from checks.shell.parse import parse
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import text_of
from checks.snapshot import Refused, Snapshot
from tests.oracle.clone import head_of


def main() -> int:
    """Print one line for each measurement."""
    arguments = argparse.ArgumentParser(prog="bench")
    arguments.add_argument("repo", type=Path)
    snapshot = head_of(arguments.parse_args().repo)
    scripts = {path: text for path in sorted(snapshot.tree) if (text := _text(snapshot, path)) is not None}
    ours = _measure(scripts, partial(_evaluate, snapshot))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shfmt = shutil.which("shfmt") or str(Path(sys.executable).with_name("shfmt"))
    _print("evaluate, all paths", ours)
    print(f"{'':24} peak memory {memory:.0f} MB")
    for name, command in (("shfmt --to-json", [shfmt, "--to-json"]), ("bash -n", ["bash", "-n"])):
        others = _measure(scripts, partial(_run, command))
        _print(name, others)
        print(f"{'':24} evaluate / {name} = {sum(ours) / sum(others):.2f}")
    return 0


def _text(snapshot: Snapshot, path: str) -> str | None:
    if not path.endswith(".sh"):
        return None
    try:
        return snapshot.text(path)
    except Refused:
        return None


def _evaluate(snapshot: Snapshot, path: str, text: str) -> None:
    parse.cache_clear()
    evaluate(snapshot, Shell(Source(path, text), zero=text_of(path), open=True))


def _run(command: Sequence[str], _: str, text: str) -> None:
    subprocess.run(command, input=text.encode(), capture_output=True, check=False)


def _measure(scripts: dict[str, str], action: Callable[[str, str], None]) -> list[float]:
    times: list[float] = []
    for path, text in scripts.items():
        began = time.perf_counter()
        action(path, text)
        times.append(time.perf_counter() - began)
    return times


def _print(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(
        f"{name:24} {len(times)} scripts: median {statistics.median(times) * 1e3:.1f} ms, "
        f"p95 {p95 * 1e3:.1f} ms, most {ordered[-1] * 1e3:.1f} ms, all {sum(times):.2f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
