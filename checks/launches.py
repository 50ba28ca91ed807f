"""From the commands a script starts to launches: training commands with their overrides and entry point."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from checks.hydra.compose import Composer, Unresolvable
from checks.hydra.config import EffectiveConfig
from checks.hydra.entry import Entry, Flags, NoEntry, NotHydra, OutsideTree, find_entry, nearest_entry
from checks.hydra.overrides import Fault, Override, override_of, unresolved
from checks.hydra.unknown import marked
from checks.markdown import code
from checks.model import Job, LaunchStatus, LaunchSummary, Span
from checks.shell.evaluate import Invocation
from checks.shell.value import Field, Text
from checks.snapshot import NotFetched, Snapshot, SnapshotError

_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_STARTERS = frozenset({"torchrun", "accelerate", "deepspeed"})
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


@dataclass(frozen=True)
class Launch:
    """One training command in one calling context.

    ``scripts`` are the files on the way to it, outermost first; ``environment`` is what the command gets.
    ``config`` is set when the status is *composed*; ``faults`` when it is *rejected*. ``assumption`` is set
    when the entry point lies outside the tree and the launch was composed on the tree's nearest config:
    what is said of it holds only under that condition.
    """

    script: str
    span: Span
    scripts: tuple[str, ...]
    job: Job | None
    environment: Mapping[str, Text]
    module: str
    entry: Entry | None
    overrides: tuple[Override, ...]
    status: LaunchStatus
    reason: str | None = None
    config: EffectiveConfig | None = None
    faults: tuple[Fault, ...] = ()
    assumption: str | None = None
    tried: EffectiveConfig | None = field(default=None, repr=False)
    """The config without the overrides that Hydra refused, for explaining them."""

    @property
    def summary(self) -> LaunchSummary:
        """What a report says of it."""
        return LaunchSummary(
            self.script,
            self.span.line,
            self.job,
            self.module,
            self.entry.config if self.entry else None,
            len(self.overrides),
            self.status,
            self.reason,
        )


def command_of(invocation: Invocation) -> Command | None:
    """The training command that ``invocation`` is, None if it is some other command."""
    argv = list(invocation.argv)
    name = argv[0].known if argv else None
    if name is None:
        return None
    program = name.rpartition("/")[2]
    if _PYTHON.fullmatch(name):
        return _python(argv[1:], "python")
    if program in _STARTERS:
        return _starter(argv[1:], program)
    return None


def _python(words: list[Field], starter: str) -> Command | None:
    while words and (text := words[0].known) is not None and text.startswith("-"):
        if text == "-m" and len(words) > 1:
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
        name, separator, value = (word.known or "").partition("=")
        if name in _HYDRA_FLAGS:
            following = value if separator else ((next(rest, None) or word).known or "")
            flags[_HYDRA_FLAGS[name]] = following
        else:
            overrides.append(word)
    return Command(module.known.removeprefix("./"), Flags(**flags), tuple(overrides), starter)


def _is_test(module: str) -> bool:
    return posixpath.basename(module).startswith("test_")


def looks_like_training(words: Sequence[Field]) -> bool:
    """True if the words hold Hydra overrides, whatever command they are given to."""
    dotted = [word for word in words if re.match(r"[+~]*\w+\.[\w.]+=", marked(word.text))]
    return len(dotted) >= 2


def resolve(
    snapshot: Snapshot, composer: Composer, invocation: Invocation, command: Command, job: Job | None
) -> Launch | None:
    """The launch with its effective config; None if the command trains nothing. Raises NotFetched."""
    launch = Launch(
        script=invocation.scripts[-1],
        span=invocation.span,
        scripts=invocation.scripts,
        job=job,
        environment=invocation.environment,
        module=command.module,
        entry=None,
        overrides=tuple(override_of(word) for word in command.words),
        status="unresolved",
    )
    trains = looks_like_training(command.words)
    if invocation.cwd is None:
        return replace(launch, reason="the working directory is not known") if trains else None
    try:
        entry = find_entry(snapshot, command.module, command.flags, invocation.cwd)
    except NotFetched:
        raise
    except NotHydra as error:
        is_started = command.starter != "python" and not _is_test(command.module)
        return replace(launch, status="not-hydra", reason=str(error)) if is_started else None
    except OutsideTree as error:
        launch = replace(launch, reason=str(error))
        return _assumed(snapshot, composer, command, launch, invocation.cwd) if trains else None
    except (NoEntry, SnapshotError) as error:
        return replace(launch, reason=str(error)) if trains else None
    return _composed(snapshot, composer, command, replace(launch, entry=entry))


def _composed(snapshot: Snapshot, composer: Composer, command: Command, launch: Launch) -> Launch:
    assert launch.entry is not None
    if reason := _unresolved_words(command):
        return replace(launch, reason=reason)
    try:
        composed = composer.compose(launch.entry, launch.overrides)
    except Unresolvable as error:
        return replace(launch, reason=str(error))
    if isinstance(composed, Fault):
        return replace(launch, status="rejected", reason=code(composed.reason), faults=(composed,))
    config = EffectiveConfig(composed, snapshot)
    if composed.faults:
        reason = code(composed.faults[0].reason)
        return replace(launch, status="rejected", reason=reason, faults=composed.faults, tried=config)
    return replace(launch, status="composed", config=config)


def _unresolved_words(command: Command) -> str | None:
    for word in command.words:
        if reason := unresolved(word):
            return reason
        if (word.known or "").startswith("-"):
            return f"line {word.span.line}: the flag {code(word.known or '')} is not evaluated"
    return None


def _assumed(snapshot: Snapshot, composer: Composer, command: Command, launch: Launch, cwd: str) -> Launch:
    """The launch of a submodule's entry point, composed on the tree's config of the nearest name.

    It stays *unresolved*: its own config is not part of this tree. Rules may use ``config`` only together
    with ``assumption``. Nothing is assumed where an override of a role does not fit the nearest config.
    """
    nearest = nearest_entry(snapshot, command.module, command.flags, cwd)
    if nearest is None:
        return launch
    composed = _composed(snapshot, composer, command, replace(launch, entry=nearest))
    config = composed.config or composed.tried
    misfits = [
        fault
        for fault in composed.faults
        if fault.override is None or fault.override.key.startswith("actor_rollout_ref.")
    ]
    if config is None or misfits:
        return launch
    assumption = (
        f"{code(command.module)} extends {code(nearest.config)} and leaves the roles as they are there"
    )
    return replace(launch, config=config, assumption=assumption)


__all__ = ["Command", "Launch", "command_of", "looks_like_training", "resolve"]
