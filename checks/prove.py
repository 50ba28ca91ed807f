"""Proves fixes: evaluates and composes the same context again with the files edited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from checks.contexts import Context
from checks.hydra.compose import Composer
from checks.hydra.config import EffectiveConfig
from checks.hydra.overrides import Fault
from checks.launches import Launch, launches_on
from checks.model import Edit
from checks.shell.evaluate import evaluate_path
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.snapshot import Snapshot


class SnapshotProver:
    """Proves fixes by evaluating and composing again with the files edited.

    ``context`` is the one of the launch; ``others`` are all that the audit looks at.
    """

    def __init__(
        self, snapshot: Snapshot, composer: Composer, context: Context, others: Sequence[Context]
    ) -> None:
        self.snapshot = snapshot
        self.composer = composer
        self.context = context
        self.others = others

    def line(self, path: str, number: int) -> str:
        """One line of a file, without its line end."""
        return self.snapshot.text(path).split("\n")[number - 1]

    def with_override(self, launch: Launch, text: str) -> EffectiveConfig | None:
        """The config with one more override at the end; None if Hydra refuses it."""
        assert launch.entry is not None
        last = replace(launch.overrides[-1], text=text)
        composed = self.composer.compose(launch.entry, (*launch.overrides, last))
        if isinstance(composed, Fault) or composed.faults:
            return None
        return EffectiveConfig(composed)

    def with_edit(self, launch: Launch, edits: tuple[Edit, ...]) -> Launch | None:
        """The launch at the same position of the same context after ``edits``.

        None if it is gone, if a command begins or ends elsewhere, or if another launch gets a new fault.
        """
        if _overlap(edits):
            return None
        edited = apply(self.snapshot, edits)
        composer = Composer(edited, self.composer.bases)
        pairs = self._pairs(self.context, edited, composer, launch.plan)
        found = next((after for before, after in pairs or () if before.span == launch.span), None)
        paths = {edit.path for edit in edits}
        concerned = [each for each in self.others if paths & (each.evaluation.files | {each.path})]
        kept = all(self._keeps(context, edited, composer) for context in concerned)
        return found if kept else None

    def _keeps(self, context: Context, edited: Snapshot, composer: Composer) -> bool:
        for path in context.evaluation.paths:
            pairs = self._pairs(context, edited, composer, path.plan)
            if pairs is None or any(_faults(after) - _faults(before) for before, after in pairs):
                return False
        return True

    def _pairs(
        self, context: Context, edited: Snapshot, composer: Composer, plan: tuple[bool, ...]
    ) -> list[tuple[Launch, Launch]] | None:
        """Each launch of one path before and after; None if the path is not the same any more."""
        shell = _edited_shell(edited, context)
        if shell is None:
            return None
        before = evaluate_path(self.snapshot, context.shell, plan)
        after = evaluate_path(edited, shell, plan)
        same = (
            before.plan == after.plan
            and before.not_checked == after.not_checked
            and len(before.invocations) == len(after.invocations)
        )
        if not same:
            return None
        launches = list(launches_on(self.snapshot, self.composer, before.invocations, context.job))
        edited_launches = list(launches_on(edited, composer, after.invocations, context.job))
        return (
            list(zip(launches, edited_launches, strict=True))
            if len(launches) == len(edited_launches)
            else None
        )


def _faults(launch: Launch) -> set[tuple[str, str]]:
    """Why a launch does not start, whatever its overrides' values."""
    own = {(fault.kind, fault.override.key if fault.override else "") for fault in launch.faults}
    return own | ({("unresolved", launch.reason or "")} if launch.status == "unresolved" else set())


def _overlap(edits: Iterable[Edit]) -> bool:
    lines = [(edit.path, line) for edit in edits for line in range(edit.start_line, edit.end_line + 1)]
    return len(lines) != len(set(lines))


def _edited_shell(edited: Snapshot, context: Context) -> Shell | None:
    """The context's shell on the edited tree; None where the edit hits the workflow itself."""
    if context.job is not None:
        same = edited.blob_id(context.path)
        return context.shell if same is not None and not same.startswith("edited:") else None
    return replace(context.shell, source=Source(context.path, edited.text(context.path)))


def apply(snapshot: Snapshot, edits: Iterable[Edit]) -> Snapshot:
    """The snapshot after ``edits``; an empty replacement deletes the lines."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    for path, own in by_path.items():
        lines = snapshot.text(path).split("\n")
        for edit in sorted(own, key=lambda each: -each.start_line):
            new = edit.replacement.split("\n") if edit.replacement else []
            lines[edit.start_line - 1 : edit.end_line] = new
        snapshot = snapshot.with_file(path, "\n".join(lines).encode())
    return snapshot
