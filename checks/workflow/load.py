"""A workflow file as frozen values with line numbers: jobs, environment, ``run:`` blocks.

Source: GitHub docs, *Workflow syntax for GitHub Actions*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from checks import yamlfile
from checks.markdown import code
from checks.shell.source import Source
from checks.shell.value import Text, Unknown, join

FOLDER = ".github/workflows"
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)


@dataclass(frozen=True, slots=True)
class EnvironmentEntry:
    """One ``env:`` entry; expressions in it are unknown."""

    name: str
    value: Text
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``run`` is None for a ``uses`` step; ``shell`` and ``working_directory`` as written."""

    name: str | None
    line: int
    run: Source | None
    environment: tuple[EnvironmentEntry, ...]
    shell: str | None
    working_directory: str | None


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """One job with the labels of ``runs-on`` as written."""

    id: str
    line: int
    runs_on: tuple[str, ...]
    environment: tuple[EnvironmentEntry, ...]
    steps: tuple[Step, ...]
    shell: str | None
    working_directory: str | None


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow file."""

    path: str
    environment: tuple[EnvironmentEntry, ...]
    jobs: tuple[WorkflowJob, ...]


def is_workflow(path: str) -> bool:
    """True for a file that GitHub reads as a workflow."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith((".yml", ".yaml"))


def load(path: str, text: str) -> Workflow:
    """The workflow in ``text``. Raises YamlRefused."""
    root = yamlfile.compose(text)
    if not isinstance(root, yaml.MappingNode):
        raise yamlfile.YamlRefused("no mapping at the top")
    defaults = yamlfile.get(yamlfile.get(root, "defaults"), "run")
    jobs = tuple(
        _job(path, text, key.value, key, node, defaults)
        for key, node in yamlfile.items(yamlfile.get(root, "jobs"))
    )
    return Workflow(path, _environment(path, root), jobs)


def _job(
    path: str, text: str, id_: str, key: yaml.Node, node: yaml.Node, outer: yaml.Node | None
) -> WorkflowJob:
    steps = yamlfile.get(node, "steps")
    defaults = yamlfile.get(yamlfile.get(node, "defaults"), "run")
    children = steps.value if isinstance(steps, yaml.SequenceNode) else []
    return WorkflowJob(
        id=id_,
        line=yamlfile.line(key),
        runs_on=_labels(yamlfile.get(node, "runs-on")),
        environment=_environment(path, node),
        steps=tuple(_step(path, text, child) for child in children),
        shell=yamlfile.scalar(yamlfile.get(defaults, "shell") or yamlfile.get(outer, "shell")),
        working_directory=yamlfile.scalar(
            yamlfile.get(defaults, "working-directory") or yamlfile.get(outer, "working-directory")
        ),
    )


def _step(path: str, text: str, node: yaml.Node) -> Step:
    run = yamlfile.get(node, "run")
    return Step(
        name=yamlfile.scalar(yamlfile.get(node, "name")),
        line=yamlfile.line(node),
        run=_block(path, text, run) if isinstance(run, yaml.ScalarNode) else None,
        environment=_environment(path, node),
        shell=yamlfile.scalar(yamlfile.get(node, "shell")),
        working_directory=yamlfile.scalar(yamlfile.get(node, "working-directory")),
    )


def _labels(node: yaml.Node | None) -> tuple[str, ...]:
    if isinstance(node, yaml.MappingNode):
        node = yamlfile.get(node, "labels")
    if isinstance(node, yaml.SequenceNode):
        return tuple(str(child.value) for child in node.value if isinstance(child, yaml.ScalarNode))
    text = yamlfile.scalar(node)
    return (text,) if text is not None else ()


def _environment(path: str, node: yaml.Node) -> tuple[EnvironmentEntry, ...]:
    return tuple(
        EnvironmentEntry(
            key.value, with_expressions(str(value.value), path, yamlfile.line(value)), yamlfile.line(key)
        )
        for key, value in yamlfile.items(yamlfile.get(node, "env"))
        if isinstance(value, yaml.ScalarNode)
    )


def with_expressions(text: str, path: str, line: int) -> Text:
    """``text`` with every ``${{ … }}`` unknown."""
    pieces: list[str | Unknown] = []
    at = 0
    for match in _EXPRESSION.finditer(text):
        pieces += [text[at : match.start()], Unknown(f"the expression {code(match[0])}", path, line)]
        at = match.end()
    return join([*pieces, text[at:]])


def _block(path: str, text: str, node: yaml.ScalarNode) -> Source:
    """The text of a ``run:`` with its place: exact for a literal block or a plain one-line scalar."""
    first, last = node.start_mark.line + 1, node.end_mark.line + 1
    value = str(node.value)
    lines = text.split("\n")
    if node.style == "|":
        body = lines[first : first + value.count("\n") + 1]
        written = [line for line in body if line.strip()]
        indent = min((len(line) - len(line.lstrip(" ")) for line in written), default=0)
        return Source(path, value, first + 1, indent)
    if node.style is None and first == last:
        return Source(path, value, first, node.start_mark.column)
    return Source(path, value, first, 0, max(first, last - (node.end_mark.column == 0)))
