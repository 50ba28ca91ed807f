"""The overrides of a launch: Hydra's own grammar, with the span of each word kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override as HydraOverride
from hydra.errors import HydraException

from checks.hydra.unknown import MARKER, marked
from checks.model import Span
from checks.shell.value import Field, first_unknown

FaultKind = Literal[
    "unknown-key", "already-there", "detached", "grammar", "option", "missing-config", "value", "other"
]
MAX_OVERRIDE = 20_000
MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class Override:
    """One override as written. ``text`` has unknown parts replaced by the marker."""

    text: str
    span: Span
    origins: tuple[Span, ...]

    @property
    def key(self) -> str:
        """The dotted key without ``+``, ``++`` or ``~`` and without a package."""
        return self.text.partition("=")[0].lstrip("+~").partition("@")[0]

    @property
    def shown(self) -> str:
        """The text for a message: unknown parts as an ellipsis."""
        return self.text.replace(MARKER, "…")

    @property
    def sign(self) -> str:
        """``""``, ``+``, ``++`` or ``~``."""
        return self.text[: len(self.text) - len(self.text.lstrip("+~"))]

    @property
    def value(self) -> str:
        """What stands after the equals sign."""
        return self.text.partition("=")[2]


@dataclass(frozen=True, slots=True)
class Fault:
    """One override that Hydra refuses, with Hydra's reason; ``override`` is None for the tree's own fault."""

    override: Override | None
    kind: FaultKind
    reason: str


def override_of(field: Field) -> Override:
    """The word of a launch's command line as an override."""
    return Override(marked(field.text), field.span, field.origins)


def unresolved(field: Field) -> str | None:
    """Why the word cannot be taken as one override; None if it can."""
    unknown = first_unknown(field.text)
    if unknown is None:
        return None
    key, separator, _ = marked(field.text).partition("=")
    if not separator or MARKER in key:
        return f"line {field.span.line}: {unknown.reason}"
    return None


@lru_cache(maxsize=8192)
def parse(text: str) -> HydraOverride:
    """Hydra's parse of one override. Raises HydraException with Hydra's words."""
    if len(text) > MAX_OVERRIDE or _nesting(text) > MAX_NESTING:
        raise HydraException(f"longer than {MAX_OVERRIDE} characters or nested deeper than {MAX_NESTING}")
    override: HydraOverride = OverridesParser.create().parse_override(text)
    return override


def _nesting(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "[{(") - (char in "]})")
        deepest = max(deepest, depth)
    return deepest
