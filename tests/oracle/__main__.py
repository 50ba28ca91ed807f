"""``make oracle REPO=…``: every ``*.sh`` of a clone under real bash and in the evaluator.

With ``--history FOLDER`` also all earlier versions of the scripts below that folder.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from checks.shell.evaluate import Evaluation, evaluate
from checks.shell.parse import parse
from checks.shell.scan import ShellSyntaxError
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import Field, text_of
from checks.snapshot import Refused, Snapshot
from tests.oracle.clone import head_of
from tests.oracle.compare import agrees, commands_of, invocations_of, misplaced, verdict
from tests.oracle.sandbox import Truth, run_tree, works
from tests.oracle.structure import by_shfmt
from tests.oracle.structure import ours as by_ourselves


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
        snapshot = head_of(chosen.repo)
        for case in _cases(chosen.repo, snapshot, chosen.history):
            if chosen.only in case.path:
                totals += _compare(case, snapshot, tree, Path(folder) / "copy")
    for name, count in totals.most_common():
        print(f"{count:6} {name}")
    return 0


def _cases(repo: Path, snapshot: Snapshot, history: list[str]) -> Iterator[Case]:
    seen: set[str] = set()
    for path in sorted(snapshot.tree):
        if path.endswith(".sh") and snapshot.tree[path].mode.startswith("100"):
            seen.add(snapshot.tree[path].blob)
            with contextlib.suppress(Refused):
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
        structure = by_shfmt(case.text)
        if structure is not None:
            result[
                "structure as shfmt has it" if by_ourselves(case.text) == structure else "structure differs"
            ] += 1
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
    theirs = commands_of(truth, training=True)
    ours = invocations_of(evaluation.paths[0], training=True)
    for argv, invocation in zip_longest(theirs, ours):
        if argv is None or invocation is None or not agrees(invocation, argv):
            words = invocation.argv if invocation else ()
            print(f"    bash: {_first_difference(argv or (), words)}")
            return


def _first_difference(argv: Sequence[str], words: Sequence[Field]) -> str:
    """The first word that differs, in bash's and in our reading."""
    written = ["".join(piece if isinstance(piece, str) else "…" for piece in word.text) for word in words]
    for theirs, ours in zip_longest(argv, written):
        if theirs != ours and "…" not in (ours or ""):
            return f"{theirs!r} for our {ours!r} of {written[:4]}"
    return f"{list(argv)[:6]} for our {written[:6]}"


if __name__ == "__main__":
    sys.exit(main())
