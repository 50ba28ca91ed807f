"""Real Hydra composition on the snapshot: a base per group choices, value overrides on a copy.

The base is what Hydra composes from the defaults list; ``ConfigLoaderImpl`` then applies value overrides
one by one with the same function as ``hydra.compose``, so every override that it refuses is found, not
only the first. Identity with plain Hydra is a test.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import hydra.version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.defaults_list import create_defaults_list
from hydra.core.default_element import ResultDefault
from hydra.core.override_parser.types import Override as HydraOverride
from hydra.core.plugins import Plugins
from hydra.core.utils import JobRuntime
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from checks.hydra.entry import Entry
from checks.hydra.overrides import Fault, FaultKind, Override, parse
from checks.hydra.tree import HYDRA_OWN, SnapshotRepository, is_config, key_lines
from checks.hydra.unknown import MARKER, replace_resolvers
from checks.markdown import code
from checks.snapshot import Snapshot

replace_resolvers()
_REFUSALS = (HydraException, OmegaConfBaseException, ValueError, RecursionError, TypeError)


@dataclass(frozen=True)
class Base:
    """A composed defaults list: the pickled config before value overrides, and the files it came from."""

    pickled: bytes
    defaults: tuple[tuple[str, str], ...]
    """(config file in the tree, package) in merge order."""
    places: Mapping[str, tuple[str, int]]
    """Every path of the config files with the file and line that has it last, in merge order."""

    @cached_property
    def tree(self) -> DictConfig:
        """The config before value overrides, shared: only to be read."""
        return self.config()

    def config(self) -> DictConfig:
        """A fresh copy."""
        config: DictConfig = pickle.loads(self.pickled)  # noqa: S301 - our own bytes
        return config


@dataclass(frozen=True)
class Composition:
    """The config after every override that Hydra accepts, and the faults of those it refuses."""

    config: DictConfig
    base: Base
    applied: tuple[Override, ...]
    faults: tuple[Fault, ...]


class Unresolvable(Exception):
    """What decides the composition is not known (an option chosen by an unknown value)."""


Bases = dict[tuple[str, Entry, tuple[str, ...]], "Base | Fault"]
"""Composed bases by content of the tree's YAML files, entry and group overrides."""


class Composer:
    """Composes launches on one snapshot; ``bases`` may be shared between snapshots."""

    def __init__(self, snapshot: Snapshot, bases: Bases | None = None) -> None:
        self.snapshot = snapshot
        self.bases: Bases = {} if bases is None else bases
        self.loaders: dict[Entry, _SnapshotLoader] = {}
        self.content = _content(snapshot)

    def compose(self, entry: Entry, overrides: tuple[Override, ...]) -> Composition | Fault:
        """Compose a launch. A single Fault means that there is no config at all.

        Raises Unresolvable, or NotFetched when files are missing.
        """
        loader = self._loader(entry)
        judged = [(override, _grammar_fault(override)) for override in overrides]
        faults = [fault for _, fault in judged if fault is not None]
        accepted = [override for override, fault in judged if fault is None]
        own = tuple(override.text for override in accepted if parse(override.text).is_hydra_override())
        try:
            groups = loader.groups(own)
        except _REFUSALS as error:
            return _base_fault(error, accepted)
        choices = [override for override in accepted if _shapes_base(parse(override.text), groups)]
        values = [override for override in accepted if not _shapes_base(parse(override.text), groups)]
        for choice in choices:
            if MARKER in choice.text:
                raise Unresolvable(f"the option of {code(choice.key)} is not known")
        base = self._base(entry, loader, choices)
        if isinstance(base, Fault):
            return base
        return _apply(base, values, tuple(choices), faults)

    def prepare(self, entry: Entry) -> None:
        """Note the files of the config tree that are not here yet. Raises NotFetched if there are any."""
        folders = [entry.folder] if entry.config_dir is None else [entry.folder, entry.config_dir]
        paths = [path for folder in folders for path in self.snapshot.under(folder) if is_config(path)]
        self.snapshot.require(paths)

    def _loader(self, entry: Entry) -> _SnapshotLoader:
        if entry not in self.loaders:
            self.prepare(entry)
            self.loaders[entry] = _SnapshotLoader(entry, self.snapshot)
        return self.loaders[entry]

    def _base(self, entry: Entry, loader: _SnapshotLoader, choices: list[Override]) -> Base | Fault:
        key = (self.content, entry, tuple(choice.text for choice in choices))
        if key not in self.bases:
            try:
                self.bases[key] = loader.base(choices)
            except _REFUSALS as error:
                self.bases[key] = _base_fault(error, choices)
        found = self.bases[key]
        if isinstance(found, Fault) and found.override is not None:
            # The cached fault names an override of another launch with the same choices.
            same = next(choice for choice in choices if choice.text == found.override.text)
            return Fault(same, found.kind, found.reason)
        return found


