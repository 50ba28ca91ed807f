"""A workflow or a local action as frozen values with line numbers, its expressions not yet evaluated.

Source: GitHub docs, *Workflow syntax for GitHub Actions*, *Metadata syntax for GitHub Actions*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from checks import yamlfile
from checks.shell.source import Source
from checks.shell.value import known
from checks.workflow import scalars
from checks.workflow.expressions import as_text

FOLDER = ".github/workflows"
_READS_INPUTS = re.compile(r"\binputs\s*[.\[]", re.I)


@dataclass(frozen=True, slots=True)
class Setting:
    """One value as written, with its line."""

    text: str
    line: int


Settings = Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: ``run`` for a script, ``uses`` with ``inputs`` for an action."""

    id: str | None
    name: str | None
    line: int
    run: Source | None
    uses: str | None
    inputs: Settings
    environment: Settings
    condition: Setting | None
    continues: Setting | None
    shell: str | None
    working_directory: Setting | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """``strategy.matrix``: lists by name, cells to add and to leave out; ``written`` for an expression.

    Each may itself be a text with an expression.
    """

    axes: Mapping[str, Any] = field(default_factory=dict)
    include: Any = None
    exclude: Any = None
    written: Setting | None = None


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """One job. ``uses`` with ``inputs`` calls another workflow instead of ``steps``."""

    id: str
    line: int
    runs_on: tuple[Setting, ...]
    matrix: Matrix
    environment: Settings
    container: Settings
    condition: Setting | None
    needs: tuple[str, ...]
    steps: tuple[Step, ...]
    uses: Setting | None
    inputs: Settings
    shell: str | None
    working_directory: Setting | None


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow file. ``events`` are the names under ``on:``; ``inputs`` the defaults of its inputs.

    ``booleans`` are those of its inputs that have this type; ``reads_inputs`` if an expression may name one.
    """

    path: str
    events: tuple[str, ...]
    inputs: Settings
    booleans: frozenset[str]
    environment: Settings
    jobs: tuple[WorkflowJob, ...]
    reads_inputs: bool


@dataclass(frozen=True, slots=True)
class Action:
    """A composite action of the repository."""

    path: str
    inputs: Settings
    steps: tuple[Step, ...]
    outputs: Settings


def is_workflow(path: str) -> bool:
    """True for a file that GitHub reads as a workflow."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith((".yml", ".yaml"))


def load(path: str, text: str) -> Workflow:
    """The workflow in ``text``. Raises YamlRefused."""
    root = _root(text)
    events = yamlfile.get(root, "on")
    defaults = yamlfile.get(yamlfile.get(root, "defaults"), "run")
    jobs = tuple(
        _job(path, text, key.value, key, node, defaults)
        for key, node in yamlfile.items(yamlfile.get(root, "jobs"))
    )
    inputs, booleans = _input_defaults(events), _booleans(events)
    reads_inputs = _READS_INPUTS.search(text) is not None
    return Workflow(path, _names(events), inputs, booleans, _settings(root, "env"), jobs, reads_inputs)


def load_action(path: str, text: str) -> Action | None:
    """The composite action in ``text``, None for another kind. Raises YamlRefused."""
    root = _root(text)
    runs = yamlfile.get(root, "runs")
    if yamlfile.scalar(yamlfile.get(runs, "using")) != "composite":
        return None
    outputs = {
        name.value: value
        for name, node in yamlfile.items(yamlfile.get(root, "outputs"))
        if (value := _setting(yamlfile.get(node, "value"))) is not None
    }
    return Action(path, _defaults_of(yamlfile.get(root, "inputs")), _steps(path, text, runs), outputs)


def _root(text: str) -> yaml.MappingNode:
    root = yamlfile.compose(text)
    if not isinstance(root, yaml.MappingNode):
        raise yamlfile.YamlRefused("no mapping at the top")
    if merge := yamlfile.merge_key(root):
        raise yamlfile.YamlRefused(f"line {merge}: GitHub does not read the merge key `<<`")
    return root


def _job(
    path: str, text: str, id_: str, key: yaml.Node, node: yaml.Node, outer: yaml.Node | None
) -> WorkflowJob:
    defaults = yamlfile.get(yamlfile.get(node, "defaults"), "run")
    return WorkflowJob(
        id=id_,
        line=yamlfile.line(key),
        runs_on=_labels(yamlfile.get(node, "runs-on")),
        matrix=_matrix(yamlfile.get(yamlfile.get(node, "strategy"), "matrix")),
        environment=_settings(node, "env"),
        container=_container(yamlfile.get(node, "container")),
        condition=_setting(yamlfile.get(node, "if")),
        needs=_names(yamlfile.get(node, "needs")),
        steps=_steps(path, text, node),
        uses=_setting(yamlfile.get(node, "uses")),
        inputs=_settings(node, "with"),
        shell=yamlfile.scalar(yamlfile.get(defaults, "shell") or yamlfile.get(outer, "shell")),
        working_directory=_setting(
            yamlfile.get(defaults, "working-directory") or yamlfile.get(outer, "working-directory")
        ),
    )


def _steps(path: str, text: str, node: yaml.Node | None) -> tuple[Step, ...]:
    steps = yamlfile.get(node, "steps")
    children = steps.value if isinstance(steps, yaml.SequenceNode) else []
    return tuple(_step(path, text, child) for child in children)


