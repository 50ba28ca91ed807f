"""Where the commands of a script begin, by three parsers that know nothing of one another.

Offsets are those of the first word of each simple command, and of each ``[[``, in UTF-8 bytes; what stands in
substitutions is left out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_bash

from checks.shell.parse import parse
from checks.shell.syntax import (
    Case,
    Command,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Sequence,
    Simple,
    Test,
    While,
)

SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command"})


def ours(text: str) -> frozenset[int]:
    """By this project's parser. Raises ShellSyntaxError."""
    return frozenset(len(text[:start].encode()) for start in _starts(parse(text)))


def _starts(command: Command) -> Iterator[int]:
    match command:
        case Simple(words=(first, *_)):
            yield first.start
        case Test():
            yield command.start
    for inner in _inner(command):
        yield from _starts(inner)


def _inner(command: Command) -> Iterator[Command]:
    match command:
        case Sequence(items=items):
            yield from (each for each, _ in items)
        case Pipeline(commands=commands):
            yield from commands
        case Group(body=body) | For(body=body) | CountingFor(body=body) | Function(body=body):
            yield body
        case While(condition=condition, body=body):
            yield from (condition, body)
        case If(branches=branches):
            yield from (part for pair in branches for part in pair if part is not None)
        case Case(clauses=clauses):
            yield from (clause.body for clause in clauses)


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def by_tree_sitter(text: str) -> frozenset[int] | None:
    """By tree-sitter-bash; None where it does not understand the text."""
    root = _parser().parse(text.encode()).root_node
    return None if root.has_error else frozenset(_tree_sitter_starts(root))


def _tree_sitter_starts(root: tree_sitter.Node) -> Iterator[int]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in SUBSTITUTIONS:
            continue
        if node.type in COMMANDS:
            name = node.child_by_field_name("name")
            yield (name or node).start_byte
        stack += node.children


def by_shfmt(text: str) -> frozenset[int] | None:
    """By shfmt; None where it does not understand the text."""
    program = shutil.which("shfmt") or str(Path(sys.executable).with_name("shfmt"))
    done = subprocess.run(
        [program, "--to-json"], input=text.encode(), capture_output=True, timeout=30, check=False
    )
    return frozenset(_shfmt_starts(json.loads(done.stdout))) if done.returncode == 0 else None


def _shfmt_starts(root: Any) -> Iterator[int]:
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
            continue
        if not isinstance(node, dict) or node.get("Type") in ("CmdSubst", "ProcSubst"):
            continue
        if node.get("Type") == "CallExpr" and node.get("Args"):
            yield node["Args"][0]["Pos"]["Offset"]
        elif node.get("Type") in ("DeclClause", "TestClause", "LetClause"):
            yield node["Pos"]["Offset"]
        stack += node.values()
