"""Which Hydra entry function a Python file runs, read from its syntax tree (never imported).

Source: Hydra docs, *Hydra's decorator*: the config path is relative to the file of the decorated function.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from checks.markdown import code
from checks.snapshot import Snapshot

MAX_MODULES_DEEP = 4


class Unreadable(Exception):
    """No Python that can be parsed, or an entry that is computed at run time; the text says which."""


@dataclass(frozen=True)
class Decorated:
    """A function under ``@hydra.main``: the file it is in and the decorator's constant arguments."""

    path: str
    arguments: Mapping[str, str | None]


@dataclass
class _Module:
    """What matters of one file: decorators by function, calls by function ("" is the module itself)."""

    decorated: dict[str, ast.Call | None] = field(default_factory=dict)
    calls: dict[str, set[str]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Local name to (module, name in it); the name is "" for a module."""


def entry_function(
    snapshot: Snapshot, path: str, name: str | None = None, deep: int = MAX_MODULES_DEEP
) -> Decorated | None:
    """The decorated function that running ``path`` (or calling its function ``name``) reaches, if any.

    Calls into other files of the tree are followed ``deep`` times. Raises Unreadable or SnapshotError.
    """
    module = _read(snapshot.text(path), path)
    reached = _reached(module, "" if name is None else name)
    own = [each for each in module.decorated if each in reached] or (
        list(module.decorated) if name is None else []
    )
    if len(own) > 1:
        raise Unreadable(f"{code(path)} has several functions under `@hydra.main`")
    if own:
        return Decorated(path, _constants(module.decorated[own[0]], path))
    if deep > 0:
        for target, function in _imported_calls(module, reached):
            file = _file_of(snapshot, path, target)
            found = entry_function(snapshot, file, function, deep - 1) if file else None
            if found is not None:
                return found
    return None


def _read(text: str, path: str) -> _Module:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable(f"{code(path)} is no Python that can be parsed") from None
    module = _Module()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (origin, alias.name)
    _visit(tree.body, "", module)
    return module


def _visit(body: Iterable[ast.stmt], owner: str, module: _Module) -> None:
    """Note the calls of each function and the decorated ones, nested functions with their own name."""
    calls = module.calls.setdefault(owner, set())
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_hydra_main(decorator, module):
                    module.decorated[node.name] = decorator if isinstance(decorator, ast.Call) else None
            _visit(node.body, node.name, module)
            continue
        if isinstance(node, ast.Call):
            calls.add(ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else "")
            if isinstance(node.func, ast.Call) and _is_hydra_main(node.func, module):
                # `hydra.main(…)(function)()`
                module.decorated[f"line {node.lineno}"] = node.func
                calls.add(f"line {node.lineno}")
        stack += ast.iter_child_nodes(node)


def _is_hydra_main(node: ast.expr, module: _Module) -> bool:
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    head, _, tail = name.partition(".")
    origin, imported = module.imports.get(head, ("", ""))
    return (origin, imported, tail) in (("hydra", "", "main"), ("hydra", "main", ""))


def _reached(module: _Module, start: str) -> set[str]:
    reached: set[str] = set()
    stack = [start]
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack += module.calls.get(name, ())
    return reached


def _imported_calls(module: _Module, reached: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Module and function of each call that leaves the file."""
    for name in sorted(reached):
        head, _, tail = name.rpartition(".")
        if name in module.imports and module.imports[name][1]:
            yield module.imports[name]
        elif head in module.imports:
            origin, imported = module.imports[head]
            yield (f"{origin}.{imported}" if imported else origin), tail


def _file_of(snapshot: Snapshot, path: str, module: str) -> str | None:
    """The file of ``module`` as imported from ``path``; None outside the tree."""
    level = len(module) - len(module.lstrip("."))
    folder = posixpath.dirname(path)
    for _ in range(level - 1):
        folder = posixpath.dirname(folder)
    relative = module.lstrip(".").replace(".", "/")
    bases = (folder,) if level else ("", folder)
    candidates = [posixpath.join(base, relative + end) for base in bases for end in (".py", "/__init__.py")]
    return next((candidate for candidate in candidates if candidate in snapshot), None)


def _constants(call: ast.Call | None, path: str) -> dict[str, str | None]:
    names = ("config_path", "config_name", "version_base")
    pairs: list[tuple[str | None, ast.expr]] = list(zip(names, call.args, strict=False)) if call else []
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords] if call else []
    result: dict[str, str | None] = {}
    for name, value in pairs:
        if not isinstance(value, ast.Constant) or not (value.value is None or isinstance(value.value, str)):
            raise Unreadable(
                f"{code(path)} computes {code(name or 'an argument')} of `@hydra.main` at run time"
            )
        if name is not None:
            result[name] = value.value
    return result
