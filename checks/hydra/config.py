"""The effective config of a launch: values, where they come from, what is inherited.

Rules read nothing else. A value is a plain Python value, ``UNKNOWN`` (it depends on something that cannot
be known) or ``ABSENT`` (the path does not exist).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from omegaconf import Container, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from checks.hydra.compose import Composition
from checks.hydra.overrides import Override
from checks.hydra.unknown import is_unknown


class Special(Enum):
    """Values that are no values."""

    UNKNOWN = "unknown"
    ABSENT = "absent"


UNKNOWN: Final = Special.UNKNOWN
ABSENT: Final = Special.ABSENT

_SELECT = re.compile(r"\$\{\s*oc\.select\s*:\s*([\w.]+)\s*(?:,.*)?\}", re.S)
_PLAIN = re.compile(r"\$\{\s*([\w.]+)\s*\}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value is written: a config file and line, or an override."""

    path: str
    line: int
    override: Override | None = None


@dataclass(frozen=True, slots=True)
class Inheritance:
    """``node`` (at or above the asked path) is an interpolation of ``source``, written at ``origin``."""

    node: str
    source: str
    origin: Origin


class EffectiveConfig:
    """One launch's composed config. ``composition`` has no faults unless the launch is rejected."""

    def __init__(self, composition: Composition) -> None:
        self._composition = composition
        self._tree_inheritance: dict[str, Inheritance | None] = {}

    @property
    def overrides(self) -> tuple[Override, ...]:
        """The overrides that took effect, in order."""
        return self._composition.applied

    @property
    def files(self) -> frozenset[str]:
        """The config files of the tree that it was composed from."""
        return frozenset(file for file, _ in self._composition.base.defaults)

    @property
    def written(self) -> Iterable[str]:
        """The paths that the config files write, in merge order."""
        return self._composition.base.places

    def value(self, path: str) -> Any:
        """The resolved value at ``path``: plain Python, UNKNOWN or ABSENT."""
        config = self._composition.config
        try:
            node = OmegaConf.select(config, path, default=ABSENT, throw_on_missing=False)
            value = OmegaConf.to_container(node, resolve=True) if isinstance(node, Container) else node
        except (OmegaConfBaseException, RecursionError):
            return UNKNOWN
        return UNKNOWN if value is not ABSENT and is_unknown(value) else value

    def keys(self, path: str) -> tuple[str, ...]:
        """The keys of the mapping at ``path`` after resolution, () if it is none or not known."""
        try:
            node = OmegaConf.select(self._composition.config, path, throw_on_missing=False)
        except (OmegaConfBaseException, RecursionError):
            return ()
        return tuple(str(key) for key in node) if isinstance(node, DictConfig) and node else ()

    def inherits_from(self, path: str) -> Inheritance | None:
        """The interpolation at ``path`` or at the nearest node above it that is one."""
        return self._inheritance(self._composition.config, path, self.origin)

    def tree_inherits_from(self, path: str) -> Inheritance | None:
        """As ``inherits_from``, but as the config tree has it, before any value override."""
        if path not in self._tree_inheritance:
            tree = self._composition.base.tree
            self._tree_inheritance[path] = self._inheritance(tree, path, self._place)
        return self._tree_inheritance[path]

    @staticmethod
    def _inheritance(
        config: DictConfig, path: str, place: Callable[[str], Origin | None]
    ) -> Inheritance | None:
        for node in _upwards(path):
            written = _written(config, node)
            source = interpolated(written) if isinstance(written, str) else None
            if source is not None:
                origin = place(node)
                return Inheritance(node, source, origin) if origin else None
        return None

    def origin(self, path: str) -> Origin | None:
        """Where the value at ``path`` is written: the last override, else the last config file."""
        last: Origin | None = None
        for override in self.overrides:
            if override.key == path or path.startswith(f"{override.key}."):
                last = Origin(override.span.path, override.span.line, override)
        return last or self._place(path)

    def _place(self, path: str) -> Origin | None:
        """The config file and line that has ``path`` last."""
        place = self._composition.base.places.get(path)
        return Origin(*place) if place else None

    def roots(self) -> tuple[str, ...]:
        """The top-level keys."""
        return tuple(str(key) for key in self._composition.config)

    def leaves(self, path: str) -> Iterator[str]:
        """The dotted paths of all leaves at or below ``path``, after resolution."""
        try:
            node = OmegaConf.select(self._composition.config, path, throw_on_missing=False)
        except (OmegaConfBaseException, RecursionError):
            node = None
        yield from self._leaves(path, node)

    def _leaves(self, path: str, node: object) -> Iterator[str]:
        if not isinstance(node, DictConfig) or not node:
            yield path
            return
        for key in node:
            child = node._get_node(key)
            is_plain = isinstance(child, DictConfig) and not child._is_interpolation()
            below = f"{path}.{key!s}"
            yield from self._leaves(below, child) if is_plain else self.leaves(below)


def _upwards(path: str) -> Iterator[str]:
    """``a.b.c``, ``a.b``, ``a``."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def _written(config: DictConfig, path: str) -> Any:
    """The value as written, interpolations unresolved; ABSENT below a node that is itself one."""
    node: Any = config
    for key in path.split("."):
        if not isinstance(node, DictConfig) or node._is_interpolation() or node._is_none() or key not in node:
            return ABSENT
        node = node._get_node(key)
    return node._value() if node is not None else ABSENT


def interpolated(written: str) -> str | None:
    """The path that a wholly interpolated value stands for (``${a.b}``, ``${oc.select:a.b,default}``)."""
    match = _SELECT.fullmatch(written.strip()) or _PLAIN.fullmatch(written.strip())
    return match[1] if match else None
