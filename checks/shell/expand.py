"""From a word of the source to fields: braces, tildes, expansions, splitting, file names.

Source: bash manual, *Shell Expansions*. Unknown parts are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from checks.markdown import code
from checks.model import Span
from checks.shell import pattern
from checks.shell.braces import MAX_WORDS, TooMany, expand_braces
from checks.shell.glob import expand_pattern
from checks.shell.operators import is_default
from checks.shell.parameter import Valued, default, elements, is_list, joined, value
from checks.shell.scan import is_name_char
from checks.shell.state import BLANK_SEPARATORS, Shell
from checks.shell.syntax import (
    Arithmetic,
    CommandSubstitution,
    Literal,
    NotRead,
    Opaque,
    Parameter,
    Part,
    ProcessSubstitution,
    Word,
)
from checks.shell.value import Field, Text, Unknown, join, text_of
from checks.shell.variables import arithmetic_value

_LIKE_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
MAX_TEXT = 1 << 20
MAX_FIELDS = 60_000


@dataclass
class _Building:
    """The fields of one word while it is expanded. ``pieces`` are texts with whether they are quoted."""

    shell: Shell
    span: Span
    separators: str
    done: list[Field] = field(default_factory=list)
    pieces: list[tuple[str | Unknown, bool]] = field(default_factory=list)
    origins: list[Span] = field(default_factory=list)
    started: bool = False
    written_at: Span | None = None

    def add(
        self,
        text: Text,
        origins: tuple[Span, ...] = (),
        *,
        quoted: bool = True,
        written_at: Span | None = None,
    ) -> None:
        """Text that belongs to the current field."""
        self.written_at = None if self.started else written_at
        self.pieces += [(piece, quoted) for piece in text]
        self.origins += origins
        self.started = True

    def split(self, text: Text, origins: tuple[Span, ...] = ()) -> None:
        """Unquoted text: separators in its known parts end a field."""
        for piece in text:
            if isinstance(piece, Unknown):
                self.add((piece,), origins, quoted=False)
                continue
            at = 0
            for match in _delimiter(self.separators).finditer(piece):
                if match.start() > at:
                    self.add((piece[at : match.start()],), origins, quoted=False)
                if match["hard"] and not self.started:
                    self.add(())
                self.finish()
                at = match.end()
            if at < len(piece):
                self.add((piece[at:],), origins, quoted=False)

    def finish(self) -> None:
        """End the current field, if one has begun."""
        if self.started:
            origins = tuple(dict.fromkeys(self.origins))
            span = self.written_at or self.span
            for text in self._file_names():
                may_split = any(isinstance(piece, Unknown) and not quoted for piece, quoted in text)
                self.done.append(Field(join(piece for piece, _ in text), span, origins, may_split))
        self.pieces, self.origins, self.started = [], [], False
        if len(self.done) > MAX_FIELDS:
            raise self.shell.not_understood(0, f"a word of more than {MAX_FIELDS} fields")

    def _file_names(self) -> list[list[tuple[str | Unknown, bool]]]:
        """The field as it is, or the files that it names as a pattern.

        Files outside the tree are unknown, and those that programs may have written; ``*`` alone is taken to
        find some in any case. An override is never taken for a pattern.
        """
        wild = "".join(piece for piece, quoted in self.pieces if isinstance(piece, str) and not quoted)
        if not pattern.has_wildcard(wild) or "noglob" in self.shell.options:
            return [self.pieces]
        found = self._found()
        if found:
            return [[(each, True)] for each in found]
        if "nullglob" in self.shell.options:
            return []
        text = join(piece for piece, _ in self.pieces)
        written = "".join(piece if isinstance(piece, str) else "…" for piece in text)
        others = "*" in wild or written.startswith("/") or self.shell.running.started_programs
        if "=" in written or not others:
            return [self.pieces]
        return [[(Unknown(f"the files that {code(written)} matches", self.span.path, self.span.line), False)]]

    def _found(self) -> list[str]:
        pieces = [(piece, quoted) for piece, quoted in self.pieces if isinstance(piece, str)]
        if self.shell.cwd is None or len(pieces) < len(self.pieces):
            return []
        try:
            units = pattern.units(pieces)
            outside = units[0] == "\\/"
            return [] if outside else expand_pattern(self.shell.running.working_tree, self.shell.cwd, units)
        except pattern.TooLarge:
            return []


def _delimiter(separators: str) -> re.Pattern[str]:
    """What ends a field: blanks among ``IFS``, or one of its other characters with blanks around it."""
    soft = "".join(char for char in separators if char in BLANK_SEPARATORS)
    hard = "".join(char for char in separators if char not in BLANK_SEPARATORS)
    blanks = f"[{re.escape(soft)}]" if soft else "(?!)"
    others = f"[{re.escape(hard)}]" if hard else "(?!)"
    return re.compile(f"{blanks}*(?P<hard>{others}){blanks}*|{blanks}+")


def expand(shell: Shell, word: Word) -> list[Field]:
    """The fields of ``word``: none, one or many. Raises NotUnderstood."""
    separators = shell.separators
    if separators is None:
        raise shell.not_understood(word.start, "`IFS`, which is not known,")
    try:
        words = expand_braces(word)
    except TooMany:
        raise shell.not_understood(word.start, f"brace expansion to more than {MAX_WORDS} words") from None
    fields: list[Field] = []
    for each in words:
        if len(words) > 1:
            _refuse_longer_names(shell, each)
        building = _Building(shell, shell.source.span(word.start, word.end), separators)
        for number, part in enumerate(each.parts):
            if isinstance(part, Literal) and not part.quoted:
                building.add(_with_home(shell, part.text, word.start, first=number == 0), quoted=False)
            else:
                _add(building, part)
        building.finish()
        fields += building.done
    return fields


def _refuse_longer_names(shell: Shell, word: Word) -> None:
    """Bash reads ``$DIR{a,b}`` as ``$DIRa $DIRb``: braces come first, names after them."""
    for part, following in pairwise(word.parts):
        if not isinstance(part, Parameter) or part.end - part.start != len(part.name) + 1:
            continue
        if isinstance(following, Literal) and not following.quoted and is_name_char(following.text[:1]):
            raise shell.not_understood(part.start, f"{code('$' + part.name)} before a brace expansion")


def _with_home(shell: Shell, text: str, start: int, *, first: bool) -> Text:
    """A tilde also stands for home in ``name=~/x``, a word that looks like an assignment."""
    match = _LIKE_ASSIGNMENT.match(text) if first else None
    if match is None:
        return tilde(shell, text, start, first=first)
    return join([match[0], *_after_colons(shell, text[match.end() :], start, first=True)])


def _after_colons(shell: Shell, text: str, start: int, *, first: bool) -> Text:
    """The text of an assignment, where a tilde also stands after each colon."""
    pieces: list[str | Unknown] = []
    for place, piece in enumerate(text.split(":")):
        pieces += [":"] if place else []
        pieces += tilde(shell, piece, start, first=bool(place) or first)
    return join(pieces)


def _add(building: _Building, part: Part) -> None:
    """One part of a word, or of the word after ``:-``, where unquoted text is split."""
    shell = building.shell
    quoted = bool(getattr(part, "quoted", False))
    if isinstance(part, Literal):
        (building.add if quoted else building.split)(text_of(part.text))
    elif isinstance(part, Parameter) and is_default(part):
        chosen = default(shell, part)
        if isinstance(chosen, Word) and part.operator[-1] != "=":
            origin = () if part.operator[-1] == "+" else (shell.source.span(part.start, part.end),)
            building.origins += origin
            for inner in chosen.parts:
                _add(building, inner)
            if quoted and not chosen.parts:
                building.add(())
        elif is_list(part) and not isinstance(chosen, Word) and chosen[0]:
            _add_list(building, part, elements(shell, _without_operator(part)))
        else:
            _add_value(building, _settled(shell, part, chosen), quoted)
    elif isinstance(part, Parameter) and is_list(part):
        _add_list(building, part, elements(shell, part))
    else:
        _add_value(building, value_of(shell, part), quoted)


def _add_value(building: _Building, valued: Valued, quoted: bool) -> None:
    """A quoted empty value alone begins no word: the quotes around it do, see ``checks.shell.word``."""
    if not quoted:
        building.split(*valued)
    elif valued[0]:
        building.add(*valued)
    else:
        building.origins += valued[1]


def _add_list(building: _Building, part: Parameter, fields: tuple[Field, ...]) -> None:
    """``"${A[@]}"``: one field per element, each with the element's own span; ``"${A[*]}"`` is one field."""
    if part.quoted and "*" in (part.name, part.index):
        separator = building.separators[:1]
        building.add(joined(fields, separator), tuple(span for each in fields for span in each.origins))
        return
    if not part.quoted and building.separators[:1].strip(BLANK_SEPARATORS):
        # Then empty elements are kept: bash joins the list and splits it again.
        origins = tuple(span for each in fields for span in (each.span, *each.origins))
        building.split(joined(fields, building.separators[0]), origins)
        return
    for number, each in enumerate(fields):
        if number:
            building.finish()
        if part.quoted and not each.may_split:
            building.add(each.text, each.origins, written_at=each.span)
        else:
            building.split(each.text, (each.span, *each.origins))


