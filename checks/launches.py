"""From the commands a script starts to launches: training commands with their overrides and entry point."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from checks.commands import Command, command_of, is_test, looks_like_training
from checks.hydra.compose import Composer, Unresolvable
from checks.hydra.config import EffectiveConfig
from checks.hydra.entry import Entry, NoEntry, NotHydra, OutsideTree, find_entry, nearest_entry
from checks.hydra.module import MAX_MODULES_DEEP
from checks.hydra.overrides import Fault, Override, override_of, unresolved
from checks.markdown import code
from checks.model import Job, LaunchStatus, LaunchSummary, Span
from checks.shell.evaluate import Decision, Evaluation
from checks.shell.interpreter import Invocation
from checks.shell.value import Text
from checks.snapshot import NotFetched, Snapshot, SnapshotError


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
    decisions: tuple[tuple[Decision, ...], ...] = ((),)
    """The paths through the script on which it is started so."""

    @property
    def overrides_config(self) -> bool:
        """True if it is given overrides of a configuration."""
        return any("." in override.key for override in self.overrides)

    @property
    def plan(self) -> tuple[bool, ...]:
        """What makes the interpreter take the first of its paths."""
        return tuple(decision.holds for decision in self.decisions[0])

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


def launches_of(
    snapshot: Snapshot, composer: Composer, evaluation: Evaluation, job: Job | None
) -> Iterator[Launch]:
    """The launches of all paths, equal ones once."""
    variants: dict[tuple[object, ...], tuple[Invocation, list[tuple[Decision, ...]]]] = {}
    for path in evaluation.paths:
        for each in path.invocations:
            words = tuple(word.text for word in each.argv)
            key = (each.scripts, each.span, each.cwd, words, tuple(sorted(each.environment.items())))
            paths = variants.setdefault(key, (each, []))[1]
            if path.decisions not in paths:
                paths.append(path.decisions)
    for invocation, paths in variants.values():
        for launch in launches_on(snapshot, composer, [invocation], job):
            yield replace(launch, decisions=tuple(paths))


def find_files(snapshot: Snapshot, composer: Composer, evaluation: Evaluation) -> None:
    """Note in ``snapshot.needed`` the entry modules and config trees of all launches."""
    for invocation in (each for path in evaluation.paths for each in path.invocations):
        command = command_of(invocation.argv)
        if command is None or invocation.cwd is None:
            continue
        with contextlib.suppress(NotHydra, NoEntry, SnapshotError):
            composer.prepare(_entry(snapshot, command, invocation.cwd))


def _entry(snapshot: Snapshot, command: Command, cwd: str) -> Entry:
    """The entry; other files are looked into only for a command that overrides a config."""
    deep = MAX_MODULES_DEEP if looks_like_training(command.words, 1) else 0
    return find_entry(snapshot, command.module, command.flags, cwd, deep)


def launches_on(
    snapshot: Snapshot, composer: Composer, invocations: Iterable[Invocation], job: Job | None
) -> Iterator[Launch]:
    """The launches among ``invocations``; those whose files are not here yet are left out."""
    for invocation in invocations:
        command = command_of(invocation.argv)
        if command is None:
            continue
        try:
            launch = resolve(snapshot, composer, invocation, command, job)
        except NotFetched:
            continue
        if launch is not None:
            yield launch


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
    trains = looks_like_training(command.words, 1)
    if invocation.cwd is None:
        return replace(launch, reason="the working directory is not known") if trains else None
    try:
        entry = _entry(snapshot, command, invocation.cwd)
    except NotFetched:
        raise
    except NotHydra as error:
        is_started = (command.starter != "python" or trains) and not is_test(command.module)
        return replace(launch, status="not-hydra", reason=str(error)) if is_started else None
    except OutsideTree as error:
        launch = replace(launch, reason=str(error))
        return _assumed(snapshot, composer, command, launch, invocation.cwd) if trains else None
    except (NoEntry, SnapshotError) as error:
        return replace(launch, reason=str(error)) if trains else None
    return _composed(composer, command, replace(launch, entry=entry))


def _composed(composer: Composer, command: Command, launch: Launch) -> Launch:
    assert launch.entry is not None
    if reason := _unresolved_words(command):
        return replace(launch, reason=reason)
    try:
        composed = composer.compose(launch.entry, launch.overrides)
    except Unresolvable as error:
        return replace(launch, reason=str(error))
    if isinstance(composed, Fault):
        return replace(launch, status="rejected", reason=code(composed.reason), faults=(composed,))
    config = EffectiveConfig(composed)
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
    composed = _composed(composer, command, replace(launch, entry=nearest))
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
