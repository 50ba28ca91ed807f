"""One module per rule. A rule is found by being a class with an ``id`` in a module of this package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

from checks.rules.base import LaunchRule


@cache
def all_rules() -> tuple[LaunchRule, ...]:
    """One instance of every rule, by id."""
    rules: list[LaunchRule] = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for _, class_ in inspect.getmembers(loaded, inspect.isclass):
            if (
                issubclass(class_, LaunchRule)
                and class_.__module__ == loaded.__name__
                and hasattr(class_, "id")
            ):
                rules.append(class_())
    return tuple(sorted(rules, key=lambda rule: rule.id))
