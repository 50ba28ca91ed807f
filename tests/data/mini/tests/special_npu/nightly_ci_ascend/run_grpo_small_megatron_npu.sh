#!/usr/bin/env bash
set -x

export HCCL_CONNECT_TIMEOUT=1500

MODEL_PATH=${MODEL_PATH:-$HOME/models/small}
NGPUS_PER_NODE=${NGPUS_PER_NODE:-8}
tp=${TP:-2}

python3 -m verl.trainer.main_ppo \
    model_engine=megatron \
    algorithm.adv_estimator=grpo \
    data.train_files="$HOME/data/train.parquet" \
    actor_rollout_ref.model.path="$MODEL_PATH" \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=$tp \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=4 \
    trainer.n_gpus_per_node=$NGPUS_PER_NODE \
    "$@" 2>&1 | tee run.log
