"""The fast composition equals plain Hydra: containers before resolution, and resolved values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from checks.hydra.compose import Composer, Composition
from checks.hydra.entry import Entry
from checks.hydra.overrides import Override
from checks.model import Span
from tests.mini import base_files, snapshot

ENTRY = Entry("verl.trainer.main_ppo", "verl/trainer/config", "ppo_trainer", None, "")
SPAN = Span("x.sh", 1, 1, 1, 1)
A, R = "actor_rollout_ref.actor", "actor_rollout_ref.ref"
OVERRIDES = [
    "model_engine=megatron",
    "model_engine=dp",
    f"{A}.use_kl_loss=True",
    f"{A}.use_dynamic_bsz=true",
    f"{A}.ppo_max_token_len_per_gpu=4096",
    f"+{A}.new.key=[1,2,{{a:b}}]",
    f"+{A}.megatron.override_transformer_config.moe_router_dtype=fp32",
    f"++{R}.megatron.override_transformer_config.x=1",
    f"++{R}.megatron.override_transformer_config.y='a b'",
    f"{R}.megatron.override_transformer_config={{x:1}}",
    f"{A}.megatron.tensor_model_parallel_size=4",
    f"{R}.megatron.param_offload=True",
    f"~{A}.clip_ratio",
    f"~{A}.kl_loss_coef",
    "trainer.logger=['console','file']",
    "data.train_files=\"['/a/b.parquet']\"",
    "algorithm.kl_ctrl.kl_coef=1e-3",
    "critic.enable=null",
    "critic.enable=None",
    "actor_rollout_ref.rollout.name=vllm",
    "+trainer.empty=",
    "hydra.job.name=other",
    "data=text",
]


@pytest.fixture(scope="module")
def config_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mini")
    for path, text in base_files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root / ENTRY.folder


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer(snapshot(base_files()))


def resolved(config: Any) -> Any:
    try:
        return OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        return type(error)


@given(st.lists(st.sampled_from(OVERRIDES), max_size=9))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_identical_to_plain_hydra(config_folder: Path, composer: Composer, texts: list[str]) -> None:
    ours = composer.compose(ENTRY, tuple(Override(text, SPAN, ()) for text in texts))
    with initialize_config_dir(str(config_folder), version_base=None):
        try:
            plain = compose("ppo_trainer", overrides=texts)
        except Exception:  # noqa: BLE001 - whatever Hydra refuses, we must refuse
            plain = None
    if plain is None:
        assert not isinstance(ours, Composition) or ours.faults
        return
    assert isinstance(ours, Composition)
    assert ours.faults == ()
    assert OmegaConf.to_container(ours.config, resolve=False) == OmegaConf.to_container(plain, resolve=False)
    assert resolved(ours.config) == resolved(plain)
