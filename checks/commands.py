"""Training commands: what a script's command starts, behind every wrapper, and with which words.

Sources: Python docs, *Command line and environment*; Hydra docs, *Hydra's command line flags*; the manuals of
torchrun, accelerate, ``ray job submit`` and ``uv run``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from checks.hydra.entry import Flags
from checks.hydra.unknown import marked
from checks.shell.value import Field
from checks.shell.wrappers import LOCAL_RUNNERS

_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_STARTERS = frozenset({"torchrun", "accelerate", "deepspeed"})
_RUNNERS = LOCAL_RUNNERS | {"ray", "docker", "podman", "kubectl"}
# Modules and programs that run another module or file under watch.
_WATCHERS = frozenset({"cProfile", "profile", "pdb", "trace", "coverage", "debugpy", "viztracer", "kernprof"})
_STARTER_MODULES = frozenset({
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
    "deepspeed.launcher.launch",
})  # fmt: skip
_ENDS_IN_MODULE = re.compile(r"-[bBdEhiIOPqsSuvx]*m")
_PYTHON_FLAGS_WITH_VALUE = frozenset({"-W", "-X"})
_HYDRA_FLAGS = {
    "--config-path": "config_path", "-cp": "config_path",
    "--config-name": "config_name", "-cn": "config_name",
    "--config-dir": "config_dir", "-cd": "config_dir",
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A training command as written: module or file, Hydra flags, override words."""

    module: str
    flags: Flags
    words: tuple[Field, ...]
    starter: str


def command_of(argv: Sequence[Field]) -> Command | None:
    """The training command that ``argv`` is, None if it is some other command."""
    words = list(argv)
    while words and words[0].known is None and words[0].may_split:
        # `$LAUNCHER python -m …`: what is not known may be a wrapper, or nothing.
        words = words[1:]
        if words and words[0].known == "-m":
            return _python(words, "python")
    name = words[0].known if words else None
    if name is None:
        # `"$PYTHON" -m …`
        return _python(words[1:], "python") if len(words) > 2 and words[1].known == "-m" else None
    program = name.rpartition("/")[2]
    if _PYTHON.fullmatch(name):
        return _python(words[1:], "python")
    if program in _STARTERS:
        return _starter(words[1:], program)
    if program in _WATCHERS:
        return _starter(words[1:], "python")
    if program in _RUNNERS:
        behind = _behind(words[1:], program)
        if not behind and program == "uv":
            # `uv run file.py`, `uv run -m module`
            return _starter(words[1:], "python")
        return command_of(behind)
    return None


def _behind(words: list[Field], program: str) -> list[Field]:
    """The command that a runner starts: after ``--``, else from the first program that is known."""
    separator = next((number for number, word in enumerate(words) if word.known == "--"), None)
    if separator is not None:
        return words[separator + 1 :]
    if program == "ray":
        return []
    for number, word in enumerate(words):
        text = word.known or ""
        if _PYTHON.fullmatch(text) or text.rpartition("/")[2] in _STARTERS | _WATCHERS:
            return words[number:]
    return []


def _python(words: list[Field], starter: str) -> Command | None:
    while words and (text := words[0].known) is not None and text.startswith("-"):
        if _ENDS_IN_MODULE.fullmatch(text) and len(words) > 1:
            if words[1].known in _STARTER_MODULES:
                return _starter(words[2:], words[1].known or "")
            if words[1].known in _WATCHERS:
                return _starter(words[2:], starter)
            return _hydra_words(words[1], words[2:], starter)
        if text in ("-c", "-"):
            return None
        words = words[2 if text in _PYTHON_FLAGS_WITH_VALUE else 1 :]
    if words and (words[0].known or "").endswith(".py"):
        return _hydra_words(words[0], words[1:], starter)
    return None


def _starter(words: list[Field], program: str) -> Command | None:
    """``torchrun [options] -m module`` or ``… file.py``: options before the module are the starter's."""
    for number, word in enumerate(words):
        if word.known in ("-m", "--module") and number + 1 < len(words):
            return _hydra_words(words[number + 1], words[number + 2 :], program)
        if (word.known or "").endswith(".py"):
            return _hydra_words(word, words[number + 1 :], program)
    return None


def _hydra_words(module: Field, words: list[Field], starter: str) -> Command | None:
    if module.known is None:
        return None
    flags: dict[str, str] = {}
    overrides: list[Field] = []
    rest = iter(words)
    for word in rest:
        name, separator, value = marked(word.text).partition("=")
        if name in _HYDRA_FLAGS:
            flags[_HYDRA_FLAGS[name]] = value if separator else marked((next(rest, None) or word).text)
        else:
            overrides.append(word)
    return Command(module.known.removeprefix("./"), Flags(**flags), tuple(overrides), starter)


def is_test(module: str) -> bool:
    """True for a program that pytest would collect."""
    return posixpath.basename(module).startswith("test_")


def looks_like_training(words: Sequence[Field], least: int = 2) -> bool:
    """True if at least ``least`` words are Hydra overrides, whatever command they are given to."""
    return sum(bool(re.match(r"[+~]*\w+\.[\w.]+=", marked(word.text))) for word in words) >= least


def names_python(words: Sequence[Field]) -> bool:
    """True if one of the words is Python itself."""
    return any(_PYTHON.fullmatch(word.known or "") for word in words)


def command_inside(words: Sequence[Field]) -> Command | None:
    """The first training command that begins at one of the later ``words``."""
    for number, word in enumerate(words[1:], 1):
        text = word.known or ""
        if _PYTHON.fullmatch(text) or posixpath.basename(text) in _STARTERS:
            return command_of(words[number:])
    return None
