"""Which runner labels carry NPUs, and how many: the table ``runners.yml``, which a repository can extend."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: re.Pattern[str]
    chip: str
    source: str
    read: datetime.date


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runners: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Labels that match ``pattern``: their chip, and their NPUs (None: the pattern's group ``npus``)."""

    pattern: re.Pattern[str]
    chip: str
    npus: int | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """A known NPU runner: its label, chip and number of NPUs."""

    label: str
    chip: str
    npus: int


@dataclass(frozen=True, slots=True)
class Runners:
    """A table of runner labels; the first row that fits decides."""

    rows: tuple[Row, ...]

    def find(self, label: str) -> Runner | None:
        """The NPU runner behind ``label``, None if the label carries no NPUs. Capitals do not count.

        Source: GitHub docs, *Workflow syntax*, ``jobs.<job_id>.runs-on``.
        """
        for row in self.rows:
            match = re.fullmatch(row.pattern.pattern, label, re.I)
            if match:
                return Runner(label, row.chip, int(match["npus"]) if row.npus is None else row.npus)
        return None


def _built_in() -> Runners:
    text = resources.files("checks.workflow").joinpath("runners.yml").read_text(encoding="utf-8")
    table = _Table.model_validate(yaml.safe_load(text))
    return Runners(tuple(Row(entry.pattern, entry.chip) for entry in table.runners))


BUILT_IN = _built_in()
