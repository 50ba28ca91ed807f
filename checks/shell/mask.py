"""Text of equal length in which bashlex finds the structure of a script.

bashlex lacks arrays, ``$(( ))``, ``[[ ]]``, ``case`` and more (DESIGN, *Evaluating scripts*). Every quote,
expansion and unsupported construct is replaced by a quoted word of the same length with the same newlines, so
that each offset bashlex reports is an offset of the source; the word parser then reads the source there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from checks.markdown import code
from checks.shell.scan import (
    BLANKS,
    HEREDOC,
    OPENS_COMMAND,
    ShellSyntaxError,
    end_of_case,
    end_of_line,
    end_of_parentheses,
    refuse_continuation,
    skip_unit,
)

OPERATORS = ";&|()"
_BEFORE_DO = re.compile(r"(?:[ \t\n]|#[^\n]*\n)*do(?=[\s;]|\\\n|$)")
_SPLIT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\]?)?\+?")
_ARRAY_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_WRITTEN = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class HereDoc:
    """A here-document: offset of its ``<<``, body as offsets, and whether expansions happen in it."""

    operator: int
    body_start: int
    body_end: int
    expands: bool
    strips_tabs: bool


@dataclass(frozen=True, slots=True)
class Masked:
    """The masked text, with the length and the newlines of the source, and what had to be cut out of it.

    ``before_do`` are the offsets of the newlines that end the header of a loop.
    """

    text: str
    heredocs: tuple[HereDoc, ...]
    before_do: tuple[int, ...]


def mask(source: str) -> Masked:
    """Hide from ``source`` what bashlex lacks. Raises ShellSyntaxError."""
    return _Mask(source).run()


@dataclass
class _Mask:
    source: str
    out: list[str] = field(default_factory=list)
    at: int = 0
    command_position: bool = True
    word: str = ""
    last_word: str = ""
    last_char: str = ""
    loop_header: bool = False
    pending: list[re.Match[str]] = field(default_factory=list)
    heredocs: list[HereDoc] = field(default_factory=list)
    before_do: list[int] = field(default_factory=list)

    def run(self) -> Masked:
        while self.at < len(self.source):
            self._step()
        self._end_word()
        if self.pending:
            raise ShellSyntaxError(self.pending[0].start(), "here-document without its end marker")
        return Masked("".join(self.out), tuple(self.heredocs), tuple(self.before_do))

    def _step(self) -> None:
        char = self.source[self.at]
        if char == "\\" and self.source.startswith("\\\n", self.at):
            self._continuation()
        elif char == "\n":
            self._newline()
        elif char in BLANKS:
            self._end_word()
            self._keep(1)
        elif char == "#" and not self.word:
            self._hide_as_blanks(end_of_line(self.source, self.at))
        elif char in "'\"`$\\":
            self._hide_as_word(skip_unit(self.source, self.at))
        elif char == "<" and self._heredoc():
            pass
        elif char in "<>" and self.source.startswith("\\\n", self.at + 1):
            refuse_continuation(self.source, self.at + 1)
        elif char in "<>" and self.source.startswith("(", self.at + 1):
            self._hide_as_word(end_of_parentheses(self.source, self.at + 1))
        elif char in OPERATORS:
            self._operator(char)
        elif char in "<>":
            self._redirection()
        else:
            self._plain(char)

    def _continuation(self) -> None:
        following = self.source[self.at + 2 : self.at + 3]
        if following in ("", " ", "\t", "\n", *OPERATORS):
            self._end_word()
        elif (self.command_position or following in "=+[") and _SPLIT.fullmatch(self.word):
            refuse_continuation(self.source, self.at)
        self._keep(2)

    def _newline(self) -> None:
        self._end_word()
        if self.loop_header and _BEFORE_DO.match(self.source, self.at):
            if self.last_char not in ";&":
                self.before_do.append(self.at)
            self.loop_header = False
        self._keep(1)
        self.command_position = True
        for marker in self.pending:
            self._heredoc_body(marker)
        self.pending.clear()

    def _operator(self, char: str) -> None:
        if char == "(" and _ARRAY_ASSIGNMENT.fullmatch(self.word):
            self._hide_as_word(end_of_parentheses(self.source, self.at))
            return
        self._end_word()
        if self.source.startswith("((", self.at) and (self.command_position or self.last_word == "for"):
            self._arithmetic()
            return
        if char == "(" and self.source.startswith("(", self.at + 3):
            refuse_continuation(self.source, self.at + 1)
        self.last_char = char
        self._keep(1)
        self.command_position = True

    def _arithmetic(self) -> None:
        end = end_of_parentheses(self.source, self.at)
        if not self.source.startswith("))", end - 2):
            self._keep(1)
        elif self.last_word == "for":
            # As a quoted name; `for((` has no blank that would end the word `for`.
            self.out.append(" '" + _WRITTEN.sub("x", self.source[self.at + 2 : end - 1]) + "'")
            self.at = end
        else:
            self._hide_as_word(end)

    def _redirection(self) -> None:
        self._end_word()
        length = len(re.compile(r"[<>]+[&|]?").match(self.source, self.at)[0])  # type: ignore[index]
        was_command = self.command_position
        self._keep(length)
        self.command_position = was_command

    def _plain(self, char: str) -> None:
        if self.command_position and not self.word:
            if re.compile(r"\[\[[ \t\n]").match(self.source, self.at):
                self._hide_as_word(self._end_of_test())
                return
            if re.compile(r"case[ \t]").match(self.source, self.at):
                self._hide_as_word(end_of_case(self.source, self.at))
                return
            if match := re.compile(r"time(?=[ \t])([ \t]+-p(?=[ \t]))?").match(self.source, self.at):
                self._hide_as_blanks(match.end())
                return
            if re.compile(r"select[ \t]").match(self.source, self.at):
                self.out.append("for   ")
                self.word = "for"
                self.at += len("select")
                return
        self.out.append(char)
        self.word += char
        self.at += 1

    def _end_of_test(self) -> int:
        at = self.at + 2
        while at < len(self.source):
            if self.source.startswith("]]", at) and self.source[at - 1] in " \t\n":
                return at + 2
            at = skip_unit(self.source, at)
        raise ShellSyntaxError(self.at, "unclosed [[")

    def _heredoc(self) -> bool:
        marker = HEREDOC.match(self.source, self.at)
        if marker is None or self.source.startswith("<<<", self.at):
            return False
        self._end_word()
        self.pending.append(marker)
        length = marker.end() - marker.start()
        self.out.append("<'" + "x" * (length - 3) + "'")
        self.at = marker.end()
        return True

    def _heredoc_body(self, marker: re.Match[str]) -> None:
        word = marker["word"]
        end_mark = word.strip("'\"").replace("\\", "")
        start = self.at
        while self.at < len(self.source):
            line_end = end_of_line(self.source, self.at)
            line = self.source[self.at : line_end]
            body_end = self.at
            self._hide_as_blanks(min(line_end + 1, len(self.source)))
            if (line.lstrip("\t") if marker["strip"] else line) == end_mark:
                expands = word[0] not in "'\"" and "\\" not in word
                self.heredocs.append(HereDoc(marker.start(), start, body_end, expands, bool(marker["strip"])))
                return
        raise ShellSyntaxError(marker.start(), f"here-document without its end marker {code(end_mark)}")

    def _end_word(self) -> None:
        if self.word:
            if self.command_position and self.word in ("while", "until"):
                self.loop_header = True
            elif self.word == "do":
                self.loop_header = False
            self.command_position = self.command_position and self.word in OPENS_COMMAND
            self.last_word = self.word
            self.last_char = self.word[-1]
        self.word = ""

    def _keep(self, length: int) -> None:
        self.out.append(self.source[self.at : self.at + length])
        self.at += length

    def _hide_as_word(self, end: int) -> None:
        hidden = (
            "'" + _WRITTEN.sub("x", self.source[self.at + 1 : end - 1]) + "'" if end - self.at > 1 else "x"
        )
        self.out.append(hidden)
        self.word += hidden
        self.at = end

    def _hide_as_blanks(self, end: int) -> None:
        self.out.append(_WRITTEN.sub(" ", self.source[self.at : end]))
        self.at = end
