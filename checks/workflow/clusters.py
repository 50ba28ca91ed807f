"""Jobs that submit a larger cluster: scripts handed over by path, and the NPUs of the cluster they run on.

A submitter job starts a RayJob through some program and gives it a script of the repository and patches of
the worker template, as text (verl ``.github/workflows/nightly_ascend_multinode.yml``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from checks.shell.interpreter import Invocation
from checks.shell.value import known
from checks.snapshot import Snapshot

_SCRIPT = re.compile(r"[\w./-]+\.sh\b")
_WORKER_NPUS = re.compile(r"huawei\.com(?:~1|/)[\w-]+\"\s*[,:]\s*(?:\"value\"\s*:\s*)?\"?(\d+)")
_REPLICAS = ("WORKER_REPLICAS", "NUM_WORKERS", "NNODES")


def submitted_scripts(tree: Snapshot, invocations: Iterable[Invocation]) -> Iterator[tuple[str, int | None]]:
    """Each script of the tree that is handed to another program, with the NPUs of its cluster if it says."""
    for invocation in invocations:
        words = [word.known or "" for word in invocation.argv[1:]]
        npus = _cluster_npus(words, invocation)
        for word in words:
            if not word.startswith(("[", "{")):
                continue
            for match in _SCRIPT.finditer(word):
                path = _in_tree(tree, match[0])
                if path is not None:
                    yield path, npus


def _in_tree(tree: Snapshot, written: str) -> str | None:
    """The path in the tree that ``written`` ends with, whatever folder the repository is copied to."""
    parts = written.lstrip("/").split("/")
    candidates = ("/".join(parts[start:]) for start in range(len(parts) - 1))
    return next((path for path in candidates if path in tree), None)


def _cluster_npus(words: list[str], invocation: Invocation) -> int | None:
    per_worker = {int(match) for word in words for match in _WORKER_NPUS.findall(word)}
    replicas = next(
        (known(invocation.environment[name]) for name in _REPLICAS if name in invocation.environment),
        None,
    )
    if len(per_worker) != 1 or replicas is None or not replicas.isdigit():
        return None
    return per_worker.pop() * int(replicas)
