"""The Hydra entry point of a launch: which module, which config folder, which primary config.

Read from the ``@hydra.main`` decorator of the module's source in the tree (never imported) and from the
launch's own ``--config-path`` / ``--config-name`` / ``--config-dir`` flags. Source: hydra docs,
*Hydra's command line flags*.
"""

from __future__ import annotations

import difflib
import posixpath
from dataclasses import dataclass

from checks.hydra.module import MAX_MODULES_DEEP, Unreadable, entry_function
from checks.hydra.unknown import MARKER
from checks.markdown import code
from checks.snapshot import Snapshot


class NoEntry(Exception):
    """No entry point can be told from the tree: the text says why, ready for *unresolved*."""


class NotHydra(Exception):
    """The module is in the tree and has no ``@hydra.main``."""


class OutsideTree(NoEntry):
    """The module belongs to a submodule, whose files are not part of this tree."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where composition starts. ``folder`` is the config folder in the tree, ``name`` the primary config."""

    module: str
    folder: str
    name: str
    version_base: str | None
    cwd: str
    config_dir: str | None = None
    """The folder of ``--config-dir``, searched last."""

    @property
    def config(self) -> str:
        """The tree path of the primary config."""
        name = self.name if self.name.endswith((".yaml", ".yml")) else f"{self.name}.yaml"
        return posixpath.normpath(posixpath.join(self.folder, name))


@dataclass(frozen=True, slots=True)
class Flags:
    """Hydra's own flags on the command line; None where absent."""

    config_path: str | None = None
    config_name: str | None = None
    config_dir: str | None = None


def find_entry(
    snapshot: Snapshot, module: str, flags: Flags, cwd: str, deep: int = MAX_MODULES_DEEP
) -> Entry:
    """The entry of ``module`` (dotted name or a ``.py`` path), at most ``deep`` imports away.

    Raises NoEntry, NotHydra, SnapshotError.
    """
    path = _module_file(snapshot, module, cwd)
    try:
        decorated = entry_function(snapshot, path, deep=deep)
    except Unreadable as error:
        raise NoEntry(str(error)) from None
    if decorated is None:
        raise NotHydra(f"{code(path)} has no `@hydra.main`")
    for flag in (flags.config_name, flags.config_path, flags.config_dir):
        if flag is not None and MARKER in flag:
            raise NoEntry(f"the config that is named by {code(flag.replace(MARKER, '…'))} is not known")
    path, arguments = decorated.path, decorated.arguments
    name = flags.config_name or arguments.get("config_name")
    folder = flags.config_path or arguments.get("config_path")
    if name is None:
        raise NoEntry(f"{code(path)} names no primary config and the launch gives no `--config-name`")
    version_base = arguments.get("version_base") if "version_base" in arguments else "1.1"
    return Entry(module, _config_folder(path, folder), name, version_base, cwd, _config_dir(flags, cwd))


def _config_dir(flags: Flags, cwd: str) -> str | None:
    if flags.config_dir is None:
        return None
    folder = posixpath.normpath(posixpath.join(cwd, flags.config_dir))
    if folder.startswith(("/", "..")):
        raise NoEntry(f"the folder {code(flags.config_dir)} of `--config-dir` lies outside the repository")
    return "" if folder == "." else folder


def nearest_entry(snapshot: Snapshot, module: str, flags: Flags, cwd: str) -> Entry | None:
    """The tree's own primary config whose name is nearest to the ``--config-name``, if any is near."""
    if flags.config_name is None:
        return None
    wanted = posixpath.basename(flags.config_name).removesuffix(".yaml")
    names: dict[str, str] = {}
    for path in sorted(snapshot.tree):
        folder, _, file = path.rpartition("/")
        if posixpath.basename(folder) == "config" and file.endswith(".yaml") and not file.startswith("_"):
            names.setdefault(file.removesuffix(".yaml"), folder)
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.7)
    return Entry(module, names[near[0]], near[0], None, cwd) if near else None


def _module_file(snapshot: Snapshot, module: str, cwd: str) -> str:
    relative = module if module.endswith(".py") else module.replace(".", "/") + ".py"
    candidates = [posixpath.normpath(posixpath.join(base, relative)) for base in dict.fromkeys((cwd, ""))]
    if not module.endswith(".py"):
        candidates += [candidate.removesuffix(".py") + "/__main__.py" for candidate in candidates]
    for candidate in candidates:
        if candidate in snapshot:
            return candidate
    for candidate in candidates:
        if submodule := _submodule(snapshot, candidate):
            raise OutsideTree(
                f"{code(module)} is in the submodule {code(submodule)}, which is not part of this tree"
            )
    raise NoEntry(f"{code(module)} is not a module of this tree")


def _submodule(snapshot: Snapshot, path: str) -> str | None:
    parts = path.split("/")
    for length in range(1, len(parts)):
        folder = "/".join(parts[:length])
        entry = snapshot.tree.get(folder)
        if entry is not None and entry.mode == "160000":
            return folder
    return None


def _config_folder(module_path: str, folder: str | None) -> str:
    if folder is None:
        raise NoEntry(f"{code(module_path)} has no config folder")
    if folder.startswith("pkg://"):
        return folder.removeprefix("pkg://").replace(".", "/")
    if folder.startswith(("/", "file://")):
        raise NoEntry(f"the config folder {code(folder)} lies outside the repository")
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(module_path), folder))
    if joined.startswith(".."):
        raise NoEntry(f"the config folder {code(folder)} lies outside the repository")
    return "" if joined == "." else joined
