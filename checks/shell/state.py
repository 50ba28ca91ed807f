"""What a running shell knows at one moment: variables, arguments, working directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from checks.markdown import code
from checks.shell.source import Source
from checks.shell.value import Field, Text, Unknown, Variable, text_of

# Names that every caller provides: a default written for them is not what CI runs with.
ALWAYS_SET = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "USER", "SHELL", "HOSTNAME", "LANG", "LD_LIBRARY_PATH"}
)
CALLER_PREFIXES = ("GITHUB_", "RUNNER_")


class NotUnderstood(Exception):
    """A construct that is not evaluated: the script counts as not checked from there on."""

    def __init__(self, start: int, reason: str) -> None:
        super().__init__(reason)
        self.start = start
        self.reason = reason


@dataclass
class Shell:
    """One shell process. ``arguments`` are ``$1``…; ``cwd`` is relative to the root, None if unknown."""

    source: Source
    variables: dict[str, Variable] = field(default_factory=dict)
    arguments: tuple[Field, ...] = ()
    zero: Text = ()
    cwd: str | None = ""

    def copy(self) -> Shell:
        """A subshell: what happens in it does not come back."""
        return replace(self, variables=dict(self.variables))

    def child(self, source: Source, zero: str, arguments: tuple[Field, ...]) -> Shell:
        """A new process: only exported variables go in."""
        exported = {name: variable for name, variable in self.variables.items() if variable.exported}
        return Shell(source, exported, arguments, text_of(zero), self.cwd)

    def assign(self, name: str, variable: Variable) -> None:
        """Set ``name``; an exported variable stays so, and text given to an array is its first element."""
        before = self.variables.get(name)
        if before is not None:
            if before.is_array and not variable.is_array:
                fields = (*variable.fields, *before.fields[1:])
                variable = replace(variable, fields=fields, is_array=True)
            variable = replace(variable, exported=variable.exported or before.exported)
        self.variables[name] = variable

    def environment(self) -> Mapping[str, Text]:
        """What a command started now gets."""
        return {name: variable.text for name, variable in self.variables.items() if variable.exported}

    def outside(self, name: str, start: int) -> Unknown:
        """The unknown value of a variable that no file of the launch sets."""
        reason = f"{code(name)} is set by no file of this launch: the caller's environment decides"
        return self.unknown(reason, start)

    def unknown(self, reason: str, start: int) -> Unknown:
        """An unknown with its line."""
        return Unknown(reason, self.source.path, self.source.line(start))


def set_by_caller(name: str) -> bool:
    """True for a name that is in the environment of every caller, whatever its value."""
    return name in ALWAYS_SET or name.startswith(CALLER_PREFIXES)
