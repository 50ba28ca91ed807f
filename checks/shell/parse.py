"""From text to structure: bashlex on the masked text, words from the source. The only importer of bashlex."""

from __future__ import annotations

from collections.abc import Sequence as Many
from functools import lru_cache
from typing import Any

import bashlex
import bashlex.errors

from checks.markdown import code
from checks.shell.mask import Masked, mask
from checks.shell.scan import ShellSyntaxError
from checks.shell.syntax import (
    Assignment,
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirect,
    Script,
    Sequence,
    Simple,
    Unsupported,
    Word,
)
from checks.shell.word import read_assignment, read_word

DECLARATIONS = frozenset({"export", "readonly", "local", "declare", "typeset"})
MAX_TEXT = 256 * 1024
MAX_NESTING = 60


@lru_cache(maxsize=1024)
def parse(text: str) -> Script:
    """The structure of a script. Raises ShellSyntaxError for text that bash or this parser refuses."""
    if len(text) > MAX_TEXT:
        raise ShellSyntaxError(0, f"longer than {MAX_TEXT} characters")
    masked = mask(text)
    _refuse_deep_nesting(masked.text)
    if not masked.text.strip():
        return Script(Sequence((), 0, 0), text)
    return Script(_Reader(text, masked).sequence(_bashlex(masked.text)), text)


def _bashlex(masked: str) -> list[Any]:
    try:
        return list(bashlex.parse(masked, expansionlimit=0))
    except bashlex.errors.ParsingError as error:
        reason = f"the parser says {code(error.message)}"
        raise ShellSyntaxError(min(error.position, len(masked)), reason) from None
    except (NotImplementedError, AssertionError, RecursionError, IndexError, AttributeError) as error:
        # bashlex's own gaps; which command holds it is not told.
        raise ShellSyntaxError(0, f"not understood by the parser: {type(error).__name__}") from None


def _refuse_deep_nesting(masked: str) -> None:
    depth = 0
    for offset, char in enumerate(masked):
        depth += (char in "({") - (char in ")}")
        if depth > MAX_NESTING:
            raise ShellSyntaxError(offset, f"nested deeper than {MAX_NESTING}")


class _Reader:
    """Turns bashlex's nodes into ours, reading every word from the source instead of from the mask."""

    def __init__(self, text: str, masked: Masked) -> None:
        self.text = text
        self.heredocs = {heredoc.operator: heredoc for heredoc in masked.heredocs}

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
        return Sequence(tuple(items), items[0][0].start if items else 0, items[-1][0].end if items else 0)

    def command(self, node: Any) -> Command:
        start, end = node.pos
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
            case "function":
                return Function(node.name.word, self.command(node.body), start, end)
            case _:
                return Unsupported(f"{code(node.kind)}", start, end)

    def pipeline(self, node: Any) -> Command:
        commands = tuple(
            self.command(part) for part in node.parts if part.kind not in ("pipe", "reservedword")
        )
        negated = any(part.kind == "reservedword" and part.word == "!" for part in node.parts)
        if len(commands) == 1 and not negated:
            return commands[0]
        return Pipeline(commands, negated, *node.pos)

    def compound(self, node: Any) -> Command:
        first = node.list[0]
        if first.kind == "reservedword":
            body = self.sequence(node.list[1:-1])
            return Group(body, first.word == "(", *node.pos)
        return self.command(first)

    def conditional(self, node: Any) -> Command:
        branches: list[tuple[Command | None, Command]] = []
        condition: Command | None = None
        keyword = ""
        for part in node.parts:
            if part.kind == "reservedword":
                keyword = part.word
            elif keyword in ("if", "elif"):
                condition = self.command(part)
            else:
                branches.append((condition if keyword == "then" else None, self.command(part)))
        return If(tuple(branches), *node.pos)

    def loop(self, node: Any) -> Command:
        start, end = node.pos
        if self.text[start:end].split("(", 1)[0].split() == ["for"]:
            return Unsupported("`for ((…))`", start, end)
        keywords = [part.word for part in node.parts if part.kind == "reservedword"]
        words = [part for part in node.parts if part.kind == "word"]
        body = node.parts[-2] if node.parts[-1].kind == "reservedword" else node.parts[-1]
        listed = tuple(read_word(self.text, *word.pos) for word in words[1:]) if "in" in keywords else None
        return For(words[0].word, listed, self.command(body), start, end)

    def simple(self, node: Any) -> Command:
        start, end = node.pos
        parts = [part for part in node.parts if part.kind in ("assignment", "word")]
        if len(parts) == 1 and (construct := self._hidden_construct(parts[0].pos)):
            return Unsupported(construct, start, end)
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        for part in parts:
            assignment = read_assignment(self.text, *part.pos) if part.kind == "assignment" else None
            if assignment is not None and not words:
                assignments.append(assignment)
            else:
                words.append(self._word(part.pos, words))
        redirects = tuple(self.redirect(part) for part in node.parts if part.kind == "redirect")
        return Simple(tuple(assignments), tuple(words), redirects, start, end)

    def _hidden_construct(self, pos: tuple[int, int]) -> str | None:
        text = self.text[slice(*pos)]
        if text.startswith("[["):
            return "`[[ … ]]`"
        if text.startswith("(("):
            return "`(( … ))`"
        if text.startswith("case") and text.endswith("esac"):
            return "`case`"
        return None

    def _word(self, pos: tuple[int, int], before: list[Word | Assignment]) -> Word | Assignment:
        if before and self.text[before[0].start : before[0].end] in DECLARATIONS:
            return read_assignment(self.text, *pos) or read_word(self.text, *pos)
        return read_word(self.text, *pos)

    def redirect(self, node: Any) -> Redirect:
        start, end = node.pos
        if start in self.heredocs:
            return Redirect("<<", None, start, end)
        target = node.output if node.output is not None else node.input
        word = read_word(self.text, *target.pos) if hasattr(target, "pos") else None
        return Redirect(node.type, word, start, end)