def _step(path: str, text: str, node: yaml.Node) -> Step:
    run = yamlfile.get(node, "run")
    return Step(
        id=yamlfile.scalar(yamlfile.get(node, "id")),
        name=yamlfile.scalar(yamlfile.get(node, "name")),
        line=yamlfile.line(node),
        run=_block(path, text, run) if isinstance(run, yaml.ScalarNode) else None,
        uses=yamlfile.scalar(yamlfile.get(node, "uses")),
        inputs=_settings(node, "with"),
        environment=_settings(node, "env"),
        condition=_setting(yamlfile.get(node, "if")),
        continues=_setting(yamlfile.get(node, "continue-on-error")),
        shell=yamlfile.scalar(yamlfile.get(node, "shell")),
        working_directory=_setting(yamlfile.get(node, "working-directory")),
    )


def _setting(node: yaml.Node | None) -> Setting | None:
    return Setting(text_of(node), yamlfile.line(node)) if isinstance(node, yaml.ScalarNode) else None


def text_of(node: yaml.ScalarNode) -> str:
    """What GitHub makes of a scalar where a text is needed: null, booleans and numbers rewritten."""
    value = scalars.value_of(node)
    return value if isinstance(value, str) else known(as_text(value)) or ""


def _settings(node: yaml.Node | None, key: str) -> Settings:
    return {
        name.value: Setting(text_of(value), yamlfile.line(name))
        for name, value in yamlfile.items(yamlfile.get(node, key))
        if isinstance(value, yaml.ScalarNode)
    }


def _labels(node: yaml.Node | None) -> tuple[Setting, ...]:
    if isinstance(node, yaml.MappingNode):
        node = yamlfile.get(node, "labels")
    children = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(setting for child in children if (setting := _setting(child)) is not None)


def _names(node: yaml.Node | None) -> tuple[str, ...]:
    if isinstance(node, yaml.MappingNode):
        return tuple(key.value for key, _ in yamlfile.items(node))
    return tuple(setting.text for setting in _labels(node))


def _container(node: yaml.Node | None) -> Settings:
    """``image`` and, as ``env.NAME``, the container's own environment."""
    if isinstance(node, yaml.ScalarNode):
        return {"image": Setting(str(node.value), yamlfile.line(node))}
    image = _setting(yamlfile.get(node, "image"))
    own = {f"env.{name}": value for name, value in _settings(node, "env").items()}
    return {**({"image": image} if image else {}), **own}


def _matrix(node: yaml.Node | None) -> Matrix:
    if isinstance(node, yaml.ScalarNode):
        return Matrix(written=_setting(node))
    values = scalars.value_of(node) if isinstance(node, yaml.MappingNode) else {}
    include, exclude = values.pop("include", None), values.pop("exclude", None)
    return Matrix(values, include, exclude)


def _input_defaults(events: yaml.Node | None) -> Settings:
    """Defaults under ``workflow_dispatch`` and, before them, ``workflow_call``."""
    kinds = (yamlfile.get(events, "workflow_dispatch"), yamlfile.get(events, "workflow_call"))
    return {name: each for kind in kinds for name, each in _defaults_of(yamlfile.get(kind, "inputs")).items()}


def _defaults_of(inputs: yaml.Node | None) -> Settings:
    return {name.value: _default_of(name, node) for name, node in yamlfile.items(inputs)}


def _default_of(name: yaml.ScalarNode, node: yaml.Node) -> Setting:
    """The default of an input; an expression that nobody knows for one that must be given."""
    line = yamlfile.line(name)
    if default := _setting(yamlfile.get(node, "default")):
        return default
    if options := _labels(yamlfile.get(node, "options")):
        return options[0]
    if yamlfile.scalar(yamlfile.get(node, "required")) in ("true", "True", "TRUE"):
        return Setting(f"${{{{ inputs.{name.value} }}}}", line)
    return Setting("false" if _is_boolean(node) else "", line)


def _is_boolean(node: yaml.Node) -> bool:
    return yamlfile.scalar(yamlfile.get(node, "type")) == "boolean"


def _booleans(events: yaml.Node | None) -> frozenset[str]:
    kinds = (
        yamlfile.get(yamlfile.get(events, kind), "inputs") for kind in ("workflow_call", "workflow_dispatch")
    )
    return frozenset(
        name.value for inputs in kinds for name, node in yamlfile.items(inputs) if _is_boolean(node)
    )


def _block(path: str, text: str, node: yaml.ScalarNode) -> Source:
    """The text of a ``run:`` with its place: exact for a literal block or a plain one-line scalar."""
    first, last = node.start_mark.line + 1, node.end_mark.line + 1
    value = str(node.value)
    lines = text.split("\n")
    if node.style == "|":
        return Source(path, value, first + 1, _indent(value.split("\n"), lines[first:]))
    if not node.style and first == last:
        # An anchor or a tag may stand before the text.
        column = lines[first - 1].find(value, node.start_mark.column)
        return Source(path, value, first, max(column, node.start_mark.column))
    return Source(path, value, first, 0, max(first, last - (node.end_mark.column == 0)))


def _indent(value: list[str], written: list[str]) -> int:
    """By how many columns the lines of a literal block are indented in the file."""
    for line, whole in zip(value, written, strict=False):
        if line.strip():
            return max(len(whole.rstrip("\r")) - len(line), 0)
    return 0
