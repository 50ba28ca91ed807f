"""Hydra's view of the snapshot: config sources and repository that read only from the tree.

Search paths ``pkg://a.b`` and ``file://a/b`` are mapped to folders of the snapshot; anything outside is
refused. Nothing is imported from the reviewed repository and no file of this machine is read, Hydra's own
``pkg://hydra.conf`` excepted.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import Any

import yaml
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.core_plugins.importlib_resources_config_source import ImportlibResourcesConfigSource
from hydra._internal.core_plugins.structured_config_source import StructuredConfigSource
from hydra.core.config_search_path import ConfigSearchPath, SearchPathElement
from hydra.core.object_type import ObjectType
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from omegaconf import OmegaConf

from checks import yamlfile
from checks.markdown import code
from checks.snapshot import NotInTree, Snapshot, SnapshotError

HYDRA_OWN = "pkg://hydra.conf"


class ConfigUnreadable(ConfigLoadError):
    """A config file of the tree that is refused (encoding, size, YAML beyond the limits)."""


class SnapshotSource(ConfigSource):
    """One folder of the snapshot as a Hydra config source."""

    def __init__(self, provider: str, folder: str, snapshot: Snapshot) -> None:
        self.provider = provider
        self.path = folder
        self.snapshot = snapshot

    @staticmethod
    def scheme() -> str:
        """Only for Hydra's messages."""
        return "snapshot"

    def file(self, config_path: str) -> str:
        """The tree path of a config, ``..`` resolved; outside the tree it names no file."""
        return posixpath.normpath(posixpath.join(self.path, self._normalize_file_name(config_path)))

    def load_config(self, config_path: str) -> ConfigResult:
        """The parsed file. Raises ConfigUnreadable, or NotFetched when its bytes are not here."""
        path = self.file(config_path)
        try:
            text = self.snapshot.text(path)
            values = _values(text)
        except NotInTree as error:
            raise ConfigUnreadable(str(error)) from None
        except yamlfile.YamlRefused as error:
            raise ConfigUnreadable(f"{code(path)}: {error}") from None
        return ConfigResult(
            config=OmegaConf.create({} if values is None else values),
            path=path,
            provider=self.provider,
            header=self._get_header_dict(text[:512]),
        )

    def is_config(self, config_path: str) -> bool:
        """True if the file is in the tree."""
        return self.file(config_path) in self.snapshot

    def is_group(self, config_path: str) -> bool:
        """True if the folder is in the tree."""
        return self.snapshot.is_folder(_folder(self.path, config_path))

    def available(self) -> bool:
        """True if the search path itself is in the tree."""
        return self.is_group("")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Names of groups or configs directly below ``config_path``."""
        folder = _folder(self.path, config_path)
        names: list[str] = []
        children = {path[len(folder) :].lstrip("/").partition("/")[0] for path in self.snapshot.under(folder)}
        for name in sorted(children):
            self._list_add_result(names, posixpath.join(config_path, name), name, results_filter)
        return sorted(set(names))


# Search paths that are folders of the tree already.
OWN_PATHS = frozenset({"main", "command-line"})


class SnapshotRepository(ConfigRepository):
    """Hydra's config repository with every search path mapped into the snapshot.

    ``cwd`` is the working directory of the launch, to which ``file://`` paths are relative.
    """

    def __init__(self, search_path: ConfigSearchPath, snapshot: Snapshot, cwd: str) -> None:
        self.snapshot = snapshot
        self.cwd = cwd
        super().__init__(search_path)

    def __deepcopy__(self, memo: dict[int, Any]) -> SnapshotRepository:
        copy = object.__new__(SnapshotRepository)
        copy.snapshot, copy.cwd, copy.sources = self.snapshot, self.cwd, list(self.sources)
        return copy

    def initialize_sources(self, config_search_path: ConfigSearchPath) -> None:
        """Called by Hydra, again when the primary config adds search paths."""
        self.sources = [self._source(element) for element in config_search_path.get_path()]

    def _source(self, element: SearchPathElement) -> ConfigSource:
        if element.provider == "schema":
            return StructuredConfigSource(element.provider, element.path)
        if element.path == HYDRA_OWN:
            return ImportlibResourcesConfigSource(element.provider, element.path)
        folder = element.path if element.provider in OWN_PATHS else self._mapped(element.path)
        return SnapshotSource(element.provider, folder, self.snapshot)

    def _mapped(self, path: str) -> str:
        scheme, separator, rest = path.partition("://")
        if not separator:
            scheme, rest = "file", path
        if scheme == "pkg":
            return rest.replace(".", "/")
        if scheme != "file" or rest.startswith("/"):
            raise ConfigCompositionException(f"search path {code(path)} lies outside the repository")
        return _folder(self.cwd, rest)


def is_config(path: str) -> bool:
    """True for a file that can be part of a config tree."""
    return path.endswith(".yaml") and not path.startswith(".github/")


def _folder(base: str, path: str) -> str:
    folder = posixpath.normpath(posixpath.join(base, path))
    return "" if folder == "." else folder


@lru_cache(maxsize=512)
def _values(text: str) -> Any:
    return yamlfile.construct(text)


@lru_cache(maxsize=512)
def key_lines(text: str) -> tuple[tuple[str, int, bool], ...]:
    """Every key of a config file in document order: dotted path, line, and whether it holds a mapping."""
    found: list[tuple[str, int, bool]] = []

    def walk(node: yaml.Node | None, prefix: str) -> None:
        for key, value in yamlfile.items(node):
            path = f"{prefix}{key.value}"
            is_mapping = isinstance(value, yaml.MappingNode) and bool(value.value)
            found.append((path, yamlfile.line(key), is_mapping))
            walk(value, f"{path}.")

    walk(yamlfile.compose(text), "")
    return tuple(found)


__all__ = ["ConfigUnreadable", "SnapshotError", "SnapshotRepository", "SnapshotSource", "key_lines"]