class _SnapshotLoader(ConfigLoaderImpl):
    """Hydra's own loader on a repository that reads from the snapshot."""

    def __init__(self, entry: Entry, snapshot: Snapshot) -> None:
        Plugins.instance()
        JobRuntime.instance().set("name", "app")
        self.entry = entry
        self.snapshot = snapshot
        search_path = ConfigSearchPathImpl()
        search_path.append("hydra", HYDRA_OWN)
        search_path.append("main", entry.folder)
        if entry.config_dir is not None:
            search_path.append("command-line", entry.config_dir)
        search_path.append("schema", "structured://")
        self.config_search_path = search_path
        self.repository = SnapshotRepository(search_path, snapshot, entry.cwd)

    @cache  # noqa: B019 - a loader lives as long as its composer
    def groups(self, own: tuple[str, ...]) -> IConfigRepository:
        """The repository with the search path of the primary config and of ``hydra.*`` overrides."""
        hydra.version.setbase(self.entry.version_base)
        return self._parse_overrides_and_create_caching_repo(self.entry.name, list(own))[1]

    def base(self, choices: list[Override]) -> Base:
        """Everything of ``_load_configuration_impl`` up to the value overrides of the application."""
        hydra.version.setbase(self.entry.version_base)
        self.ensure_main_config_source_available()
        parsed, repository = self._parse_overrides_and_create_caching_repo(
            self.entry.name, [choice.text for choice in choices]
        )
        self.validate_sweep_overrides_legal(overrides=parsed, run_mode=RunMode.RUN, from_shell=True)
        defaults = create_defaults_list(
            repo=repository,
            config_name=self.entry.name,
            overrides_list=parsed,
            prepend_hydra=True,
            skip_missing=False,
        )
        config = self._compose_config_from_defaults_list(defaults=defaults.defaults, repo=repository)
        OmegaConf.set_struct(config, True)
        OmegaConf.set_readonly(config.hydra, False)
        self._apply_overrides_to_config(defaults.config_overrides, config)
        with open_dict(config):
            del config["hydra"]
        files = tuple(_files(defaults.defaults, repository))
        return Base(pickle.dumps(config), files, _places(files, self.snapshot))


def _places(files: tuple[tuple[str, str], ...], snapshot: Snapshot) -> dict[str, tuple[str, int]]:
    places: dict[str, tuple[str, int]] = {}
    mappings: set[str] = set()
    for file, package in files:
        prefix = "" if package in ("", "_global_") else package.removeprefix("_global_.") + "."
        for key, line, is_mapping in key_lines(snapshot.text(file)):
            path = prefix + key
            if is_mapping:
                mappings.add(path)
            elif path in mappings:
                mappings.discard(path)
                for below in [known for known in places if known.startswith(f"{path}.")]:
                    del places[below]
            places[path] = (file, line)
    return places


def _content(snapshot: Snapshot) -> str:
    """A digest of every file that can be part of a config tree."""
    yamls = sorted((path, entry.blob) for path, entry in snapshot.tree.items() if is_config(path))
    return hashlib.sha256(repr(yamls).encode()).hexdigest()


def _files(defaults: list[ResultDefault], repository: IConfigRepository) -> list[tuple[str, str]]:
    """The tree files of a defaults list with their package, Hydra's own left out."""
    files: list[tuple[str, str]] = []
    for default in defaults:
        assert default.config_path is not None
        loaded = repository.load_config(default.config_path)
        if loaded is not None and loaded.provider not in ("hydra", "schema"):
            package = default.package if default.package is not None else loaded.header["package"]
            files.append((loaded.path, package or ""))
    return files


def _shapes_base(override: HydraOverride, groups: IConfigRepository) -> bool:
    """True if the override selects a config group or belongs to Hydra itself."""
    if override.is_hydra_override():
        return True
    return not isinstance(override.value(), dict) and bool(groups.group_exists(override.key_or_group))


def _apply(
    base: Base, values: list[Override], choices: tuple[Override, ...], faults: list[Fault]
) -> Composition:
    config = base.config()
    applied = list(choices)
    for override in values:
        try:
            ConfigLoaderImpl._apply_overrides_to_config([parse(override.text)], config)
        except (ConfigCompositionException, OmegaConfBaseException, ValueError, RecursionError) as error:
            faults.append(Fault(override, _kind(error), _words(error)))
            # A refused override can leave an inherited block replaced: start again without it.
            config = base.config()
            accepted = [parse(each.text) for each in applied[len(choices) :]]
            ConfigLoaderImpl._apply_overrides_to_config(accepted, config)
        else:
            applied.append(override)
    return Composition(config, base, tuple(applied), tuple(faults))


def _grammar_fault(override: Override) -> Fault | None:
    try:
        parsed = parse(override.text)
    except (HydraException, RecursionError, ValueError) as error:
        return Fault(override, "grammar", _words(error))
    if parsed.is_sweep_override():
        return Fault(override, "grammar", f"{code(override.text)} is a sweep, which needs `--multirun`")
    return None


def _kind(error: Exception) -> FaultKind:
    """The kind by the exception chain of ``_apply_overrides_to_config`` (hydra 1.3)."""
    text = str(error)
    if text.startswith("Could not append to config. An item is already at"):
        return "already-there"
    if text.startswith("Could not override"):
        return "unknown-key"
    return "value"


def _base_fault(error: Exception, choices: list[Override]) -> Fault:
    words = _words(error)
    for choice in choices:
        named = f"'{choice.key}/{choice.value}'" in str(error) or f"'{choice.key}'" in str(error)
        if named and isinstance(error, MissingConfigException | ConfigCompositionException):
            return Fault(choice, "option", words)
    return Fault(None, "missing-config" if isinstance(error, MissingConfigException) else "other", words)


def _words(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
