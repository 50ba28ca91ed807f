"""Actor and reference model must compute the same forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.hydra.config import ABSENT, UNKNOWN, EffectiveConfig, Inheritance
from checks.hydra.overrides import Override
from checks.hydra.roles import (
    ACTOR,
    COMPARED,
    DECISIVE,
    KL_SWITCHES,
    REF,
    KeyClass,
    differs,
    engine_keys,
    key_class,
    ref_is_built,
    shown,
)
from checks.launches import Launch
from checks.markdown import code, listed, place
from checks.model import Edit, Evidence, Finding, Place, Related, Severity
from checks.rules.base import LaunchRule, Prover, evidence


@dataclass(frozen=True)
class _Block:
    """The overrides that a launch writes for one role in its script, and their longest run of lines."""

    overrides: tuple[Override, ...]
    places: tuple[Place, ...]


class RoleParity(LaunchRule):
    """
    ## What it checks
    Keys of the training engine that decide the forward pass or the weight layout, compared between the
    actor's and the reference model's *effective* config, after all inheritance.

    ## Why it matters
    The KL term compares log-probabilities of the two models. With another router precision, another
    activation or another pipeline split it measures the difference of the settings, or the job fails.

    ## How to fix
    Give the reference model the same keys. Where it inherits them there is nothing to do: the low comment
    says so, because adding a single key by hand replaces the inherited block.

    ## When it stays silent
    On keys that change memory or training only, on values that are not known, on parallel sizes (rule
    `role-layout`) and on a block that overrides have severed (rule `severed-inheritance`).
    """

    id = "role-parity"
    severity = Severity.HIGH
    summary = "forward numerics or weight layout differ between actor and reference model"

    def check(self, launch: Launch, prover: Prover) -> Iterable[Finding]:
        """At most one finding: what differs, or that nothing differs because the role inherits."""
        if launch.status != "composed" or launch.config is None:
            return
        differing = [
            key for key in engine_keys(launch.config, ACTOR, REF) if self._differs(launch.config, key)
        ]
        if differing:
            yield self._different(launch, launch.config, differing, prover)
            return
        block = _block(launch, REF)
        if block is not None:
            yield from self._inherited(launch, launch.config, block, prover)

    def _differs(self, config: EffectiveConfig, key: str) -> bool:
        if key_class(key) not in COMPARED or _severed(config, f"{REF}.{key}"):
            return False
        return differs(config, key, ACTOR, REF)

    def _different(
        self, launch: Launch, config: EffectiveConfig, differing: Sequence[str], prover: Prover
    ) -> Finding:
        built = ref_is_built(config)
        classes = {key: key_class(key) for key in differing}
        deciding = [key for key in differing if classes[key] in DECISIVE] or list(differing)
        block = _block(launch, REF) or _block(launch, ACTOR)
        places = block.places if block else (launch.span.place,)
        fix = _restoring(launch, config, differing, prover)
        told = [
            f"{code(key)} ({_code(config, f'{ACTOR}.{key}')} against {_code(config, f'{REF}.{key}')})"
            for key in deciding
        ]
        message = (
            f"The reference model does not run with the actor's {', '.join(told)}. "
            f"{_consequence(built, set(classes.values()))} "
            f"Set the same {'keys' if len(differing) > 1 else 'key'} under {code(REF)}."
        )
        return self.finding(
            _severity(set(classes.values()), built),
            launch,
            REF,
            "actor and reference model differ",
            message,
            places,
            evidence=[row for key in differing for row in _pair(config, key)] + _switches(config),
            related=_set_by_actor(config, differing),
            fix=fix,
        )

    def _inherited(
        self, launch: Launch, config: EffectiveConfig, block: _Block, prover: Prover
    ) -> Iterable[Finding]:
        inherited = _not_repeated(config)
        if not inherited:
            return
        keys = [key for _, names in inherited.values() for key in names]
        node, (inheritance, names) = next(iter(inherited.items()))
        origin = inheritance.origin
        built = ref_is_built(config)
        sentences = [
            f"This block does not repeat the actor's {listed([_name(key) for key in keys])}, and need not: "
            f"{code(node)} is inherited from {code(inheritance.source)} ({place(origin.path, origin.line)})."
        ]
        if built is False:
            sentences.append(_not_built(config))
        if detached := _detached(launch, config, inheritance, names[0], prover):
            sentences.append(
                f"Do not add one of them here: `++{node}.{_name(names[0])}=…` would replace the "
                f"inherited block and detach the rest ({listed(detached)})."
            )
        yield self.finding(
            Severity.LOW,
            launch,
            REF,
            "the reference model inherits these keys",
            " ".join(sentences),
            block.places,
            evidence=[_inherited_row(config, key) for key in keys] + _switches(config),
            related=[Related(origin.path, origin.line, origin.line, f"inherits {code(inheritance.source)}")],
            also=("ineffective-override",) if built is False else (),
        )


def _code(config: EffectiveConfig, path: str) -> str:
    value = config.value(path)
    return shown(value) if value is ABSENT else code(shown(value))


def _name(key: str) -> str:
    return key.rpartition(".")[2]


def _severed(config: EffectiveConfig, path: str) -> bool:
    """True if the tree inherits a block above ``path`` and an override has replaced it."""
    inherited = config.tree_inherits_from(path.rpartition(".")[0])
    return inherited is not None and config.inherits_from(inherited.node) is None


def _severity(classes: set[KeyClass | None], built: bool | None) -> Severity:
    if classes & DECISIVE:
        return Severity.HIGH if built else Severity.MEDIUM
    return Severity.MEDIUM if KeyClass.PRECISION in classes else Severity.LOW


def _consequence(built: bool | None, classes: set[KeyClass | None]) -> str:
    if built and not classes & DECISIVE:
        return "The reference model is built, so the KL term sees the rounding of both settings."
    if built:
        return "The reference model is built, so the KL term compares two different computations."
    if built is False:
        return "No reference model is built today; the difference counts as soon as a KL switch is on."
    return "Whether a reference model is built is not known."


def _not_built(config: EffectiveConfig) -> str:
    switches = " and ".join(f"{code(switch)} is {_code(config, switch)}" for switch in KL_SWITCHES)
    if all(config.value(switch) in (False, ABSENT) for switch in KL_SWITCHES):
        return f"No reference model is built: {switches}."
    return "No reference model of its own is built: with LoRA it is the actor without its adapter."


def _switches(config: EffectiveConfig) -> list[Evidence]:
    return [evidence(switch, shown(config.value(switch)), config.origin(switch)) for switch in KL_SWITCHES]


def _pair(config: EffectiveConfig, key: str) -> list[Evidence]:
    return [
        evidence(f"{role}.{key}", shown(config.value(f"{role}.{key}")), config.origin(f"{role}.{key}"))
        for role in (ACTOR, REF)
    ]


def _set_by_actor(config: EffectiveConfig, keys: Sequence[str]) -> list[Related]:
    origins = {key: config.origin(f"{ACTOR}.{key}") for key in keys}
    return [
        Related(origin.path, origin.line, origin.line, f"the actor's {code(key)}")
        for key, origin in origins.items()
        if origin is not None
    ]


def _inherited_row(config: EffectiveConfig, key: str) -> Evidence:
    return evidence(f"{REF}.{key}", shown(config.value(f"{REF}.{key}")), config.origin(f"{ACTOR}.{key}"))


def _block(launch: Launch, role: str) -> _Block | None:
    """The role's overrides in the launch's own script: the longest run in command order comes first."""
    runs: list[list[Override]] = []
    previous: Override | None = None
    for override in launch.overrides:
        if override.key.startswith(f"{role}.") and override.span.path == launch.script:
            follows = previous is not None and previous.span.line < override.span.line
            if runs and previous is runs[-1][-1] and follows:
                runs[-1].append(override)
            else:
                runs.append([override])
        previous = override
    if not runs:
        return None
    runs.sort(key=len, reverse=True)
    places = tuple(Place(launch.script, run[0].span.line, run[-1].span.end_line) for run in runs)
    return _Block(tuple(runs[0]), places)


def _not_repeated(config: EffectiveConfig) -> dict[str, tuple[Inheritance, list[str]]]:
    """Inherited blocks of the reference model with the actor's own keys in them that matter."""
    found: dict[str, tuple[Inheritance, list[str]]] = {}
    for override in config.overrides:
        key = override.key.removeprefix(f"{ACTOR}.")
        if key == override.key or key_class(key) not in COMPARED:
            continue
        inherited = config.inherits_from(f"{REF}.{key}")
        if inherited is None or inherited.node == f"{REF}.{key}" or config.value(f"{REF}.{key}") is UNKNOWN:
            continue
        names = found.setdefault(inherited.node, (inherited, []))[1]
        if key not in names:
            names.append(key)
    return found


