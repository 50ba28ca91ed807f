"""Which runner labels carry NPUs, and how many: the table ``runners.yml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: re.Pattern[str]
    chip: str
    source: str
    read: object


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runners: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """A known NPU runner: its label, chip and number of NPUs."""

    label: str
    chip: str
    npus: int


@cache
def _table() -> _Table:
    text = resources.files("checks.workflow").joinpath("runners.yml").read_text(encoding="utf-8")
    return _Table.model_validate(yaml.safe_load(text))


def runner(label: str) -> Runner | None:
    """The NPU runner behind ``label``, None if the label carries no NPUs."""
    for row in _table().runners:
        match = row.pattern.fullmatch(label)
        if match:
            return Runner(label, row.chip, int(match["npus"]))
    return None
