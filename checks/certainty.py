"""Whether a finding is certain or holds only on some paths through the script, and then on which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from checks.launches import Launch
from checks.model import Finding
from checks.shell.evaluate import Decision


def with_conditions(findings: Iterable[Finding], launches: Sequence[Launch], first: int) -> list[Finding]:
    """Findings of one calling context, each about one launch, with the condition under which they hold.

    ``launches`` are those of the context, ``first`` the index of the first one. A finding that holds for
    every variant of a launch is certain; of one that is more severe on some paths only the worst is kept.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        launch = launches[finding.launches[0] - first]
        key = (finding.rule, finding.subject, finding.places, finding.condition, launch.scripts, launch.span)
        groups.setdefault(key, []).append(finding)
    return [each for group in groups.values() for each in _labelled(group, launches, first)]


def _labelled(group: list[Finding], launches: Sequence[Launch], first: int) -> list[Finding]:
    worst = max(finding.severity.rank for finding in group)
    kept = [finding for finding in group if finding.severity.rank == worst]
    concerned = [launches[finding.launches[0] - first] for finding in kept]
    site = (concerned[0].scripts, concerned[0].span)
    variants = [launch for launch in launches if (launch.scripts, launch.span) == site]
    label = "" if len(concerned) == len(variants) else _difference(concerned, variants)
    conditions = [condition for condition in (kept[0].condition, label) if condition]
    return [replace(finding, condition=" and ".join(conditions) or None) for finding in kept]


def _difference(concerned: Sequence[Launch], variants: Sequence[Launch]) -> str:
    """What the paths of ``concerned`` have in common that the others of ``variants`` have not."""
    common = _common(concerned)
    everywhere = _common(variants)
    telling = [each for each in common if each not in everywhere] or list(concerned[0].decisions[0])
    return " and ".join(
        each.what if each.holds else f"not {each.what}" for each in telling if not each.follows
    )


def _common(launches: Sequence[Launch]) -> list[Decision]:
    paths = [path for launch in launches for path in launch.decisions]
    return [each for each in paths[0] if all(each in path for path in paths)]
