"""The roles of a verl configuration: where they live, when the reference model is built, what keys change.

Sources: verl/trainer/ppo/utils.py (``need_reference_policy``), verl/trainer/ppo/trainer_base.py (LoRA),
and the table ``role_keys.yml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from checks.hydra.config import ABSENT, UNKNOWN, EffectiveConfig

ACTOR = "actor_rollout_ref.actor"
REF = "actor_rollout_ref.ref"
KL_SWITCHES = ("actor_rollout_ref.actor.use_kl_loss", "algorithm.use_kl_in_reward")
ENGINES = ("megatron", "fsdp_config", "veomni")


class KeyClass(StrEnum):
    """What a key changes; see the head of ``role_keys.yml``."""

    FORWARD = "forward"
    LAYOUT = "layout"
    PRECISION = "precision"
    ROUNDING = "rounding"
    MEMORY = "memory"
    TRAINING = "training"


DECISIVE = frozenset({KeyClass.FORWARD, KeyClass.LAYOUT})
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
COMPARED = DECISIVE | {KeyClass.PRECISION, KeyClass.ROUNDING}


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    class_: KeyClass = Field(alias="class")
    absent: str | None = None
    source: str
    read: object


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: tuple[_Row, ...]


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], _Row], ...]:
    text = resources.files("checks.hydra").joinpath("role_keys.yml").read_text(encoding="utf-8")
    table = _Table.model_validate(yaml.safe_load(text))
    return tuple((re.compile(re.escape(row.key).replace(r"\*", r"[^.]*")), row) for row in table.rows)


@cache
def _row(key: str) -> _Row | None:
    return next((row for pattern, row in _patterns() if pattern.fullmatch(key)), None)


def key_class(key: str) -> KeyClass | None:
    """The class of ``key`` (relative to its role), None for a key the table does not know."""
    row = _row(key)
    return row.class_ if row else None


def differs(config: EffectiveConfig, key: str, one: str, other: str) -> bool:
    """True if two roles certainly run with different values of ``key``; spellings of a type are equal."""
    values = [config.value(f"{role}.{key}") for role in (one, other)]
    if UNKNOWN in values:
        return False
    row = _row(key)
    left, right = (_effective(value, row.absent if row else None) for value in values)
    return bool(left != right)


def _effective(value: Any, absent: str | None) -> Any:
    if value is ABSENT or value is None:
        return absent
    return _TYPES.get(value, value) if isinstance(value, str) else value


def ref_is_built(config: EffectiveConfig) -> bool | None:
    """True if a reference model of its own is built, None if that is not known."""
    switches = [config.value(switch) for switch in KL_SWITCHES]
    if all(switch is False or switch is ABSENT for switch in switches):
        return False
    lora = _lora(config)
    if lora:
        return False
    if any(switch is True for switch in switches) and lora is False:
        return True
    return None


def _lora(config: EffectiveConfig) -> bool | None:
    rank = config.value("actor_rollout_ref.model.lora_rank")
    nested = config.value("actor_rollout_ref.model.lora.rank")
    adapter = config.value("actor_rollout_ref.model.lora_adapter_path")
    if _positive(rank) or _positive(nested) or (isinstance(adapter, str) and adapter):
        return True
    return None if UNKNOWN in (rank, nested, adapter) else False


def _positive(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def engine_keys(config: EffectiveConfig, *roles: str) -> Iterator[str]:
    """The keys below the training engines that any of ``roles`` has, relative to the role, sorted."""
    keys = {
        leaf.removeprefix(f"{role}.")
        for role in roles
        for engine in ENGINES
        if config.keys(f"{role}.{engine}")
        for leaf in config.leaves(f"{role}.{engine}")
    }
    yield from sorted(keys)


def shown(value: Any) -> str:
    """A value as Hydra writes it, for messages and evidence."""
    if value is None or value is ABSENT:
        return "null" if value is None else "not set"
    if value is UNKNOWN:
        return "not known"
    return str(value)
