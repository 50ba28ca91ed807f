"""``k=v`` where the config has no ``k``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from checks.hydra.config import EffectiveConfig
from checks.hydra.overrides import Override
from checks.launches import Launch
from checks.model import Edit, Finding, Related, Severity
from checks.rules.base import LaunchRule, Prover, delete_line, rewrite


class UnknownOverride(LaunchRule):
    """
    ## What it checks
    A plain override `key=value` whose key is not in the composed config at that point of the command line.

    ## Why it matters
    Hydra refuses the launch before training starts: "Could not override".

    ## How to fix
    Write the key that exists, or prefix the override with `+` if the key is meant to be new.

    ## When it stays silent
    When the key holds a part that is not known, when an option chosen by an unknown value decides which
    keys exist, and for `+key=value` and `++key=value`.
    """

    id = "unknown-override"
    severity = Severity.HIGH
    summary = "an override of a key that the config does not have"

    def check(self, launch: Launch, prover: Prover) -> Iterable[Finding]:
        """One finding per override that Hydra refuses because its key does not exist."""
        for fault in launch.faults:
            if fault.kind == "unknown-key" and fault.override is not None and launch.tried is not None:
                yield self._finding(launch, fault.override, launch.tried, prover)

    def _finding(self, launch: Launch, override: Override, tried: EffectiveConfig, prover: Prover) -> Finding:
        inherited = tried.tree_inherits_from(override.key.rpartition(".")[0])
        related: tuple[Related, ...] = ()
        if inherited is not None:
            origin = inherited.origin
            message = (
                f"Hydra refuses `{override.text}`: `{inherited.node}` is inherited from `{inherited.source}` "
                f"({origin.path}:{origin.line}), and a single key cannot be set in an inherited block. "
                "Delete the line to inherit, or restate the whole block."
            )
            related = (Related(origin.path, origin.line, origin.line, f"inherits `{inherited.source}`"),)
            fix = self._proven(launch, override, delete_line(override, prover), prover)
        else:
            near = nearest_key(tried, override.key)
            message = (
                f"Hydra refuses `{override.text}`: `{override.key}` is not in the config of this launch. "
            )
            message += (
                f"The nearest key is `{near}`."
                if near
                else f"Remove it, or write `+{override.text}` if the key is meant to be new."
            )
            fix = ()
            if near is not None:
                fix = self._proven(launch, override, rewrite(override, override.key, near, prover), prover)
        return self.finding(
            Severity.HIGH,
            launch,
            override.key,
            f"`{override.key}` does not exist",
            message,
            [override.span.place],
            related=related,
            fix=fix,
        )

    def _proven(
        self, launch: Launch, override: Override, edits: tuple[Edit, ...], prover: Prover
    ) -> tuple[Edit, ...]:
        after = prover.with_edit(launch, edits) if edits else None
        if after is None or after.status == "unresolved":
            return ()
        before = {fault.override.key for fault in launch.faults if fault.override}
        now = {fault.override.key for fault in after.faults if fault.override}
        return edits if now <= before - {override.key} else ()


def nearest_key(config: EffectiveConfig, key: str) -> str | None:
    """The key most likely meant: same parent and a near name, or the same name elsewhere."""
    parent, _, name = key.rpartition(".")
    siblings = difflib.get_close_matches(name, config.keys(parent), n=1, cutoff=0.75) if parent else []
    if siblings:
        return f"{parent}.{siblings[0]}"
    same_tail = [path for path in _paths(config) if path.rpartition(".")[2] == name]
    near = difflib.get_close_matches(key, same_tail, n=2, cutoff=0.8)
    return near[0] if len(near) == 1 else None


def _paths(config: EffectiveConfig) -> Iterator[str]:
    for root in config.roots():
        yield from config.leaves(root)
