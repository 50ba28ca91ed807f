"""From text to structure: bashlex on the masked text, words from the source. The only importer of bashlex."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence as Many
from functools import lru_cache
from typing import Any

import bashlex
import bashlex.errors
from bashlex.ast import posshifter

from checks.markdown import code
from checks.shell.clauses import read_layout
from checks.shell.conditions import read_condition
from checks.shell.mask import HereDoc, Masked, mask
from checks.shell.scan import ShellSyntaxError, end_of_parentheses, skip_unit
from checks.shell.syntax import (
    ArithmeticCommand,
    Assignment,
    Case,
    Clause,
    Command,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Literal,
    NotRead,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Test,
    Unsupported,
    While,
    Word,
)
from checks.shell.word import read_assignment, read_quoted, read_word

DECLARATIONS = frozenset({"export", "readonly", "local", "declare", "typeset"})
_LEADING_TABS = re.compile(r"^\t+", re.M)
MAX_TEXT = 256 * 1024
MAX_WORDS = 60_000
MAX_NESTING = 60
# What bashlex raises where it lacks something.
_GAPS = (NotImplementedError, AssertionError, RecursionError, IndexError, AttributeError)


@lru_cache(maxsize=4096)
def parse(text: str, start: int = 0, end: int | None = None) -> Sequence:
    """The structure of a script, or of the part ``text[start:end]`` of it, with offsets into ``text``.

    Raises ShellSyntaxError for text that bash or this parser refuses.
    """
    end = len(text) if end is None else end
    if end - start > MAX_TEXT:
        raise ShellSyntaxError(start, f"longer than {MAX_TEXT} characters")
    if (nul := text.find("\0", start, end)) >= 0:
        raise ShellSyntaxError(nul, "a NUL, with which bash takes the file for no script")
    try:
        masked = mask(text[start:end])
        _refuse_hostile(masked.text)
        nodes = _bashlex(_for_bashlex(masked)) if masked.text.strip() else []
    except ShellSyntaxError as error:
        raise ShellSyntaxError(error.offset + start, error.reason) from None
    return _Reader(text, start, masked).sequence(nodes)


def _for_bashlex(masked: Masked) -> str:
    """The masked text for bashlex, which ends no loop header by a newline and no script by a continuation."""
    text = list(masked.text)
    for offset in masked.before_do:
        text[offset] = ";"
    return "".join(text) + "\n"


def _bashlex(masked: str) -> list[Any]:
    try:
        return list(bashlex.parse(masked, expansionlimit=0))
    except bashlex.errors.ParsingError as error:
        reason = f"the parser says {code(error.message)}"
        raise ShellSyntaxError(_place(masked, error), reason) from None
    except _GAPS as error:
        # Which command holds it is not told.
        raise ShellSyntaxError(0, f"not understood by the parser: {type(error).__name__}") from None


def _place(masked: str, error: bashlex.errors.ParsingError) -> int:
    """The start of the line at which parsing stops; bashlex counts from the command that it is in."""
    if not _stops_within(error):
        return max(len(masked.rstrip()) - 1, 0)
    start = _start_of_last(masked)
    ends = [at for at, char in enumerate(masked) if char == "\n" and at > start] + [len(masked)]
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        try:
            bashlex.parse(masked[start : ends[middle] + 1], expansionlimit=0)
            stops = False
        except bashlex.errors.ParsingError as found:
            stops = _stops_within(found)
        except _GAPS:
            stops = False
        low, high = (low, middle) if stops else (middle + 1, high)
    return ends[low - 1] + 1 if low else start


def _start_of_last(masked: str) -> int:
    """Where the command begins in which parsing stops."""
    start = 0
    while True:
        try:
            end = bashlex.parsesingle(masked[start:], expansionlimit=0).pos[1]
        except (bashlex.errors.ParsingError, *_GAPS):
            return start
        start += end + 1


def _stops_within(error: bashlex.errors.ParsingError) -> bool:
    return str(error.message).startswith("unexpected token")


def _refuse_hostile(masked: str) -> None:
    depth = 0
    for offset, char in enumerate(masked):
        depth += (char in "({") - (char in ")}")
        if depth > MAX_NESTING:
            raise ShellSyntaxError(offset, f"nested deeper than {MAX_NESTING}")
    if len(masked.split()) > MAX_WORDS:
        raise ShellSyntaxError(0, f"more than {MAX_WORDS} words")


def _flattened(parts: Many[Any], masked: str) -> Iterator[Any]:
    """The parts of an ``if``, whatever the number of its branches.

    bashlex hides a second ``elif`` in a reserved word whose text is a list of parts, and forgets to move
    their positions when it moves those of the command.
    """
    end = 0
    for part in parts:
        if part.kind == "reservedword" and isinstance(part.word, list):
            shift = masked.find("elif", end) - part.word[0].pos[0]
            for hidden in part.word:
                posshifter(shift).visit(hidden)
            yield from _flattened(part.word, masked)
        else:
            yield part
        end = part.pos[1]


class _Reader:
    """Turns bashlex's nodes into ours, reading every word from the source instead of from the mask.

    ``base`` is the offset in ``text`` of what bashlex was given.
    """

    def __init__(self, text: str, base: int, masked: Masked) -> None:
        self.text = text
        self.base = base
        self.masked = masked.text
        self.heredocs = {heredoc.operator + base: heredoc for heredoc in masked.heredocs}

    def pos(self, node: Any) -> tuple[int, int]:
        """Where the node stands, without the continuation that may follow it."""
        start, end = node.pos
        while self.text.endswith("\\\n", start + self.base, end + self.base):
            end -= 2
        return start + self.base, end + self.base

    def sequence(self, nodes: Many[Any]) -> Sequence:
        items: list[tuple[Command, str]] = []
        for node in nodes:
            if node.kind == "operator":
                operator = ";" if node.op == "\n" else node.op
                items[-1] = (items[-1][0], operator)
            elif node.kind == "list":
                items += self.sequence(node.parts).items
            elif node.kind != "reservedword":
                items.append((self.command(node), ";"))
        if not items:
            return Sequence((), self.base, self.base)
        return Sequence(tuple(items), items[0][0].start, items[-1][0].end)

    def command(self, node: Any) -> Command:
        match node.kind:
            case "command":
                return self.simple(node)
            case "pipeline":
                return self.pipeline(node)
            case "list":
                return self.sequence(node.parts)
            case "compound":
                return self.compound(node)
            case "if":
                return self.conditional(node)
            case "for":
                return self.loop(node)
            case "while" | "until":
                condition, body = (self.command(part) for part in node.parts if part.kind != "reservedword")
                return While(condition, body, node.kind == "until", *self.pos(node))
            case "function":
                return Function(node.name.word, self.command(node.body), *self.pos(node))
            case _:
                return Unsupported(f"{code(node.kind)}", *self.pos(node))

    def pipeline(self, node: Any) -> Command:
        commands = tuple(
            self.command(part) for part in node.parts if part.kind not in ("pipe", "reservedword")
        )
        negated = sum(part.kind == "reservedword" and part.word == "!" for part in node.parts) % 2 == 1
        if len(commands) == 1 and not negated:
            return commands[0]
        return Pipeline(commands, negated, *self.pos(node))

    def compound(self, node: Any) -> Command:
        first = node.list[0]
        redirects = tuple(self.redirect(each) for each in getattr(node, "redirects", ()))
        if first.kind == "reservedword":
            body = self.sequence(node.list[1:-1])
            return Group(body, first.word == "(", *self.pos(node), redirects)
        command = self.command(first)
        return Group(command, False, *self.pos(node), redirects) if redirects else command

    def conditional(self, node: Any) -> Command:
        branches: list[tuple[Command | None, Command]] = []
        condition: Command | None = None
        keyword = ""
        for part in _flattened(node.parts, self.masked):
            if part.kind == "reservedword":
                keyword = part.word
            elif keyword in ("if", "elif"):
                condition = self.command(part)
            else:
                branches.append((condition if keyword == "then" else None, self.command(part)))
        return If(tuple(branches), *self.pos(node))

    def loop(self, node: Any) -> Command:
        start, end = self.pos(node)
        body = node.parts[-2] if node.parts[-1].kind == "reservedword" else node.parts[-1]
        chosen = self.text.startswith("select", start)
        opening = self.text.find("(", start)
        if opening > 0 and self.text[start:opening].split() == ["for"]:
            return self.counting(opening, body, start, end)
        keywords = [part.word for part in node.parts if part.kind == "reservedword"]
        words = [part for part in node.parts if part.kind == "word"]
        listed = tuple(self.word(word) for word in words[1:]) if "in" in keywords else None
        return For(words[0].word, listed, self.command(body), start, end, chosen)

    def counting(self, opening: int, body: Any, start: int, end: int) -> Command:
        close = end_of_parentheses(self.text, opening)
        parts: list[str] = []
        at = begin = opening + 2
        while at < close - 2:
            if self.text[at] == ";":
                parts.append(self.text[begin:at])
                begin = at + 1
            at = skip_unit(self.text, at)
        parts.append(self.text[begin : close - 2])
        if len(parts) != 3:
            raise ShellSyntaxError(opening, "for (( )) needs three expressions")
        return CountingFor(parts[0], parts[1], parts[2], self.command(body), start, end)

    def simple(self, node: Any) -> Command:
        parts = [part for part in node.parts if part.kind in ("assignment", "word")]
        redirects = tuple(self.redirect(part) for part in node.parts if part.kind == "redirect")
        if parts and (construct := self.hidden(*self.pos(parts[0]))):
            if len(parts) > 1:
                raise ShellSyntaxError(self.pos(parts[1])[0], "a word after the end of a condition")
            return Group(construct, False, *self.pos(node), redirects) if redirects else construct
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        for part in parts:
            assignment = None if words else read_assignment(self.text, *self.pos(part))
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(self.argument(part, words))
        return Simple(tuple(assignments), tuple(words), redirects, *self.pos(node))

    def hidden(self, start: int, end: int) -> Command | None:
        """The construct behind a masked word, None if it is an ordinary word."""
        text = self.text
        if text.startswith("[[", start) and text.startswith("]]", end - 2):
            return Test(read_condition(text, start + 2, end - 2), start, end)
        if text.startswith("((", start) and text.startswith("))", end - 2):
            return ArithmeticCommand(text[start + 2 : end - 2], start, end)
        if text.startswith("case", start) and text.startswith("esac", end - 4) and end - start > 8:
            return self.case(start, end)
        return None

    def case(self, start: int, end: int) -> Case:
        layout = read_layout(self.text, start, end)
        clauses = tuple(
            Clause(
                tuple(read_word(self.text, *pattern) for pattern in arm.patterns),
                parse(self.text, *arm.body),
                arm.then,
            )
            for arm in layout.arms
        )
        return Case(read_word(self.text, *layout.word), clauses, start, end)

    def argument(self, node: Any, before: list[Word | Assignment]) -> Word | Assignment:
        if before and self.text[before[0].start : before[0].end] in DECLARATIONS:
            return read_assignment(self.text, *self.pos(node)) or self.word(node)
        return self.word(node)

    def word(self, node: Any) -> Word:
        return read_word(self.text, *self.pos(node))

    def redirect(self, node: Any) -> Redirect:
        start, end = self.pos(node)
        descriptor = node.input if isinstance(node.input, int) else None
        if not hasattr(node.output, "pos"):
            target = Word((Literal(str(node.output), quoted=True),), start, end)
            return Redirect(node.type, target, descriptor, start, end)
        heredoc = self.heredocs.get(self.pos(node.output)[0] - 1)
        if heredoc is None:
            return Redirect(node.type, self.word(node.output), descriptor, start, end)
        try:
            body = self.body(heredoc)
        except ShellSyntaxError as error:
            # Bash complains only when it expands the body.
            body = Word((NotRead(error.reason, start, end),), start, end)
        return Redirect("<<", body, descriptor, start, end)

    def body(self, heredoc: HereDoc) -> Word:
        start, end = heredoc.body_start + self.base, heredoc.body_end + self.base
        if heredoc.strips_tabs or not heredoc.expands:
            text = self.text[start:end]
            if heredoc.strips_tabs:
                text = _LEADING_TABS.sub("", text)
            if not heredoc.expands:
                return Word((Literal(text, quoted=True),), start, end)
            return Word(read_quoted(text, 0, len(text)).parts, start, end)
        return read_quoted(self.text, start, end)
