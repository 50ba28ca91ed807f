#!/usr/bin/env bash
set -x

export HCCL_OP_EXPANSION_MODE="AIV"

# ---- may be set by the caller ----
MODEL_ID=${MODEL_ID:-some/moe-30b}
MODEL_PATH=${MODEL_PATH:-${HOME}/models/${MODEL_ID}}
NGPUS_PER_NODE=${NGPUS_PER_NODE:-16}
max_prompt_length=$((1024 * 2))
actor_tp=${ACTOR_TP:-2}
actor_ep=${ACTOR_EP:-8}

DATA=(
    algorithm.adv_estimator=grpo
    algorithm.use_kl_in_reward=False
    data.train_files="['$HOME/data/train.parquet']"
    data.max_prompt_length=${max_prompt_length}
)

ACTOR=(
    actor_rollout_ref.model.path="$MODEL_PATH"
    actor_rollout_ref.actor.use_dynamic_bsz=True
    actor_rollout_ref.actor.use_kl_loss=False
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=${actor_tp}
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=${actor_ep}
    actor_rollout_ref.actor.megatron.param_offload=True
    +actor_rollout_ref.actor.megatron.override_transformer_config.moe_router_dtype=fp32
    +actor_rollout_ref.actor.megatron.override_transformer_config.moe_permute_fusion=True
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform
    +actor_rollout_ref.actor.megatron.override_transformer_config.apply_rope_fusion=True
)

REF=(
    actor_rollout_ref.ref.log_prob_use_dynamic_bsz=True
    actor_rollout_ref.ref.megatron.tensor_model_parallel_size=${actor_tp}
    actor_rollout_ref.ref.megatron.expert_model_parallel_size=${actor_ep}
    actor_rollout_ref.ref.megatron.param_offload=True
)

ROLLOUT=(
    actor_rollout_ref.rollout.name=vllm
    actor_rollout_ref.rollout.n=4
)

python3 -m verl.trainer.main_ppo \
    model_engine=megatron \
    "${DATA[@]}" \
    "${ACTOR[@]}" \
    "${REF[@]}" \
    "${ROLLOUT[@]}" \
    trainer.n_gpus_per_node=${NGPUS_PER_NODE} \
    "$@"
