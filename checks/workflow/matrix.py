"""The cells of ``strategy.matrix``. Source: GitHub docs, *Running variations of jobs in a workflow*."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from checks.shell.value import Unknown, known
from checks.workflow.expressions import Contexts, Value, as_text, plain
from checks.workflow.load import Matrix
from checks.workflow.render import value_of

MAX_CELLS = 256


@dataclass(frozen=True)
class Cells:
    """The cells in GitHub's order; ``cut`` if there are more than ``MAX_CELLS``."""

    cells: tuple[Mapping[str, Value] | Unknown, ...]
    cut: bool = False


def expand(matrix: Matrix, contexts: Contexts, path: str, line: int) -> Cells:
    """Every combination of the axes, without ``exclude``, with ``include``; one unknown cell if not known.

    No cell is left where all are excluded: GitHub does not start the job then.
    """
    if matrix.written is not None:
        whole = value_of(matrix.written.text, contexts, path, matrix.written.line)
        if not isinstance(whole, Mapping):
            return Cells((Unknown("a matrix that is computed", path, line),))
        axes, include, exclude = dict(whole), whole.get("include"), whole.get("exclude")
        axes = {name: value for name, value in axes.items() if name not in ("include", "exclude")}
    else:
        axes = {name: _evaluated(value, contexts, path, line) for name, value in matrix.axes.items()}
        include = _evaluated(matrix.include, contexts, path, line)
        exclude = _evaluated(matrix.exclude, contexts, path, line)
    lists = [*axes.values(), *(each for each in (include, exclude) if each is not None)]
    if any(not isinstance(values, list) for values in lists):
        return Cells((Unknown("a matrix that is computed", path, line),))
    names = list(axes)
    products = itertools.islice(itertools.product(*axes.values()), MAX_CELLS + 1) if names else iter(())
    cells: list[Mapping[str, Value]] = [dict(zip(names, values, strict=True)) for values in products]
    cut = len(cells) > MAX_CELLS
    kept = [cell for cell in cells[:MAX_CELLS] if not any(_agrees(cell, each) for each in _mappings(exclude))]
    full = _with_includes(kept, _mappings(include), set(names))
    if not full and not axes and include is None:
        # A job without a matrix.
        return Cells(({},))
    return Cells(tuple(full[:MAX_CELLS]), cut or len(full) > MAX_CELLS)


def _mappings(value: Value) -> list[Mapping[str, Value]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def label(cell: Mapping[str, Value] | Unknown) -> str | None:
    """``name=value`` of a cell for people; None for a job without a matrix."""
    if isinstance(cell, Unknown):
        return "not known"
    return ", ".join(f"{name}={known(as_text(value)) or '…'}" for name, value in cell.items()) or None


def _with_includes(
    cells: list[Mapping[str, Value]], include: list[Mapping[str, Value]], axes: set[str]
) -> list[Mapping[str, Value]]:
    """An entry is added to every cell whose axes it does not change; to none, it is a cell of its own."""
    original = [dict(cell) for cell in cells]
    result: list[dict[str, Value]] = [dict(cell) for cell in cells]
    alone: list[Mapping[str, Value]] = []
    for entry in include:
        fits = [
            number
            for number, cell in enumerate(original)
            if all(_same(cell.get(name), value) for name, value in entry.items() if name in axes)
        ]
        for number in fits:
            result[number].update({name: value for name, value in entry.items() if name not in axes})
        if not fits:
            alone.append(entry)
    return [*result, *alone]


def _agrees(cell: Mapping[str, Value], excluded: object) -> bool:
    return isinstance(excluded, Mapping) and all(
        _same(cell.get(name), value) for name, value in excluded.items()
    )


def _same(first: Value, second: Value) -> bool:
    """Equal and of one kind: ``true`` is not 1."""
    return isinstance(first, bool) == isinstance(second, bool) and first == second


def _evaluated(value: object, contexts: Contexts, path: str, line: int) -> Value:
    if isinstance(value, str):
        return value_of(value, contexts, path, line)
    if isinstance(value, list):
        return [_evaluated(each, contexts, path, line) for each in value]
    if isinstance(value, dict):
        return {str(name): _evaluated(each, contexts, path, line) for name, each in value.items()}
    return plain(value)
