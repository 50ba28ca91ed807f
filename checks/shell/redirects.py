"""What ``<``, ``<<``, ``<<<``, ``>`` and their kin do to a command's input and output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from checks.markdown import code
from checks.model import Span
from checks.shell.expand import expand_text
from checks.shell.state import NotUnderstood, Shell
from checks.shell.syntax import ProcessSubstitution, Redirect
from checks.shell.value import Text, Unknown, join, known, text_of
from checks.snapshot import NotFetched, SnapshotError

_STREAMS = {"/dev/stdout": "1", "/dev/stderr": "2", "/dev/fd/1": "1", "/dev/fd/2": "2"}
_OUTPUTS = frozenset({">", ">>", ">|", "&>", "&>>"})


class Writes(Protocol):
    """Keeps what was written to files."""

    def write_file(
        self, shell: Shell, target: Text, text: Text, place: Span, *, append: bool = False
    ) -> None:
        """Note that ``text`` was written to the file ``target``."""


@contextmanager
def redirected(host: Writes, shell: Shell, redirects: Sequence[Redirect]) -> Iterator[None]:
    """Evaluate with the redirections in force. Raises NotUnderstood."""
    if not redirects:
        yield
        return
    before = shell.input, shell.output, shell.errors
    inputs = dict(shell.inputs)
    shared: int | None = None
    files: list[tuple[Redirect, Text, list[str | Unknown]]] = []
    try:
        for each in redirects:
            text = () if _is_process(each) else _target(shell, each)
            stream = _STREAMS.get(known(text) or "") if each.operator in _OUTPUTS else None
            if stream is not None:
                _duplicate(shell, each.descriptor, stream)
            elif each.operator in _OUTPUTS:
                sink: list[str | Unknown] = []
                files.append((each, text, sink))
                if each.descriptor in (None, 1):
                    shell.output = sink
                if each.descriptor == 2 or each.operator.startswith("&"):
                    shell.errors = sink
            elif each.operator == ">&":
                _duplicate(shell, each.descriptor, known(text))
            elif each.operator == "<<<":
                _open(shell, each.descriptor, join([*text, "\n"]))
            elif each.operator == "<<":
                _open(shell, each.descriptor, text)
            elif each.operator == "<":
                _open(shell, each.descriptor, _content(shell, each, text))
            elif each.operator == "<&" and (source := known(text)) is not None and source.isdigit():
                shared = int(source) if each.descriptor in (None, 0) else None
                _open(shell, each.descriptor, shell.inputs.get(int(source)))
        yield
        if shared is not None:
            shell.inputs[shared] = shell.input
    finally:
        for each, target, written in files:
            place = shell.source.span(each.start, each.end)
            host.write_file(shell, target, join(written), place, append=each.operator in (">>", "&>>"))
        shell.input, shell.output, shell.errors = before
        for each in redirects:
            _close(shell, each.descriptor, inputs)


def keep(host: Writes, shell: Shell, redirects: Sequence[Redirect]) -> None:
    """``exec`` with redirections alone: they hold from here on. What goes to a file so is not followed."""
    for each in redirects:
        text = () if _is_process(each) else _target(shell, each)
        place = shell.source.span(each.start, each.end)
        if each.operator in _OUTPUTS and known(text) not in _STREAMS:
            unknown = shell.unknown(f"what {code('exec')} sends there", each.start)
            host.write_file(shell, text, (unknown,), place, append=each.operator in (">>", "&>>"))
        elif each.operator == "<":
            _open(shell, each.descriptor, _content(shell, each, text))


def _open(shell: Shell, descriptor: int | None, text: Text | None) -> None:
    if descriptor in (None, 0):
        shell.input = text
    elif descriptor is not None and text is not None:
        shell.inputs[descriptor] = text


def _close(shell: Shell, descriptor: int | None, before: Mapping[int, Text | None]) -> None:
    """An input that was opened for one command is gone after it."""
    if descriptor in shell.inputs and descriptor is not None:
        if descriptor in before:
            shell.inputs[descriptor] = before[descriptor]
        else:
            del shell.inputs[descriptor]


def _duplicate(shell: Shell, descriptor: int | None, target: str | None) -> None:
    """``2>&1`` and its like: one stream goes where the other goes now; other descriptors lead nowhere."""
    sink = {"1": shell.output, "2": shell.errors}.get(target or "")
    if descriptor in (None, 1):
        shell.output = sink
    elif descriptor == 2:
        shell.errors = sink


def _is_process(redirect: Redirect) -> bool:
    """``< <(…)``: run once, when its output is read."""
    parts = redirect.target.parts if redirect.target is not None else ()
    return redirect.operator == "<" and len(parts) == 1 and isinstance(parts[0], ProcessSubstitution)


def _target(shell: Shell, redirect: Redirect) -> Text:
    if redirect.target is None:
        return ()
    try:
        return expand_text(shell, redirect.target)
    except NotUnderstood as error:
        if redirect.operator != "<<":
            raise
        return (shell.unknown(f"a here-document: {error.reason}", redirect.start),)


def _content(shell: Shell, redirect: Redirect, name: Text) -> Text:
    parts = redirect.target.parts if redirect.target is not None else ()
    if len(parts) == 1 and isinstance(parts[0], ProcessSubstitution):
        return shell.running.output_of(shell, parts[0].command)
    path = shell.tree_path(name)
    files = shell.running.working_tree
    if path is not None and files.names(path):
        try:
            text = files.text(path)
        except NotFetched:
            raise
        except SnapshotError:
            text = None
        if text is not None:
            return text_of(text)
    written = shell.source.text[redirect.start : redirect.end]
    return (shell.unknown(f"what {code(written)} reads", redirect.start),)
