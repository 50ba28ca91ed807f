"""``k=v`` where the config has no ``k``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from checks.hydra.config import ABSENT, EffectiveConfig, Inheritance
from checks.hydra.overrides import Override, parse
from checks.launches import Launch
from checks.markdown import code, listed, place
from checks.model import Edit, Finding, Related, Severity
from checks.rules.base import LaunchRule, Prover, delete_line, rewrite


class UnknownOverride(LaunchRule):
    """
    ## What it checks
    A plain override `key=value` whose key is not in the composed config at that point of the command line.
    Overrides below the same missing node are one finding.

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
        """One finding per node that does not exist, with all overrides below it."""
        if launch.tried is None:
            return
        missing: dict[str, list[Override]] = {}
        for fault in launch.faults:
            if fault.kind == "unknown-key" and fault.override is not None:
                inherited = launch.tried.tree_inherits_from(fault.override.key.rpartition(".")[0])
                if inherited is not None:
                    yield self._detached(launch, fault.override, inherited, prover)
                else:
                    missing.setdefault(missing_node(launch.tried, fault.override.key), []).append(
                        fault.override
                    )
        for node, overrides in missing.items():
            yield self._missing(launch, launch.tried, node, overrides, prover)

    def _missing(
        self, launch: Launch, tried: EffectiveConfig, node: str, overrides: list[Override], prover: Prover
    ) -> Finding:
        near = nearest_key(tried, node)
        edits = tuple(
            edit for each in overrides for edit in rewrite(each, node, near, prover)
        ) if near else ()  # fmt: skip
        fix = _proven(launch, overrides, edits, prover) if len(edits) == len(overrides) else ()
        message = (
            f"Hydra refuses {listed([each.shown for each in overrides])}: "
            f"{code(node)} is not in the config of this launch. "
        )
        if near:
            message += f"The nearest key is {code(near)}."
        else:
            message += "Remove it, or prefix it with `+` if the key is meant to be new."
        return self.finding(
            Severity.HIGH,
            launch,
            node,
            f"{code(node)} does not exist",
            message,
            [each.span.place for each in overrides],
            fix=fix,
        )

    def _detached(
        self, launch: Launch, override: Override, inherited: Inheritance, prover: Prover
    ) -> Finding:
        origin = inherited.origin
        message = (
            f"Hydra refuses {code(override.shown)}: {code(inherited.node)} is inherited from "
            f"{code(inherited.source)} ({place(origin.path, origin.line)}), and a single key cannot be set "
            "in an inherited block. Delete the line to inherit, or restate the whole block."
        )
        return self.finding(
            Severity.HIGH,
            launch,
            override.key,
            f"{code(override.key)} cannot be set alone",
            message,
            [override.span.place],
            related=[Related(origin.path, origin.line, origin.line, f"inherits {code(inherited.source)}")],
            fix=_inheriting(launch, override, prover),
        )


def _inheriting(launch: Launch, override: Override, prover: Prover) -> tuple[Edit, ...]:
    """Deleting the line, proven to leave the key with the very value that the override wanted."""
    edits = delete_line(override, prover)
    after = prover.with_edit(launch, edits) if edits else None
    config = (after.config or after.tried) if after is not None else None
    if config is None or config.value(override.key) != parse(override.text).value():
        return ()
    return _proven(launch, [override], edits, prover)


def _proven(
    launch: Launch, overrides: list[Override], edits: tuple[Edit, ...], prover: Prover
) -> tuple[Edit, ...]:
    """``edits`` if the launch then has none of these faults and no new one."""
    after = prover.with_edit(launch, edits) if edits else None
    if after is None or after.status == "unresolved":
        return ()
    before = {fault.override.key for fault in launch.faults if fault.override}
    now = {fault.override.key for fault in after.faults if fault.override}
    return edits if now <= before - {each.key for each in overrides} else ()


def missing_node(config: EffectiveConfig, key: str) -> str:
    """The shortest prefix of ``key`` that the config does not have."""
    parts = key.split(".")
    prefixes = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return next((prefix for prefix in prefixes if config.value(prefix) is ABSENT), key)


def nearest_key(config: EffectiveConfig, key: str) -> str | None:
    """The key most likely meant: same parent and a near name, or the same name elsewhere."""
    parent, _, name = key.rpartition(".")
    siblings = config.keys(parent) if parent else config.roots()
    near = difflib.get_close_matches(name, siblings, n=1, cutoff=0.75)
    if near:
        return f"{parent}.{near[0]}" if parent else near[0]
    same_name = [
        path for path in config.written if path.endswith(f".{name}") and config.value(path) is not ABSENT
    ]
    elsewhere = difflib.get_close_matches(key, same_name, n=2, cutoff=0.8)
    return elsewhere[0] if len(elsewhere) == 1 else None