def _without_operator(part: Parameter) -> Parameter:
    return Parameter(part.name, part.quoted, part.start, part.end, part.index, indirect=part.indirect)


def expand_assigned(shell: Shell, word: Word) -> Valued:
    """The value of an assignment: as ``expand_valued``, and a tilde also stands after a colon."""
    pieces: list[str | Unknown] = []
    origins: list[Span] = []
    for number, part in enumerate(word.parts):
        if isinstance(part, Literal) and not part.quoted:
            pieces += _after_colons(shell, part.text, word.start, first=number == 0)
            continue
        text, used = value_of(shell, part)
        pieces += text
        origins += used
    return _bounded(shell, word, pieces, origins)


def expand_valued(shell: Shell, word: Word) -> Valued:
    """The value of ``word`` where bash does not split (a ``case`` word, a redirection), with its origins."""
    pieces: list[str | Unknown] = []
    origins: list[Span] = []
    for number, part in enumerate(word.parts):
        if isinstance(part, Literal) and not part.quoted:
            pieces += tilde(shell, part.text, word.start, first=number == 0)
            continue
        text, used = value_of(shell, part)
        pieces += text
        origins += used
    return _bounded(shell, word, pieces, origins)


def _bounded(shell: Shell, word: Word, pieces: list[str | Unknown], origins: list[Span]) -> Valued:
    text = join(pieces)
    if sum(len(piece) for piece in text if isinstance(piece, str)) > MAX_TEXT:
        raise shell.not_understood(word.start, f"a value of more than {MAX_TEXT} characters")
    return text, tuple(dict.fromkeys(origins))


