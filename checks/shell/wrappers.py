"""Programs that start another one in its place or under watch: ``nohup``, ``env A=b``, ``timeout 1h``.

Sources: the manuals of GNU coreutils, util-linux, strace and of the runners named here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace

from checks.markdown import code
from checks.shell.state import Shell
from checks.shell.value import Field, text_of

SHELLS = frozenset({"bash", "sh", "dash"})


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """``own`` operands come before the command; ``values`` are the options that take the next word."""

    own: int = 0
    values: frozenset[str] = frozenset()


def _wrapper(own: int, values: str = "") -> _Wrapper:
    return _Wrapper(own, frozenset(values.split()))


_WRAPPERS = {
    "command": _wrapper(0),
    "exec": _wrapper(0, "-a"),
    "env": _wrapper(0, "-u --unset -C --chdir -S --split-string"),
    "nohup": _wrapper(0),
    "setsid": _wrapper(0),
    "timeout": _wrapper(1, "-k -s --signal --kill-after"),
    "nice": _wrapper(0, "-n --adjustment"),
    "ionice": _wrapper(0, "-c -n --class --classdata"),
    "chrt": _wrapper(1, "-T -P -D"),
    "stdbuf": _wrapper(0, "-i -o -e --input --output --error"),
    "unbuffer": _wrapper(0),
    "sudo": _wrapper(0, "-u -g -h -p -C -D -R -T -r -t --user --group"),
    "gosu": _wrapper(1),
    "numactl": _wrapper(0, "-C -N -m -i -p --cpunodebind --membind --physcpubind --interleave --preferred"),
    "taskset": _wrapper(1),
    "flock": _wrapper(1, "-w --wait --timeout -E --conflict-exit-code"),
    "time": _wrapper(0, "-f --format -o --output"),
    "strace": _wrapper(0, "-a -b -e -E -I -o -O -p -P -s -S -u -X --output --trace"),
    "ltrace": _wrapper(0, "-a -A -D -e -F -l -n -o -s -S -u -w -x --output"),
    "xvfb-run": _wrapper(0, "-e -f -n -p -s -w --error-file --server-num --server-args"),
}  # fmt: skip
# They start what stands somewhere behind their own words, here and with this environment.
LOCAL_RUNNERS = frozenset({
    "uv", "srun", "mpirun", "mpiexec", "conda", "mamba", "micromamba", "poetry", "pipenv", "pdm", "hatch",
    "pixi", "nsys", "ncu", "msprof", "perf", "valgrind", "py-spy",
})  # fmt: skip


def program_of(argv: Sequence[Field]) -> str:
    """The name of the program without its folder, "" if it is not known."""
    return posixpath.basename(argv[0].known or "") if argv else ""


def unwrap(shell: Shell, start: int, argv: tuple[Field, ...]) -> tuple[Field, ...]:
    """``argv`` without its wrappers; what they set goes into ``shell``. Raises NotUnderstood."""
    while wrapper := _WRAPPERS.get(name := program_of(argv)):
        argv = argv[1:]
        while argv and (option := argv[0].known or "").startswith("-"):
            if name == "env" and option.startswith(("-S", "-C", "--chdir", "--split-string")):
                raise shell.not_understood(start, f"the option {code(option)} of `env`")
            if name == "env":
                _forget(shell, option, argv[1].known if len(argv) > 1 else None)
            if name == "exec" and "c" in option:
                _forget(shell, "-i", None)
            argv = argv[2 if option in wrapper.values else 1 :]
            if option == "--":
                break
        while name in ("env", "sudo") and argv and _is_assignment(argv[0]):
            variable, value = _cut_assignment(argv[0])
            shell.set_text(variable, value)
            shell.variables[variable] = replace(shell.variables[variable], exported=True)
            argv = argv[1:]
        argv = argv[wrapper.own :]
        if name == "flock" and argv and argv[0].known in ("-c", "--command"):
            return (replace(argv[0], text=text_of("bash")), replace(argv[0], text=text_of("-c")), *argv[1:])
    return _script_behind(argv)


def _script_behind(argv: tuple[Field, ...]) -> tuple[Field, ...]:
    """``srun … bash x.sh`` from the shell on; anything else as it is."""
    if program_of(argv) in LOCAL_RUNNERS:
        for number in range(1, len(argv)):
            word = argv[number].known or ""
            if program_of(argv[number:]) in SHELLS or (word.endswith(".sh") and not word.startswith("-")):
                return argv[number:]
    return argv


def _forget(shell: Shell, option: str, name: str | None) -> None:
    """``env -i`` and ``env -u name``."""
    if option in ("-i", "-", "--ignore-environment"):
        shell.variables = {key: value for key, value in shell.variables.items() if not value.exported}
    elif option in ("-u", "--unset") and name is not None:
        shell.variables.pop(name, None)
    elif option.startswith("--unset="):
        shell.variables.pop(option.removeprefix("--unset="), None)


def _is_assignment(word: Field) -> bool:
    head = word.text[0] if word.text else ""
    return isinstance(head, str) and head.partition("=")[0].isidentifier() and "=" in head


def _cut_assignment(word: Field) -> tuple[str, Field]:
    head = word.text[0] if word.text else ""
    assert isinstance(head, str)
    name, _, value = head.partition("=")
    return name, replace(word, text=((value,) if value else ()) + word.text[1:])
