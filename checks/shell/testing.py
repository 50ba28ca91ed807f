"""``[ … ]`` and ``[[ … ]]``, three-valued: true, false, or a question that this path must decide.

Source: bash manual, *Bash Conditional Expressions*.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

import re2

from checks.markdown import code
from checks.shell import pattern
from checks.shell.expand import expand_text
from checks.shell.operators import pattern_units
from checks.shell.state import Shell
from checks.shell.syntax import Binary, Both, Condition, Either, Literal, Not, Unary, Word
from checks.shell.value import EMPTY, Field, Text, Truth, Undecided, Variable, array, known, text_of, turned
from checks.shell.variables import arithmetic_value

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
FILE_TESTS = frozenset("abcdefghkprsuwxGLNOS")
OLDER = frozenset({"-nt", "-ot", "-ef"})
_REGEX_OPTIONS = re2.Options()
_REGEX_OPTIONS.posix_syntax = True
_REGEX_OPTIONS.longest_match = True
_REGEX_OPTIONS.log_errors = False
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[(?P<key>.*)\])?", re.S)
_SPECIAL = frozenset("\\^$.|?*+()[]{}")


def both(shell: Shell, left: Truth, right: Callable[[], Truth]) -> Truth:
    """Logical and. A side is chosen only if both are undecided."""
    if left is False:
        return False
    second = right()
    if left is True or second is False:
        return second
    if second is True:
        return left
    assert isinstance(left, Undecided)
    return second if shell.running.decide(left) else False


def evaluate_condition(shell: Shell, condition: Condition) -> Truth:
    """The truth of what stands in ``[[ … ]]``. Raises NotUnderstood."""
    match condition:
        case Not(inner):
            return turned(evaluate_condition(shell, inner))
        case Both(left, right):
            return both(shell, evaluate_condition(shell, left), lambda: evaluate_condition(shell, right))
        case Either(left, right):
            first = turned(evaluate_condition(shell, left))
            return turned(both(shell, first, lambda: turned(evaluate_condition(shell, right))))
        case Unary(name, operand):
            return unary(shell, name, expand_text(shell, operand), _what(shell, operand.start - 3, operand))
        case Binary():
            return _binary(shell, condition)


def _what(shell: Shell, start: int, last: Word) -> str:
    text = shell.source.text[max(start, 0) : last.end].strip().removeprefix("[").strip()
    return f"{code(text)} (line {shell.source.line(last.start)})"


def _binary(shell: Shell, condition: Binary) -> Truth:
    left = expand_text(shell, condition.left)
    what = _what(shell, condition.left.start, condition.right)
    match condition.operator:
        case "=" | "==":
            return match_pattern(shell, left, condition.right, what)
        case "!=":
            return turned(match_pattern(shell, left, condition.right, what))
        case "=~":
            return _match_regex(shell, left, condition.right, what)
        case name if name in COMPARISONS:
            numbers = tuple(
                _number(shell, expand_text(shell, word), word.start)
                for word in (condition.left, condition.right)
            )
            return _compare(name, numbers, what)
        case name:
            return binary(left, name, expand_text(shell, condition.right), what)


def _number(shell: Shell, text: Text, start: int) -> int | None:
    written = known(text)
    return None if written is None else arithmetic_value(shell, written, start)


def _compare(name: str, numbers: tuple[int | None, ...], what: str) -> Truth:
    left, right = numbers
    if left is None or right is None:
        return Undecided(what, ("compare", what), first=False)
    return COMPARISONS[name](left, right)


def unary(shell: Shell, name: str, operand: Text, what: str) -> Truth:
    """``-z``, ``-n``, ``-v``, ``-o`` and the file tests."""
    if name == "-z":
        return is_empty(operand, what)
    if name == "-n":
        return turned(is_empty(operand, what))
    if name == "-v" and (match := _VARIABLE.fullmatch(known(operand) or "")):
        found = shell.variable(match["name"])
        if found is None:
            return Undecided(what, ("set", match["name"]), first=False)
        return bool(found.fields) if match["key"] is None else _has_element(found, match["key"])
    if name == "-o" and (option := known(operand)) is not None:
        return option in shell.options
    if name[1:] in FILE_TESTS:
        return _file(shell, name, operand, what)
    return Undecided(what, ("unary", name, operand))


def _has_element(variable: Variable, key: str) -> bool:
    if key in ("@", "*"):
        return bool(variable.fields)
    return variable.element(key if variable.associative or not key.isdigit() else int(key)) is not None


def is_empty(text: Text, what: str) -> Truth:
    """True for the empty text; known parts are never empty."""
    if text == EMPTY:
        return True
    if any(isinstance(piece, str) or not piece.path for piece in text):
        return False
    return Undecided(what, ("empty", text))


def _file(shell: Shell, name: str, operand: Text, what: str) -> Truth:
    if operand == EMPTY:
        return False
    path = shell.tree_path(operand)
    if path is not None:
        files = shell.running.working_tree
        if files.is_removed(path):
            return False
        kind = files.kind(path)
        is_made = path in files.made
        if kind == "file" and not (is_made and name in ("-x", "-s")):
            executable = not is_made and files.snapshot.tree[path].mode == "100755"
            return {"-x": executable, "-d": False, "-h": False, "-L": False}.get(name, True)
        if kind == "folder":
            return name in ("-a", "-d", "-e", "-r", "-w", "-x", "-s")
    return Undecided(what, ("file", name, operand))


def binary(left: Text, name: str, right: Text, what: str) -> Truth:
    """Comparison of two texts without patterns."""
    if name in ("=", "=="):
        return equal(left, right, what)
    if name == "!=":
        return turned(equal(left, right, what))
    first, second = known(left), known(right)
    if name in OLDER or first is None or second is None:
        return Undecided(what, ("binary", left, name, right))
    return first < second if name == "<" else first > second


def equal(left: Text, right: Text, what: str) -> Truth:
    """Equality; unknown parts stand for any text."""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return first == second
    if left == right:
        return True
    if EMPTY in (left, right):
        return is_empty(left or right, what)
    if _differ(left, right):
        return False
    return Undecided(what, ("equal", *sorted((left, right), key=repr)), first=False)


def _differ(left: Text, right: Text) -> bool:
    """True if a known beginning or end shows that the texts cannot be equal."""
    heads = [piece for piece in (left[0], right[0]) if isinstance(piece, str)]
    tails = [piece for piece in (left[-1], right[-1]) if isinstance(piece, str)]
    if len(heads) == 2 and not (heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])):
        return True
    return len(tails) == 2 and not (tails[0].endswith(tails[1]) or tails[1].endswith(tails[0]))


def match_pattern(shell: Shell, text: Text, wanted: Word, what: str) -> Truth:
    """``text`` against the pattern ``wanted``. Raises NotUnderstood."""
    try:
        units = pattern_units(shell, wanted)
        if units is None:
            return equal(text, expand_text(shell, wanted), what)
        written = known(text)
        if written is not None:
            return pattern.matches(units, written)
        if not pattern.could_match(units, [piece if isinstance(piece, str) else None for piece in text]):
            return False
    except pattern.TooLarge:
        raise shell.not_understood(wanted.start, "this pattern") from None
    if pattern.always_matches(units, [piece for piece in text if isinstance(piece, str)]):
        return True
    if all(unit.startswith("\\") for unit in units):
        return equal(text, text_of("".join(unit[1:] for unit in units)), what)
    return Undecided(what, ("match", text, tuple(units)), first=False)


def _match_regex(shell: Shell, text: Text, wanted: Word, what: str) -> Truth:
    written = known(text)
    expression = ""
    for part in wanted.parts:
        piece = part.text if isinstance(part, Literal) else known(expand_text(shell, Word((part,), 0, 0)))
        if piece is None or written is None:
            return Undecided(what, ("regex", text, what), first=False)
        quoted = bool(getattr(part, "quoted", False))
        expression += (
            "".join(f"\\{char}" if char in _SPECIAL else char for char in piece) if quoted else piece
        )
    if written is None:
        return Undecided(what, ("regex", text, what), first=False)
    try:
        found = re2.compile(expression, _REGEX_OPTIONS).search(written)
    except re2.error:
        raise shell.not_understood(wanted.start, f"the regular expression {code(expression)}") from None
    span = shell.source.span(wanted.start, wanted.end)
    groups = (found.group(0), *found.groups()) if found else ()
    shell.assign("BASH_REMATCH", array(Field(text_of(group or ""), span) for group in groups))
    return found is not None


def evaluate_test(shell: Shell, start: int, arguments: Sequence[Field], what: str) -> Truth:
    """``[ arguments ]``, by the number of arguments as POSIX has it. Raises NotUnderstood."""
    words = [argument.text for argument in arguments]
    reader = _Test(shell, start, words, what)
    return reader.whole()


class _Test:
    """Reads the words of ``[ … ]`` from the left."""

    def __init__(self, shell: Shell, start: int, words: list[Text], what: str) -> None:
        self.shell = shell
        self.start = start
        self.words = words
        self.what = what

    def whole(self) -> Truth:
        if not self.words:
            return False
        truth = self.either()
        if self.words:
            raise self.shell.not_understood(self.start, self.what)
        return truth

    def either(self) -> Truth:
        truth = self.both()
        while self.words and known(self.words[0]) == "-o":
            self.words.pop(0)
            truth = turned(self.join(turned(truth), turned(self.both())))
        return truth

    def both(self) -> Truth:
        truth = self.primary()
        while self.words and known(self.words[0]) == "-a":
            self.words.pop(0)
            truth = self.join(truth, self.primary())
        return truth

    def join(self, left: Truth, right: Truth) -> Truth:
        return both(self.shell, left, lambda: right)

    def primary(self) -> Truth:
        if not self.words:
            raise self.shell.not_understood(self.start, self.what)
        first = self.words.pop(0)
        name = known(first)
        following = known(self.words[0]) if self.words else None
        if following in {*COMPARISONS, *OLDER, "=", "==", "!=", "<", ">"} and len(self.words) > 1:
            self.words.pop(0)
            return self.comparison(first, following or "", self.words.pop(0))
        if name == "!" and self.words:
            return turned(self.primary())
        if name == "(" and self.words:
            truth = self.either()
            if not self.words or known(self.words.pop(0)) != ")":
                raise self.shell.not_understood(self.start, self.what)
            return truth
        if (
            name is not None
            and len(name) == 2
            and name[0] == "-"
            and self.words
            and following not in ("-a", "-o")
        ):
            return unary(self.shell, name, self.words.pop(0), self.what)
        return turned(is_empty(first, self.what))

    def comparison(self, left: Text, name: str, right: Text) -> Truth:
        if name not in COMPARISONS:
            return binary(left, name, right, self.what)
        numbers: list[int | None] = []
        for text in (left, right):
            written = known(text)
            if written is not None and not written.strip().lstrip("+-").isdigit():
                # Bash prints an error and the test fails.
                return False
            numbers.append(int(written) if written is not None and len(written) < 20 else None)
        if None in numbers:
            return Undecided(self.what, ("compare", name, left, right), first=False)
        return _compare(name, tuple(numbers), self.what)
