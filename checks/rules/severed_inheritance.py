"""An override below an inherited block replaces the block."""

from __future__ import annotations

from collections.abc import Iterable

from checks.hydra.config import ABSENT, UNKNOWN, EffectiveConfig, Inheritance
from checks.hydra.overrides import Override
from checks.hydra.roles import DECISIVE, KeyClass, key_class, ref_is_built, shown
from checks.launches import Launch
from checks.markdown import code, listed, place
from checks.model import Edit, Evidence, Finding, Related, Severity
from checks.rules.base import LaunchRule, Prover, delete_line, evidence


class SeveredInheritance(LaunchRule):
    """
    ## What it checks
    An override of a single key below a block that the config tree inherits as a whole, such as
    `actor_rollout_ref.ref.megatron.override_transformer_config`, which is `${oc.select:…}` of the actor's.

    ## Why it matters
    OmegaConf replaces the interpolation by a new block that holds the overridden key only. Everything else
    that the role inherited is lost without a word: a pipeline split, a router precision, recomputation.

    ## How to fix
    Delete the line, so that the role inherits again, or restate the whole block.

    ## When it stays silent
    When nothing is lost, when the block is restated as a whole (`block={...}`), and when the launch cannot
    be composed.
    """

    id = "severed-inheritance"
    severity = Severity.HIGH
    summary = "an override below an inherited block, which replaces the block"

    def check(self, launch: Launch, prover: Prover) -> Iterable[Finding]:
        """One finding per inherited block that overrides replace, naming every key lost."""
        if launch.config is None:
            return
        severing: dict[str, tuple[Inheritance, list[Override]]] = {}
        for override in launch.config.overrides:
            parent = override.key.rpartition(".")[0]
            inherited = launch.config.tree_inherits_from(parent) if parent else None
            if inherited is not None and override.sign != "~":
                severing.setdefault(inherited.node, (inherited, []))[1].append(override)
        for inherited, overrides in severing.values():
            lost = lost_keys(launch.config, inherited)
            if lost:
                yield self._finding(launch, launch.config, inherited, overrides, lost, prover)

    def _finding(
        self,
        launch: Launch,
        config: EffectiveConfig,
        inherited: Inheritance,
        overrides: list[Override],
        lost: list[str],
        prover: Prover,
    ) -> Finding:
        node, origin = inherited.node, inherited.origin
        built = ref_is_built(config)
        rows = [_row(config, inherited, key) for key in lost]
        replaces = "replace" if len(overrides) > 1 else "replaces"
        many = "keys are" if len(lost) > 1 else "key is"
        message = (
            f"{code(node)} is inherited from {code(inherited.source)} ({place(origin.path, origin.line)}); "
            f"{listed([each.shown for each in overrides])} {replaces} the whole block, "
            f"so {len(lost)} inherited {many} lost: {listed(lost)}."
        )
        fix = self._fix(launch, config, inherited, overrides, prover)
        message += " " + _consequence(built)
        line = "lines" if len(overrides) > 1 else "line"
        message += f" Delete the {line}" + (" to inherit again." if fix else ", or restate the whole block.")
        places = [override.span.place for override in overrides]
        return self.finding(
            _severity(lost, node, built),
            launch,
            node,
            f"{code(node.rpartition('.')[2])} loses what it inherits",
            message,
            list(dict.fromkeys(places)),
            evidence=rows,
            related=[Related(origin.path, origin.line, origin.line, f"inherits {code(inherited.source)}")],
            fix=fix,
        )

    def _fix(
        self,
        launch: Launch,
        config: EffectiveConfig,
        inherited: Inheritance,
        overrides: list[Override],
        prover: Prover,
    ) -> tuple[Edit, ...]:
        """Deleting the lines, proven to give back every key and to keep the values they set."""
        edits = tuple(edit for override in overrides for edit in delete_line(override, prover))
        if len(edits) != len(overrides):
            return ()
        after = prover.with_edit(launch, edits)
        if after is None or after.config is None or after.config.inherits_from(inherited.node) is None:
            return ()
        kept = all(shown(after.config.value(each.key)) == shown(config.value(each.key)) for each in overrides)
        return edits if kept and not lost_keys(after.config, inherited) else ()


def lost_keys(config: EffectiveConfig, inherited: Inheritance) -> list[str]:
    """Keys that the source block holds with a value and the role's own block does not have."""
    if config.inherits_from(inherited.node) is not None:
        return []
    lost = []
    for key in config.keys(inherited.source):
        value = config.value(f"{inherited.source}.{key}")
        own = config.value(f"{inherited.node}.{key}")
        if value is not None and value is not UNKNOWN and own is ABSENT:
            lost.append(key)
    return lost


def _severity(lost: list[str], node: str, built: bool | None) -> Severity:
    role_relative = node.split(".", 2)[2] if node.startswith("actor_rollout_ref.") else node
    classes: set[KeyClass | None] = {key_class(f"{role_relative}.{key}") for key in lost}
    if not classes & DECISIVE:
        return Severity.LOW
    return Severity.HIGH if built else Severity.MEDIUM


def _consequence(built: bool | None) -> str:
    if built:
        return "The reference model is built, so it runs without them."
    if built is False:
        return "No reference model is built today; it would run without them as soon as a KL switch is on."
    return "Whether a reference model is built is not known."


def _row(config: EffectiveConfig, inherited: Inheritance, key: str) -> Evidence:
    source = f"{inherited.source}.{key}"
    return evidence(source, shown(config.value(source)), config.origin(source))
