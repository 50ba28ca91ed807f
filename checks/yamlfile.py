"""YAML with line numbers, parsed by libyaml under limits: for workflows and for Hydra configs.

Aliases are counted each time they are followed, so a small file that expands without end is refused, and
nesting is bounded before the parser sees the text.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from omegaconf._utils import get_yaml_loader

from checks.markdown import code

MAX_NODES = 50_000
MAX_DEPTH = 100


class YamlRefused(Exception):
    """Text that is no YAML, or YAML beyond the limits; the message says which and where."""


class _OmegaConfLoader(yaml.CSafeLoader):
    """libyaml's parser with the scalar rules of ``OmegaConf.load`` (checked by the identity test)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG:
                if key.value in seen:
                    raise YamlRefused(f"line {key.start_mark.line + 1}: duplicate key {code(key.value)}")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_OmegaConfLoader.yaml_implicit_resolvers = get_yaml_loader().yaml_implicit_resolvers


def compose(text: str) -> yaml.Node | None:
    """The node tree of the one document in ``text``, None if it is empty. Raises YamlRefused."""
    _refuse_deep_nesting(text)
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise YamlRefused(_reason(error)) from None
    if node is not None:
        _count(node)
    return node


def construct(text: str) -> Any:
    """The plain values of ``text``, as ``OmegaConf.load`` would read them. Raises YamlRefused."""
    root = compose(text)
    if root is None:
        return None
    if isinstance(root, yaml.ScalarNode) and root.tag == "tag:yaml.org,2002:str":
        raise YamlRefused("a text where a mapping is expected")
    try:
        return yaml.load(text, Loader=_OmegaConfLoader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, AttributeError) as error:
        raise YamlRefused(_reason(error)) from None


def line(node: yaml.Node) -> int:
    """The first line of ``node``, from 1."""
    return int(node.start_mark.line) + 1


def items(node: yaml.Node | None) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """The (key, value) nodes of a mapping; nothing for any other node."""
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def get(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """The value of ``key`` in a mapping node, None if it is not there."""
    return next((value for name, value in items(node) if name.value == key), None)


def scalar(node: yaml.Node | None) -> str | None:
    """The text of a scalar node, None for any other."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def plain(node: yaml.Node) -> Any:
    """The plain values below ``node``."""
    loader = _OmegaConfLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise YamlRefused(_reason(error)) from None
    finally:
        loader.dispose()


def merge_key(root: yaml.Node) -> int | None:
    """The line of the first ``<<`` that is a key, None if there is none."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    return line(key)
                stack.append(value)
        elif isinstance(node, yaml.SequenceNode):
            stack += node.value
    return None


def _count(root: yaml.Node) -> None:
    budget = MAX_NODES
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        budget -= 1
        if budget < 0 or depth > MAX_DEPTH:
            limit = f"{MAX_NODES} nodes" if budget < 0 else f"{MAX_DEPTH} levels"
            raise YamlRefused(f"expands to more than {limit}")
        if isinstance(node, yaml.MappingNode):
            stack += [(part, depth + 1) for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            stack += [(part, depth + 1) for part in node.value]


_COMPACT = re.compile(r"\s*((?:[-?:][ \t]+)*)")


def _refuse_deep_nesting(text: str) -> None:
    depth = 0
    for number, line_ in enumerate(text.splitlines(), 1):
        depth = max(0, depth + line_.count("[") + line_.count("{") - line_.count("]") - line_.count("}"))
        indent = len(line_) - len(line_.lstrip(" "))
        compact = len(_COMPACT.match(line_)[1].split())  # type: ignore[index]
        if depth > MAX_DEPTH or compact > MAX_DEPTH or indent > 1000:
            raise YamlRefused(f"line {number}: nested deeper than {MAX_DEPTH}")


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {code(str(problem))}" if mark else code(str(problem))
