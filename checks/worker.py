"""The process that looks at untrusted files: no host file, no socket, no child, bounded memory and time.

It answers the messages of ``checks.sandbox`` and knows nothing else: neither a token nor the environment.
"""

from __future__ import annotations

import json
import pickle
import resource
import struct
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from checks.compare import prepare_review, review
from checks.model import NotChecked, Report
from checks.report.json import to_dict
from checks.snapshot import Snapshot

MEMORY_BYTES = 1536 * 1024 * 1024
CPU_SECONDS = 120
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove",
             "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "shutil.", "ctypes.")  # fmt: skip


def main() -> None:
    """Serve messages on standard input until it ends."""
    messages, answers = sys.stdin.buffer, sys.stdout.buffer
    lock_down()
    sys.setrecursionlimit(4000)
    job: _Job | None = None
    while (message := _receive(messages)) is not None:
        job = _Job(message) if job is None else job
        job.blobs.update(message["blobs"])
        answer = json.dumps(job.answer(last=message["last"])).encode()
        answers.write(struct.pack(">Q", len(answer)) + answer)
        answers.flush()


class _Job:
    """One review: the snapshots grow as files arrive."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.began = time.monotonic()
        self.blobs: dict[str, bytes] = {}
        self.head = Snapshot(message["head"]["tree"], self.blobs, message["head"]["commit"])
        base = message["base"]
        self.base = Snapshot(base["tree"], self.blobs, base["commit"]) if base else None
        self.given = frozenset(message["given"])
        self.everything = bool(message["everything"])

    def answer(self, *, last: bool) -> dict[str, Any]:
        """``need`` with the blob ids to fetch, or the ``report``."""
        sides = [side for side in (self.head, self.base) if side is not None]
        for side in sides:
            side.needed.clear()
        if not last:
            prepare_review(self.head, self.base, given=self.given, everything=self.everything)
            if any(side.needed for side in sides):
                return self.needed(sides)
        report = review(self.head, self.base, given=self.given, everything=self.everything, clock=self.began)
        if not last and any(side.needed for side in sides):
            return self.needed(sides)
        return {"report": to_dict(_with_missing(report, self.head))}

    def needed(self, sides: list[Snapshot]) -> dict[str, Any]:
        """The answer that asks for blobs."""
        return {"need": sorted({side.tree[path].blob for side in sides for path in side.needed})}


def _with_missing(report: Report, head: Snapshot) -> Report:
    missing = tuple(NotChecked(path, "could not be fetched") for path in sorted(head.needed))
    return Report(
        report.base,
        report.head,
        report.launches,
        report.findings,
        report.not_checked + missing,
        report.crashed,
        report.seconds,
        report.files,
        report.rules,
    )


def lock_down() -> None:
    """Limit memory, time and files, then refuse what an audit event shows to reach outside."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    readable = tuple(
        str(Path(folder).resolve())
        for folder in {sys.prefix, sys.base_prefix, *sys.path, str(Path(__file__).parent)}
        if folder
    )

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(FORBIDDEN):
            raise PermissionError(f"the sandbox refuses {event}")
        if event == "open":
            path, mode = arguments[0], arguments[1] or "r"
            if not isinstance(path, str) or set(mode) & set("wax+"):
                raise PermissionError("the sandbox refuses to write")
            if not str(Path(path).absolute()).startswith(readable):
                raise PermissionError("the sandbox refuses to read a file of this machine")

    sys.addaudithook(refuse)


def _receive(stream: BinaryIO) -> dict[str, Any] | None:
    header = stream.read(8)
    if len(header) < 8:
        return None
    (length,) = struct.unpack(">Q", header)
    message: dict[str, Any] = pickle.loads(stream.read(length))  # noqa: S301 - from our own parent
    return message


if __name__ == "__main__":
    main()