def _detached(
    launch: Launch, config: EffectiveConfig, inheritance: Inheritance, key: str, prover: Prover
) -> list[str]:
    """What the role would lose if ``key`` were added to it by hand, found by composing exactly that."""
    added = f"++{REF}.{key}={shown(config.value(f'{REF}.{key}'))}"
    after = prover.with_override(launch, added)
    if after is None:
        return []
    before = config.keys(inheritance.node)
    return [
        name
        for name in before
        if config.value(f"{inheritance.node}.{name}") is not None
        and after.value(f"{inheritance.node}.{name}") is ABSENT
    ]


def _restoring(
    launch: Launch, config: EffectiveConfig, differing: Sequence[str], prover: Prover
) -> tuple[Edit, ...]:
    """The actor's own overrides of the differing keys, for the role; () unless proven to end it."""
    block = _block(launch, REF)
    if block is None:
        return ()
    lines = [line for key in differing if (line := _for_ref(config, key, prover)) is not None]
    last = max(block.overrides, key=lambda override: override.span.end_line)
    continued = last.span.path == launch.span.path and last.span.line >= launch.span.line
    edit = _insert_after(last, lines, continued, prover)
    after = prover.with_edit(launch, (edit,)) if edit and len(lines) == len(differing) else None
    if edit is None or after is None or after.config is None:
        return ()
    return () if any(differs(after.config, key, ACTOR, REF) for key in differing) else (edit,)


