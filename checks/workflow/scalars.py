"""The values of YAML as GitHub reads them: the core schema of YAML 1.2, unlike those of Hydra's files.

Source: YAML 1.2.2, *Core Schema*; GitHub docs, *Workflow syntax for GitHub Actions*.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_BASED = re.compile(r"0o(?P<octal>[0-7]{1,20})|0x(?P<hex>[0-9a-fA-F]{1,16})")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def value_of(node: yaml.Node) -> Any:
    """The plain value below ``node``: text, number (a float), boolean, None, list or dict."""
    if isinstance(node, yaml.SequenceNode):
        return [value_of(each) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): value_of(each) for key, each in node.value}
    written = str(node.value)
    if not isinstance(node, yaml.ScalarNode) or node.style:
        return written
    if written in _NULLS:
        return None
    if written in _BOOLEANS:
        return _BOOLEANS[written]
    if based := _BASED.fullmatch(written):
        return float(int(based["octal"], 8) if based["octal"] else int(based["hex"], 16))
    return float(written) if _NUMBER.fullmatch(written) else written
