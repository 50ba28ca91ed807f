"""The parent of the worker process: sends a review, fetches what it asks for, kills what runs over.

The worker's answers are data from untrusted ground: JSON of bounded size, every blob it asks for is checked
against the tree listings (DESIGN, *The sandbox boundary*).
"""

from __future__ import annotations

import json
import pickle
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.model import Report
from checks.report.json import from_dict
from checks.snapshot import Snapshot

MAX_ROUNDS = 4
MAX_ANSWER_BYTES = 32 * 1024 * 1024
WALL_SECONDS = 180.0
START = "import sys; sys.path.insert(0, {root!r}); from checks.worker import main; main()"


class SandboxFailed(Exception):
    """The worker died, ran over a limit or answered nonsense; the text says which, without any content."""


@dataclass(frozen=True)
class Request:
    """One review. The snapshots hold the tree listings and whatever bytes are already there."""

    head: Snapshot
    base: Snapshot | None = None
    given: frozenset[str] = frozenset()
    everything: bool = False

    def blobs(self) -> dict[str, str]:
        """Every blob id of both trees with one of its paths."""
        sides = [side for side in (self.base, self.head) if side is not None]
        return {entry.blob: path for side in sides for path, entry in side.tree.items()}


class Worker:
    """One worker process for one review. Use as a context manager; ``ask`` until a Report comes."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.known = request.blobs()
        self.rounds = 0
        self.deadline = time.monotonic() + WALL_SECONDS
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", START.format(root=str(Path(__file__).resolve().parent.parent))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, blobs: dict[str, bytes]) -> Report | list[str]:
        """Send ``blobs``; the answer is the report or the blob ids still needed. Raises SandboxFailed."""
        message: dict[str, Any] = {"blobs": blobs, "last": self.rounds >= MAX_ROUNDS}
        if self.rounds == 0:
            head, base = self.request.head, self.request.base
            message |= {
                "head": {"tree": dict(head.tree), "commit": head.commit},
                "base": {"tree": dict(base.tree), "commit": base.commit} if base else None,
                "given": sorted(self.request.given),
                "everything": self.request.everything,
            }
        self.rounds += 1
        self._send(pickle.dumps(message))
        try:
            answer = json.loads(self._receive())
            if "report" in answer:
                return from_dict(answer["report"])
            return [blob for blob in answer["need"] if blob in self.known]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise SandboxFailed("the worker's answer is not understood") from None

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(struct.pack(">Q", len(message)) + message)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise SandboxFailed(self._end()) from None

    def _receive(self) -> bytes:
        (length,) = struct.unpack(">Q", self._read(8))
        if length > MAX_ANSWER_BYTES:
            raise SandboxFailed(f"the worker's answer is larger than {MAX_ANSWER_BYTES} bytes")
        return self._read(length)

    def _read(self, length: int) -> bytes:
        assert self.process.stdout is not None
        stream, data = self.process.stdout, bytearray()
        while len(data) < length:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                raise SandboxFailed(f"the worker took longer than {WALL_SECONDS:.0f} s")
            part = stream.read1(length - len(data))  # type: ignore[attr-defined]
            if not part:
                raise SandboxFailed(self._end())
            data += part
        return bytes(data)

    def _end(self) -> str:
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "the worker closed its output"
        if code < 0:
            return f"the worker was ended by signal {-code} (memory or CPU limit)"
        return f"the worker ended with code {code}"


def run(request: Request, fetch: Callable[[Iterable[str]], dict[str, bytes]]) -> Report:
    """Review in a fresh worker; ``fetch`` gives the bytes of blob ids. Raises SandboxFailed."""
    blobs = dict(request.head.blobs)
    if request.base is not None:
        blobs |= request.base.blobs
    with Worker(request) as worker:
        while True:
            answer = worker.ask(blobs)
            if isinstance(answer, Report):
                return answer
            blobs = fetch(answer)
