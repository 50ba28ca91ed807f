"""What a running shell knows at one moment: variables, arguments, functions, options, working directory."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from checks.markdown import code
from checks.shell.source import Source
from checks.shell.syntax import CommandSubstitution, Function, Word
from checks.shell.value import ROOT, Field, Status, Text, Undecided, Unknown, Variable, join
from checks.shell.working_tree import WorkingTree

# Names that every caller provides: a default written for them is not what CI runs with.
ALWAYS_SET = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "USER", "SHELL", "HOSTNAME", "LANG", "LD_LIBRARY_PATH"}
)
# Names that bash itself sets to something that cannot be told.
DYNAMIC = frozenset(
    {"RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "PPID", "UID", "EUID",
     "BASH_VERSION", "BASH_VERSINFO", "HOSTTYPE", "MACHTYPE", "OSTYPE", "SHLVL", "LINENO", "COLUMNS",
     "PIPESTATUS", "FUNCNAME", "BASH_LINENO", "BASH_COMMAND"}
)  # fmt: skip
CALLER_PREFIXES = ("GITHUB_", "RUNNER_")
BLANK_SEPARATORS = " \t\n"


class NotUnderstood(Exception):
    """A construct that is not evaluated: the script counts as not checked from there on."""

    def __init__(self, source: Source, start: int, reason: str) -> None:
        super().__init__(reason)
        self.path = source.path
        self.line = source.line(start)
        self.reason = reason


class Exit(Exception):
    """The current shell ends with ``status``."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class Return(Exception):
    """``return`` from a function or a sourced file."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class Leave(Exception):
    """``break`` (or, with ``again``, ``continue``) out of ``levels`` loops."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__()
        self.levels = levels
        self.again = again


class Host(Protocol):
    """What the interpreter does for the expansions: run substitutions, choose a side, list files."""

    files: set[str]
    """Every file of the tree that was evaluated, and those that should have been there."""
    working_tree: WorkingTree
    """The files that the script sees."""

    @property
    def started_programs(self) -> bool:
        """True once a program was started that may have written any file."""

    def substitute(self, shell: Shell, part: CommandSubstitution) -> Text:
        """The output of ``$(…)``."""

    def output_of(self, shell: Shell, part: CommandSubstitution) -> Text:
        """The same with all its newlines."""

    def decide(self, question: Undecided) -> bool:
        """The side of an undecided question that this path takes."""

    def answered(self, key: tuple[object, ...]) -> bool | None:
        """The side that this path has taken, None if it has not come to that question."""

    def expanded(self, shell: Shell, word: Word) -> Text:
        """``word`` where bash does not split."""

    def outside(self, shell: Shell, name: str, start: int) -> Unknown:
        """The value of a variable that no file of the launch sets: the same at each read."""


