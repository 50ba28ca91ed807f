"""Training handed to programs that are not followed is said as *not checked*; reading a script is not."""

from __future__ import annotations

import pytest

from checks.shell.evaluate import evaluate
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.unfollowed import unfollowed
from tests.mini import snapshot


def said(script: str) -> list[str]:
    files = {"run.sh": script, "inner.sh": "python -m pkg.main a.b=1\n", "pkg/main.py": "import hydra\n"}
    tree = snapshot(files)
    shell = Shell(Source("run.sh", script), zero=("run.sh",), open=True)
    return [each.reason for each in unfollowed(tree, evaluate(tree, shell))]


@pytest.mark.parametrize(
    "script",
    [
        "ssh host bash inner.sh",
        "ssh host 'cd verl && bash inner.sh'",
        "ssh host 'python -m pkg.main a.b=1'",
        "docker exec box bash inner.sh",
        "su - user -c 'bash inner.sh'",
        "script -c 'bash inner.sh' log",
        "tmux new -d 'bash inner.sh'",
        "screen -dm bash inner.sh",
        "echo a.b=1 | xargs python -m pkg.main",
        "find . -name '*.sh' -exec bash inner.sh {} +",
        "parallel bash inner.sh ::: 1 2",
        "zsh inner.sh",
        "$SHELL inner.sh",
        "python3 -c 'import pkg.main' a.b=1 c.d=2",
        "unknown-tool trainer.nnodes=1 trainer.n_gpus_per_node=8",
    ],
)
def test_training_handed_on_is_said(script: str) -> None:
    (reason,) = said(script)
    assert reason.startswith("line 1: ")


@pytest.mark.parametrize(
    "script",
    [
        "grep -n python inner.sh",
        "cp inner.sh /tmp/x.sh",
        "chmod +x inner.sh",
        "install -m 755 inner.sh /usr/bin/inner.sh",
        "sed -i s/a/b/ inner.sh",
        "ls inner.sh && cat inner.sh | head",
        "echo run bash inner.sh",
        "shellcheck other.sh",
        "ray start --head",
        "npm install x=1",
    ],
)
def test_reading_a_script_is_silent(script: str) -> None:
    assert said(script) == []
