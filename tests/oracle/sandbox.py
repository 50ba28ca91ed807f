"""Runs a script under real bash with nothing real behind it, and records every command that it starts.

bubblewrap gives an empty root with the system's programs read-only, no network, no home, an empty
environment and one writable folder: a temporary copy of the tree. On the PATH are harmless text programs and,
for everything else, a stub that only writes down its arguments.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SECONDS = 10
HOME = "/home/somebody"
TEXT_PROGRAMS = (
    "bash", "sh", "env", "basename", "dirname", "realpath", "readlink", "seq", "cat", "tr", "cut", "wc",
    "head", "tail", "expr", "sort", "sed", "grep", "nohup", "timeout", "nice", "mkdir", "touch", "rm",
    "ls", "tee", "cp", "mv", "rmdir", "ln",
)  # fmt: skip
STUBS = (
    "show",
    "python",
    "python3",
    "torchrun",
    "accelerate",
    "deepspeed",
    "uv",
    "ray",
    "pip",
    "git",
    "date",
    "nproc",
)
STUB = """#!/usr/bin/python3 -IS
import json, os, sys
name = os.path.basename(sys.argv[0])
argv = sys.argv[1:] if name == "record" else [name, *sys.argv[1:]]
with open("/oracle/log", "a") as log:
    log.write(json.dumps(argv) + "\\n")
"""
ON_UNKNOWN_COMMAND = 'command_not_found_handle() { /oracle/bin/record "$@"; }\n'


@dataclass(frozen=True)
class Truth:
    """What bash did: the commands that it started, in order, and its exit status (None: out of time)."""

    commands: tuple[tuple[str, ...], ...]
    status: int | None
    errors: str


@cache
def works() -> bool:
    """True if bubblewrap is here and may make its namespaces."""
    if shutil.which("bwrap") is None:
        return False
    probe = [
        "bwrap",
        "--ro-bind",
        "/usr",
        "/usr",
        "--symlink",
        "usr/lib",
        "/lib",
        "--unshare-all",
        "/usr/bin/true",
    ]
    if Path("/lib64").exists():
        probe[4:4] = ["--symlink", "usr/lib64", "/lib64"]
    return subprocess.run(probe, capture_output=True, timeout=20, check=False).returncode == 0


def run_files(files: Mapping[str, str], script: str, arguments: Sequence[str] = ()) -> Truth:
    """Run ``script`` of a small tree given as text."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for path, text in files.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            target.chmod(0o755)
        return run_tree(tree, script, arguments)


def run_tree(tree: Path, script: str, arguments: Sequence[str] = ()) -> Truth:
    """Run ``script`` with ``tree`` as its working directory; what it writes there stays there."""
    with tempfile.TemporaryDirectory() as folder:
        oracle = Path(folder)
        _prepare(oracle)
        log = oracle / "log"
        log.touch()
        try:
            done = subprocess.run(
                [*_sandbox(oracle, tree), "bash", script, *arguments],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, preexec_fn=_limit,
                check=False,
            )  # fmt: skip
            status, errors = done.returncode, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, errors = None, "out of time"
        commands = tuple(tuple(json.loads(line)) for line in log.read_text().splitlines())
        return Truth(commands, status, errors)


def _prepare(oracle: Path) -> None:
    programs = oracle / "bin"
    programs.mkdir()
    for name in TEXT_PROGRAMS:
        (programs / name).symlink_to(f"/usr/bin/{name}")
    (programs / "record").write_text(STUB)
    (programs / "record").chmod(0o755)
    for name in STUBS:
        (programs / name).symlink_to("record")
    (oracle / "env.sh").write_text(ON_UNKNOWN_COMMAND)


def _sandbox(oracle: Path, tree: Path) -> list[str]:
    links = [
        part
        for name in ("bin", "lib", "lib64", "sbin")
        if Path(f"/{name}").exists()
        for part in ("--symlink", f"usr/{name}", f"/{name}")
    ]
    return [
        "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
        "--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        "--dir", "/root", "--dir", HOME, "--cap-drop", "ALL",
        "--bind", str(tree), "/checkout", "--chdir", "/checkout",
        "--ro-bind", str(oracle / "bin"), "/oracle/bin",
        "--ro-bind", str(oracle / "env.sh"), "/oracle/env.sh",
        "--bind", str(oracle / "log"), "/oracle/log",
        # Every caller sets a home; nothing else is set.
        "--setenv", "HOME", HOME, "--setenv", "PATH", "/oracle/bin",
        "--setenv", "BASH_ENV", "/oracle/env.sh", "--",
    ]  # fmt: skip


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