def _for_ref(config: EffectiveConfig, key: str, prover: Prover) -> str | None:
    """The actor's own override of ``key``, as written, with the role exchanged."""
    origin = config.origin(f"{ACTOR}.{key}")
    if origin is None or origin.override is None or origin.override.key != f"{ACTOR}.{key}":
        return None
    span = origin.override.span
    if span.line != span.end_line:
        return None
    written = prover.line(span.path, span.line)[span.column - 1 : span.end_column - 1]
    quote = written[0] if written[:1] in ("'", '"') else ""
    sign = "+" if config.value(f"{REF}.{key}") is ABSENT else ""
    return quote + sign + written[len(quote) :].lstrip("+").replace(f"{ACTOR}.", f"{REF}.", 1)


def _insert_after(override: Override, lines: Sequence[str], continued: bool, prover: Prover) -> Edit | None:
    """New lines below ``override`` in its own layout: same indent, and a continuation inside a command."""
    number = override.span.end_line
    line = prover.line(override.span.path, number)
    rest = line[override.span.end_column - 1 :].strip()
    if not lines or rest not in ("", "\\"):
        return None
    indent = line[: len(line) - len(line.lstrip())]
    added = [indent + text for text in lines]
    if not continued:
        return Edit(override.span.path, number, number, "\n".join([line, *added]))
    text = " \\\n".join([line.rstrip("\\").rstrip(), *added])
    return Edit(override.span.path, number, number, text + (" \\" if rest else ""))
