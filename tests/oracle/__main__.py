"""``make oracle REPO=…``: every ``*.sh`` of a clone under real bash and in the evaluator.

With ``--history FOLDER`` also all earlier versions of the scripts below that folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.git import Repository
from checks.shell.evaluate import Evaluation, evaluate
from checks.shell.parse import parse
from checks.shell.scan import ShellSyntaxError
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import text_of
from checks.snapshot import Snapshot
from tests.oracle.compare import commands_of, invocations_of, misplaced, verdict
from tests.oracle.sandbox import Truth, run_tree, works


@dataclass(frozen=True)
class Case:
    """One version of one script."""

    path: str
    text: str
    version: str


def main() -> int:
    """Print a line per script that is not exact, then the totals."""
    arguments = argparse.ArgumentParser(prog="oracle")
    arguments.add_argument("repo", type=Path)
    arguments.add_argument("--history", action="append", default=[])
    arguments.add_argument("--only", default="")
    chosen = arguments.parse_args()
    if not works():
        print("oracle: no working bubblewrap", file=sys.stderr)
        return 2
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(chosen.repo), str(tree)], check=True)
        shutil.rmtree(tree / ".git")
        subprocess.run(["chmod", "-R", "a-w", str(tree)], check=True)
        subprocess.run(["find", str(tree), "-type", "d", "-exec", "chmod", "u+w", "{}", "+"], check=True)
        snapshot = _snapshot(chosen.repo)
        for case in _cases(chosen.repo, snapshot, chosen.history):
            if chosen.only in case.path:
                totals += _compare(case, snapshot, tree, Path(folder) / "copy")
    for name, count in totals.most_common():
        print(f"{count:6} {name}")
    return 0


def _snapshot(repo: Path) -> Snapshot:
    repository = Repository(repo)
    snapshot = repository.snapshot(repository.commit("HEAD"))
    wanted = {
        entry.blob for path, entry in snapshot.tree.items() if path.endswith((".sh", ".py", ".txt", ".yaml"))
    }
    snapshot.blobs.update(repository.read(wanted))
    return snapshot


def _cases(repo: Path, snapshot: Snapshot, history: list[str]) -> Iterator[Case]:
    seen: set[str] = set()
    for path in sorted(snapshot.tree):
        if path.endswith(".sh") and snapshot.tree[path].mode.startswith("100"):
            seen.add(snapshot.tree[path].blob)
            yield Case(path, snapshot.text(path), "HEAD")
    for folder in history:
        log = [
            "git",
            "-C",
            str(repo),
            "log",
            "--all",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--format=",
            "--",
            folder,
        ]
        for line in subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines():
            _, _, _, blob, _, path = line.replace("\t", " ", 2).split(" ", 5)
            if path.endswith(".sh") and blob not in seen and set(blob) != {"0"}:
                seen.add(blob)
                show = subprocess.run(["git", "-C", str(repo), "cat-file", "blob", blob], capture_output=True)
                yield Case(path, show.stdout.decode(errors="replace"), blob[:10])


def _compare(case: Case, snapshot: Snapshot, tree: Path, copy: Path) -> Counter[str]:
    result: Counter[str] = Counter(scripts=1)
    try:
        parse(case.text)
        result["parsed"] += 1
    except ShellSyntaxError as error:
        print(f"{case.path} {case.version}: not parsed: {error.reason}")
    # Links instead of copies: the files are read-only and the sandbox has no right to change that.
    shutil.copytree(tree, copy, symlinks=True, copy_function=os.link)
    script = copy / case.path
    script.parent.mkdir(parents=True, exist_ok=True)
    script.unlink(missing_ok=True)
    script.write_text(case.text)
    script.chmod(0o755)
    truth = run_tree(copy, case.path)
    shutil.rmtree(copy)
    edited = snapshot.with_file(case.path, case.text.encode())
    shell = Shell(Source(case.path, case.text), zero=text_of(case.path), open=True)
    evaluation = evaluate(edited, shell)
    found = verdict(evaluation, truth, training=True)
    trains = bool(commands_of(truth, training=True))
    result[f"{'with' if trains else 'without'} a training command: {found}"] += 1
    wrong = [
        each
        for path in evaluation.paths
        for call in path.invocations
        for each in misplaced(call, {case.path: case.text})
    ]
    result["misplaced words"] += len(set(wrong))
    for each in dict.fromkeys(wrong):
        print(f"  misplaced {each}")
    if found == "some path":
        print(f"{case.path} {case.version}: some path, not the first")
    if found in ("differs", "not checked"):
        _explain(case, evaluation, truth)
    return result


def _explain(case: Case, evaluation: Evaluation, truth: Truth) -> None:
    print(f"{case.path} {case.version}: differs; status {truth.status}; {truth.errors.strip()[-200:]!r}")
    for reason in evaluation.not_checked:
        print(f"    not checked: {reason.path}: {reason.reason}")
    for argv in commands_of(truth, training=True):
        print(f"    bash: {' '.join(argv)[:300]}")
    for path in evaluation.paths[:3]:
        for each in invocations_of(path, training=True):
            words = ["".join(p if isinstance(p, str) else "…" for p in word.text) for word in each.argv]
            print(f"    ours: {' '.join(words)[:300]}")


if __name__ == "__main__":
    sys.exit(main())
