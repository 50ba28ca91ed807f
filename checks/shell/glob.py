"""File name patterns against the files that the script sees. Source: bash manual, *Filename Expansion*."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from checks.shell import pattern
from checks.shell.state import normal_path
from checks.shell.working_tree import WorkingTree


def expand_pattern(tree: WorkingTree, cwd: str, units: Sequence[str]) -> list[str]:
    """The paths that ``units`` (see ``pattern.units``) name from ``cwd``, sorted.

    Raises pattern.TooLarge.
    """
    found = [""]
    for component in _components(units):
        if not any(_is_wild(unit) for unit in component):
            name = "".join(unit[1:] for unit in component)
            found = [
                f"{path}{name}" for path in found if name in ("", "/") or _exists(tree, cwd, path + name)
            ]
            continue
        found = [
            f"{path}{name}"
            for path in found
            for name in sorted(_children(tree, cwd, path))
            if (not name.startswith(".") or component[0] == "\\.") and pattern.matches(component, name)
        ]
    return found


def _components(units: Sequence[str]) -> list[list[str]]:
    """Cut at slashes; each slash is a component of its own."""
    components: list[list[str]] = []
    for unit in units:
        if unit == "\\/" or not components or components[-1] == ["\\/"]:
            components.append([unit])
        else:
            components[-1].append(unit)
    return components


def _is_wild(unit: str) -> bool:
    return unit in ("*", "?") or unit.startswith("[")


def _exists(tree: WorkingTree, cwd: str, path: str) -> bool:
    full = normal_path(posixpath.join(cwd, path))
    return full is not None and (tree.names(full) or tree.kind(full) is not None)


def _children(tree: WorkingTree, cwd: str, folder: str) -> frozenset[str]:
    full = normal_path(posixpath.join(cwd, folder))
    return tree.children(full) if full is not None else frozenset()
