"""Entry point of the miniature repository: only its decorator is ever read."""

import hydra


@hydra.main(config_path="config", config_name="ppo_trainer", version_base=None)
def main(config):
    """Never called."""
