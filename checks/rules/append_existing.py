"""``+k=v`` where ``k`` already holds a value."""

from __future__ import annotations

from collections.abc import Iterable

from checks.hydra.config import EffectiveConfig
from checks.hydra.overrides import Override
from checks.hydra.roles import shown
from checks.launches import Launch
from checks.markdown import code, place
from checks.model import Edit, Finding, Related, Severity
from checks.rules.base import LaunchRule, Prover, delete_line, evidence, rewrite


class AppendExisting(LaunchRule):
    """
    ## What it checks
    `+key=value` where the key already holds a value at that point of the command line, from the config
    tree or from an earlier override.

    ## Why it matters
    Hydra refuses the launch before training starts: "Could not append to config. An item is already at".

    ## How to fix
    Drop the `+`.

    ## When it stays silent
    For `++key=value`, for a key whose value is `null`, for a mapping that is merged, and when the config
    cannot be composed for another reason.
    """

    id = "append-existing"
    severity = Severity.HIGH
    summary = "`+key=value` on a key that already holds a value"

    def check(self, launch: Launch, prover: Prover) -> Iterable[Finding]:
        """One finding per override that Hydra refuses to append."""
        for fault in launch.faults:
            if fault.kind == "already-there" and fault.override is not None and launch.tried is not None:
                yield self._finding(launch, fault.override, launch.tried, prover)

    def _finding(self, launch: Launch, override: Override, tried: EffectiveConfig, prover: Prover) -> Finding:
        origin = tried.origin(override.key)
        inherited = tried.inherits_from(override.key)
        if inherited is not None:
            origin = inherited.origin
        value = shown(tried.value(override.key))
        where = f" ({place(origin.path, origin.line)})" if origin else ""
        message = (
            f"Hydra refuses {code(override.shown)}: {code(override.key)} is already {code(value)}{where}."
        )
        fix, how = self._fix(launch, override, prover)
        related = (
            [Related(origin.path, origin.line, origin.line, f"{code(override.key)} is set here")]
            if origin
            else []
        )
        return self.finding(
            Severity.HIGH,
            launch,
            override.key,
            f"{code(override.key)} is already there",
            f"{message} {how}",
            [override.span.place],
            evidence=[evidence(override.key, value, origin)],
            related=related,
            fix=fix,
        )

    def _fix(self, launch: Launch, override: Override, prover: Prover) -> tuple[tuple[Edit, ...], str]:
        without_plus = rewrite(override, f"+{override.key}", override.key, prover)
        if without_plus and _accepted(launch, override, without_plus, prover):
            return without_plus, "Drop the `+`."
        deleted = delete_line(override, prover)
        if deleted and _accepted(launch, override, deleted, prover):
            return deleted, "Delete the line: the value is inherited."
        return (), "Drop the `+`, or delete the line if the value is inherited."


def _accepted(launch: Launch, override: Override, edits: tuple[Edit, ...], prover: Prover) -> bool:
    """True if no new fault appears, this one is gone, and the key ends with the wanted value."""
    after = prover.with_edit(launch, edits)
    config = (after.config or after.tried) if after else None
    if after is None or config is None:
        return False
    before = {fault.override.key for fault in launch.faults if fault.override}
    now = {fault.override.key for fault in after.faults if fault.override}
    if not now <= before - {override.key}:
        return False
    return shown(config.value(override.key)) == override.value.strip("'\"")