@dataclass
class Shell:
    """One shell process. ``exports`` are exported once they are set, ``exit_trap`` runs at its end,
    ``error_trap`` is set if a failure runs more than a report, ``loops`` are those that ``break`` can leave.

    ``arguments`` are ``$1``…; they are ``open`` where a person starts the script and may give others, and
    ``count_unknown`` once the script turned out to do nothing without any.
    ``option_place`` is where ``getopts`` is in a word of joined options. ``cwd`` is relative to the root,
    None if unknown. ``tainted`` once a file that cannot be read may have
    set variables. ``names`` are ``BASH_SOURCE``, innermost first.
    ``input`` is what can be read from standard input, ``inputs`` from other descriptors.
    ``output`` and ``errors`` collect what goes to the two streams while a substitution or a pipe reads it.
    """

    source: Source
    variables: dict[str, Variable] = field(default_factory=dict)
    arguments: tuple[Field, ...] = ()
    zero: Text = ()
    cwd: str | None = ""
    open: bool = False
    count_unknown: bool = False
    tainted: bool = False
    options: frozenset[str] = frozenset()
    option_place: int = 1
    folders: tuple[str | None, ...] = ()
    exports: frozenset[str] = frozenset()
    exit_trap: Field | None = None
    error_trap: bool = False
    loops: int = 0
    functions: dict[str, tuple[Function, Source, Text]] = field(default_factory=dict)
    names: tuple[Text, ...] = ()
    frames: list[dict[str, Variable | None]] = field(default_factory=list)
    exported_functions: frozenset[str] = frozenset()
    status: Status = 0
    substituted: Status | None = None
    input: Text | None = None
    inputs: dict[int, Text | None] = field(default_factory=dict)
    output: list[str | Unknown] | None = None
    errors: list[str | Unknown] | None = None
    host: Host | None = field(default=None, repr=False, compare=False)

    def copy(self) -> Shell:
        """A subshell: what happens in it does not come back."""
        return replace(
            self,
            variables=dict(self.variables),
            functions=dict(self.functions),
            frames=[dict(frame) for frame in self.frames],
            inputs=dict(self.inputs),
            exit_trap=None,
            loops=0,
        )

    def child(self, source: Source, zero: Text, arguments: tuple[Field, ...]) -> Shell:
        """A new process: only exported variables go in."""
        exported = {name: variable for name, variable in self.variables.items() if variable.goes_out}
        return Shell(
            source,
            exported,
            arguments,
            zero,
            self.cwd,
            names=(zero,),
            functions={name: self.functions[name] for name in self.exported_functions & set(self.functions)},
            exported_functions=self.exported_functions,
            input=self.input,
            output=self.output,
            errors=self.errors,
            host=self.host,
        )

    def assign(self, name: str, variable: Variable) -> None:
        """Set ``name``; an exported variable stays so, and text given to an array is its first element."""
        name = self.referred(name)
        before = self.variables.get(name)
        if before is not None:
            if before.is_array and not variable.is_array and variable.fields:
                key = "0" if before.associative else 0
                exported = variable.exported
                variable = replace(before.with_element(key, variable.fields[0]), exported=exported)
            variable = replace(variable, exported=variable.exported or before.exported)
        if "allexport" in self.options or name in self.exports:
            variable = replace(variable, exported=True)
        self.variables[name] = variable

    def restore(self, before: Mapping[str, Variable | None]) -> None:
        """Give variables back the values that they had; None for one that was not there."""
        for name, variable in before.items():
            if variable is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = variable

    def export(self, name: str) -> None:
        """``export name``: also a value that it gets later."""
        self.exports |= {name}
        if name in self.variables:
            self.variables[name] = replace(self.variables[name], exported=True)

    def set_text(self, name: str, value: Field) -> None:
        """``name=value`` for a single text."""
        self.assign(name, Variable((value,)))

    def referred(self, name: str) -> str:
        """The variable behind a name reference."""
        for _ in range(8):
            variable = self.variables.get(name)
            if variable is None or variable.refers_to is None:
                break
            name = variable.refers_to
        return name

    def variable(self, name: str) -> Variable | None:
        """The variable ``name``, or the one it refers to; None if no file of the launch sets it."""
        return self.variables.get(self.referred(name))

    def environment(self) -> Mapping[str, Text]:
        """What a command started now gets."""
        return {name: variable.text for name, variable in self.variables.items() if variable.goes_out}

    def unknown(self, reason: str, start: int) -> Unknown:
        """An unknown with its line."""
        return Unknown(reason, self.source.path, self.source.line(start))

    def outside(self, name: str, start: int) -> Unknown:
        """The unknown value of a variable that no file of the launch sets."""
        return self.running.outside(self, name, start)

    @property
    def running(self) -> Host:
        """The interpreter that runs this shell."""
        assert self.host is not None
        return self.host

    def not_understood(self, start: int, reason: str) -> NotUnderstood:
        """To be raised for a construct at ``start`` of the current source."""
        return NotUnderstood(self.source, start, reason)

    def write(self, text: Text) -> None:
        """Send ``text`` to standard output."""
        if self.output is not None:
            self.output += text

    @property
    def separators(self) -> str | None:
        """``IFS``, None if it is not known."""
        variable = self.variables.get("IFS")
        if variable is None or not variable.fields:
            return BLANK_SEPARATORS
        return variable.fields[0].known

    @property
    def folder(self) -> Text:
        """The working directory as ``pwd`` prints it."""
        if self.cwd is None:
            return (Unknown("the working directory", self.source.path, self.source.first_line),)
        return join([ROOT, f"/{self.cwd}" if self.cwd else ""])

    def tree_path(self, text: Text) -> str | None:
        """The path in the tree ("" is its root) that ``text`` names; None if outside or not known."""
        head, rest = (ROOT, text[1:]) if text[:1] == (ROOT,) else (None, text)
        if len(rest) > 1 or any(isinstance(piece, Unknown) for piece in rest):
            return None
        written = "".join(piece for piece in rest if isinstance(piece, str))
        if head is None:
            return None if self.cwd is None else normal_path(posixpath.join(self.cwd, written))
        if written and not written.startswith("/"):
            return None
        return normal_path(written.lstrip("/"))


def outside_reason(name: str) -> str:
    """Why a variable that no file sets is not known."""
    return f"{code(name)} is set by no file of this launch: the caller's environment decides"


def set_by_caller(name: str) -> bool:
    """True for a name that is in the environment of every caller, whatever its value."""
    return name in ALWAYS_SET or name in DYNAMIC or name.startswith(CALLER_PREFIXES)


def normal_path(path: str) -> str | None:
    """``path`` relative to the root in its shortest form ("" is the root); None if it leaves the tree."""
    normal = posixpath.normpath(path or ".")
    if normal == ".":
        return ""
    return None if normal == ".." or normal.startswith(("../", "/")) else normal
