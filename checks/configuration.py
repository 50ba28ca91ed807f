"""What a repository settles for itself in ``.github/npu-review.yml``.

A review reads it from the base branch, so that a change cannot silence its own review.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from checks import yamlfile
from checks.model import NotChecked
from checks.snapshot import NotInTree, Snapshot, SnapshotError
from checks.workflow.runners import BUILT_IN, Row, Runners

PATH = ".github/npu-review.yml"


class _Runner(BaseModel):
    """``{label: my-runner-*, chip: Atlas A3, npus: 16}``; the label may hold ``*``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    chip: str
    npus: int


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    runners: tuple[_Runner, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """The runners of the repository before the built-in ones; ``problem`` if the file could not be used."""

    runners: Runners = BUILT_IN
    problem: NotChecked | None = None


def read(snapshot: Snapshot) -> Configuration:
    """The configuration of ``snapshot``; the defaults if there is none or it is wrong."""
    try:
        values = yamlfile.construct(snapshot.text(PATH))
        file = _File.model_validate({} if values is None else values)
    except NotInTree:
        return Configuration()
    except (SnapshotError, yamlfile.YamlRefused) as error:
        return Configuration(problem=NotChecked(PATH, str(error)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return Configuration(problem=NotChecked(PATH, f"{place}: {first['msg']}"))
    rows = (Row(_pattern(each.label), each.chip, each.npus) for each in file.runners)
    return Configuration(Runners((*rows, *BUILT_IN.rows)))


def _pattern(label: str) -> re.Pattern[str]:
    return re.compile("[^/]*".join(re.escape(part) for part in label.split("*")))
