"""What ``mkdir``, ``rm``, ``cp``, ``sed -i`` and their kin leave behind for later commands.

Source: GNU coreutils manual. A file whose name is not known is left out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from checks.markdown import code
from checks.model import Span
from checks.shell.state import Shell
from checks.shell.value import Field, Text, Unknown, join, text_of
from checks.shell.working_tree import WorkingTree
from checks.snapshot import NotFetched, SnapshotError

_VALUES = frozenset({"-m", "--mode", "-t", "-S"})


class Files(Protocol):
    """Where the effects go."""

    working_tree: WorkingTree

    def write_file(
        self, shell: Shell, target: Text, text: Text, place: Span, *, append: bool = False
    ) -> None:
        """Note that ``text`` was written to the file ``target``."""

    def remove_file(self, shell: Shell, target: Text, place: Span) -> None:
        """Note that ``target`` was removed, with all below it."""


Effect = Callable[[Files, Shell, Sequence[Field], Span], None]


def change_files(host: Files, shell: Shell, argv: Sequence[Field], place: Span) -> None:
    """What the program ``argv`` leaves behind for later commands. Raises NotFetched."""
    name = posixpath.basename(argv[0].known or "")
    if name in ("sed", "perl") and any((word.known or "").startswith("-i") for word in argv):
        _edit(host, shell, argv[1:], place)
    elif name == "git" and len(argv) > 2 and argv[1].known == "clone":
        _clone(host, shell, argv[2:], place)
    elif name in _EFFECTS:
        _EFFECTS[name](host, shell, list(_operands(argv[1:], _VALUES)), place)


def _operands(words: Sequence[Field], values: frozenset[str]) -> Iterator[Field]:
    rest = iter(words)
    for word in rest:
        text = word.known or ""
        if text in values:
            next(rest, None)
        elif not text.startswith("-") or text == "-":
            yield word


def _make(host: Files, shell: Shell, words: Sequence[Field], _: Span) -> None:
    for word in words:
        if path := shell.tree_path(word.text):
            host.working_tree.make_folder(path)


def _touch(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    for word in words:
        path = shell.tree_path(word.text)
        if path and host.working_tree.kind(path) is None:
            host.write_file(shell, word.text, (), place)


def _remove(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    for word in words:
        host.remove_file(shell, word.text, place)


def _link(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    if len(words) == 2:
        host.write_file(shell, words[1].text, (_unknown(words[0], place),), place)


def _copy(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    for source, target in _pairs(host, shell, words):
        host.write_file(shell, target, _text(host, shell, source, place), place)


def _move(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    _copy(host, shell, words, place)
    for word in words[:-1]:
        host.remove_file(shell, word.text, place)


def _pairs(host: Files, shell: Shell, words: Sequence[Field]) -> Iterator[tuple[Field, Text]]:
    """Each source of ``cp`` or ``mv`` with the file that it becomes."""
    if len(words) < 2:
        return
    *sources, target = words
    folder = shell.tree_path(target.text)
    into = len(sources) > 1 or (folder is not None and host.working_tree.kind(folder) == "folder")
    for source in sources:
        name = source.text[-1] if source.text else ""
        if not into:
            yield source, target.text
        elif isinstance(name, str) and (base := posixpath.basename(name)):
            yield source, join([*target.text, f"/{base}"])


def _text(host: Files, shell: Shell, source: Field, place: Span) -> Text:
    path = shell.tree_path(source.text)
    try:
        text = host.working_tree.text(path) if path and host.working_tree.names(path) else None
    except NotFetched:
        raise
    except SnapshotError:
        text = None
    return text_of(text) if text is not None else (_unknown(source, place),)


def _unknown(source: Field, place: Span) -> Unknown:
    written = "".join(piece if isinstance(piece, str) else "…" for piece in source.text)
    return Unknown(f"what is in {code(written)}", place.path, place.line)


def _edit(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    """``sed -i script files``: the first operand is the script unless ``-e`` or ``-f`` gives it."""
    files = list(_operands(words, frozenset({"-e", "-f", "--expression", "--file"})))
    has_script = any((word.known or "").startswith(("-e", "-f", "--expression", "--file")) for word in words)
    for word in files if has_script else files[1:]:
        host.write_file(shell, word.text, (_unknown(word, place),), place)


def _clone(host: Files, shell: Shell, words: Sequence[Field], place: Span) -> None:
    """``git clone address [folder]``."""
    operands = list(_operands(words, frozenset({"-b", "--branch", "--depth", "-c", "--config", "-j", "-o"})))
    if len(operands) > 1:
        _make(host, shell, operands[1:2], place)
    elif operands and isinstance(end := operands[0].text[-1], str):
        name = posixpath.basename(end.rstrip("/")).removesuffix(".git")
        _make(host, shell, [Field(text_of(name), operands[0].span)], place)


_EFFECTS: dict[str, Effect] = {
    "mkdir": _make,
    "touch": _touch,
    "rm": _remove,
    "rmdir": _remove,
    "ln": _link,
    "cp": _copy,
    "mv": _move,
}
