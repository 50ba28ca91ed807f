"""Proves fixes: evaluates and composes the same context again with the files edited."""

from __future__ import annotations

from collections.abc import Iterable
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
    """Proves fixes by evaluating and composing the same context again with the files edited."""

    def __init__(self, snapshot: Snapshot, composer: Composer, context: Context) -> None:
        self.snapshot = snapshot
        self.composer = composer
        self.context = context

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
        """The launch at the same position of the same context after ``edits``; None if it is gone."""
        edited = apply(self.snapshot, edits)
        shell = _edited_shell(edited, self.context)
        if shell is None:
            return None
        outcome = evaluate_path(self.snapshot, self.context.shell, launch.plan)
        outcome_after = evaluate_path(edited, shell, launch.plan)
        same_path = [each.holds for each in outcome.decisions] == [
            each.holds for each in outcome_after.decisions
        ]
        if outcome_after.not_checked != outcome.not_checked or not same_path:
            return None
        before = list(launches_on(self.snapshot, self.composer, outcome.invocations, self.context.job))
        composer = Composer(edited, self.composer.bases)
        after = list(launches_on(edited, composer, outcome_after.invocations, self.context.job))
        place = next((number for number, each in enumerate(before) if each.span == launch.span), None)
        return after[place] if place is not None and len(after) == len(before) else None


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