def expand_text(shell: Shell, word: Word) -> Text:
    """``expand_valued`` without the origins."""
    return expand_valued(shell, word)[0]


def value_of(shell: Shell, part: Part) -> Valued:
    """The text of one expansion and where the variables in it were set."""
    match part:
        case Parameter():
            if is_default(part):
                return _settled(shell, part, default(shell, part))
            return value(shell, part)
        case Arithmetic():
            number = arithmetic_value(shell, part.text, part.start)
            if number is None:
                reason = f"{code(f'$(({part.text}))')} uses a value that is not known"
                return (shell.unknown(reason, part.start),), ()
            return text_of(str(number)), ()
        case CommandSubstitution():
            return shell.running.substitute(shell, part), ()
        case ProcessSubstitution():
            shell.running.substitute(shell, part.command)
            return (shell.unknown("the file of a process substitution", part.command.start),), ()
        case Opaque():
            return (shell.unknown(f"the expression {code(part.written)}", part.start),), ()
        case NotRead():
            raise shell.not_understood(part.start, code(part.what))
        case Literal():
            return text_of(part.text), ()


def _settled(shell: Shell, part: Parameter, chosen: Word | Valued) -> Valued:
    """The value of a default; ``${V:=w}`` also sets V."""
    if not isinstance(chosen, Word):
        return chosen
    text, used = expand_valued(shell, chosen)
    if part.operator[-1] == "+":
        return text, used
    span = shell.source.span(part.start, part.end)
    if part.operator[-1] == "=":
        shell.set_text(part.name, Field(text, span, used))
    return text, (span, *used)


def tilde(shell: Shell, text: str, start: int, *, first: bool) -> Text:
    """``text`` with a leading ``~`` as an unknown home directory.

    ``~name`` stays as it is: it names no user of a runner but a key that Hydra deletes.
    """
    if not first or not text.startswith("~"):
        return text_of(text)
    head, slash, tail = text.partition("/")
    if head == "~":
        return join([shell.outside("HOME", start), slash + tail])
    if head in ("~+", "~-", "~root"):
        return join([shell.unknown(f"{code(head)} is a folder of the runner", start), slash + tail])
    return text_of(text)
