"""Training commands behind every wrapper that starts them."""

from __future__ import annotations

import pytest

from checks.commands import Command, command_of
from checks.shell.evaluate import evaluate_path
from checks.shell.source import Source
from checks.shell.state import Shell
from tests.mini import snapshot


def found(script: str) -> list[Command]:
    shell = Shell(Source("run.sh", script), zero=("run.sh",), open=True)
    outcome = evaluate_path(snapshot({"run.sh": script, "inner.sh": 'python -m pkg.main "$@"\n'}), shell)
    return [command for each in outcome.invocations if (command := command_of(each.argv)) is not None]


@pytest.mark.parametrize(
    "script",
    [
        "python3 -m pkg.main a.b=1",
        "python -u -X faulthandler -m pkg.main a.b=1",
        "python3 -um pkg.main a.b=1",
        "/usr/bin/python3.11 -m pkg.main a.b=1",
        "torchrun --nproc_per_node=8 -m pkg.main a.b=1",
        "python -m torch.distributed.run --nnodes 1 -m pkg.main a.b=1",
        "uv run --extra x python -m pkg.main a.b=1",
        "ray job submit --address x --runtime-env y.yaml -- python3 -m pkg.main a.b=1",
        "accelerate launch --config_file x.yaml -m pkg.main a.b=1",
        "srun -N 2 python -m pkg.main a.b=1",
        "$LAUNCHER python -m pkg.main a.b=1",
        '"$PYTHON" -m pkg.main a.b=1',
        "$PY -m pkg.main a.b=1",
        "nohup python -m pkg.main a.b=1 &",
        "env A=1 timeout 3h python -m pkg.main a.b=1",
        "exec python -m pkg.main a.b=1",
        "time python -m pkg.main a.b=1",
        "A=1 python -m pkg.main a.b=1",
        'CMD="python -m pkg.main a.b=1"; eval "$CMD"',
        'CMD=(python -m pkg.main); "${CMD[@]}" a.b=1',
        "bash inner.sh a.b=1",
        "bash -c 'python -m pkg.main a.b=1'",
        "L='python -m'; $L pkg.main a.b=1",
        'f() { python -m pkg.main "$@"; }; f a.b=1',
        "numactl -N 0 python -m pkg.main a.b=1",
        "(python -m pkg.main a.b=1) 2>&1 | tee log",
        "X=$(python -m pkg.main a.b=1 2>&1)",
        "/usr/bin/env python -m pkg.main a.b=1",
        "/usr/bin/nohup python -m pkg.main a.b=1",
        "/usr/bin/time -f %e python -m pkg.main a.b=1",
        "exec -a trainer python -m pkg.main a.b=1",
        "exec -c python -m pkg.main a.b=1",
        "exec -l python -m pkg.main a.b=1",
        "flock /tmp/lock python -m pkg.main a.b=1",
        "flock -w 5 /tmp/lock -c 'python -m pkg.main a.b=1'",
        "ionice -c 2 -n 0 python -m pkg.main a.b=1",
        "chrt -f 99 python -m pkg.main a.b=1",
        "taskset -c 0-3 python -m pkg.main a.b=1",
        "strace -f -o log python -m pkg.main a.b=1",
        "sudo -E A=1 python -m pkg.main a.b=1",
        "coverage run -m pkg.main a.b=1",
        "python -m cProfile -o out -m pkg.main a.b=1",
        "python -m coverage run -m pkg.main a.b=1",
        "poetry run python -m pkg.main a.b=1",
        "conda run -n verl python -m pkg.main a.b=1",
        "nsys profile -o out python -m pkg.main a.b=1",
        "msprof --output=x python -m pkg.main a.b=1",
        "uv run -m pkg.main a.b=1",
        "srun bash inner.sh a.b=1",
        "sh inner.sh a.b=1",
        "dash inner.sh a.b=1",
        "/bin/bash inner.sh a.b=1",
        '"$BASH" inner.sh a.b=1',
    ],
)
def test_the_module_and_its_overrides_are_found(script: str) -> None:
    (command,) = found(script)
    assert (command.module, [word.known for word in command.words]) == ("pkg.main", ["a.b=1"])


@pytest.mark.parametrize(
    "script",
    ["python -c 'import x'", "python - < x", "python", "ray start --head", "ray stop", "echo python -m x"],
)
def test_what_trains_nothing_is_left_out(script: str) -> None:
    assert found(script) == []
