"""What the operators of ``${…}`` do to a text: ``:off:len``, ``#``, ``%``, ``/``, ``^``, ``,``, ``@Q``.

Source: bash manual, *Shell Parameter Expansion*.
"""

from __future__ import annotations

from checks.markdown import code
from checks.shell import arithmetic, pattern
from checks.shell.state import Shell
from checks.shell.syntax import Literal, Parameter, Word
from checks.shell.value import EMPTY, Text, Unknown, known, text_of
from checks.shell.variables import arithmetic_value

_DEFAULTS = frozenset({"-", "=", "+", "?", ":-", ":=", ":+", ":?"})


def is_default(part: Parameter) -> bool:
    """True for ``${V:-w}`` and its relatives."""
    return part.operator in _DEFAULTS


def slice_bounds(shell: Shell, part: Parameter) -> tuple[int, int | None]:
    """Offset and length of ``${V:offset:length}``."""
    numbers: list[int | None] = []
    for word in (part.argument, part.second):
        if word is None:
            numbers.append(None)
            continue
        text = "".join(piece.text for piece in word.parts if isinstance(piece, Literal))
        whole = all(isinstance(piece, Literal) for piece in word.parts)
        text = text if whole else known(shell.running.expanded(shell, word)) or arithmetic.UNKNOWN
        number = arithmetic_value(shell, text, word.start)
        if number is None:
            raise shell.not_understood(part.start, f"a part of {code(part.name)} that is not known")
        numbers.append(number)
    return numbers[0] or 0, numbers[1]


def sliced(size: int, offset: int, length: int | None) -> slice:
    """The stretch of ``size`` elements that offset and length mean; an offset before the start gives none."""
    start = offset if offset >= 0 else size + offset
    if start < 0:
        return slice(0, 0)
    if length is None:
        return slice(start, size)
    return slice(start, start + length if length >= 0 else max(size + length, start))


def changed(shell: Shell, part: Parameter, text: Text) -> Text:
    """``text`` after the operator."""
    if not part.operator or is_default(part):
        return text
    assert part.argument is not None
    written = known(text)
    if part.operator == ":":
        if written is None:
            return (_part_of(shell, part),)
        offset, length = slice_bounds(shell, part)
        chosen = sliced(len(written), offset, length)
        if length is not None and length < 0 and len(written) + length < chosen.start:
            raise shell.not_understood(part.start, f"a part of {code(part.name)} that ends before it begins")
        return text_of(written[chosen])
    try:
        if part.operator == "@":
            return (
                text_of(_transformed(shell, part, written))
                if written is not None
                else (_part_of(shell, part),)
            )
        wanted = pattern_units(shell, part.argument)
        if written is None or wanted is None:
            return (_part_of(shell, part),)
        if part.operator[0] in "#%":
            return text_of(_trimmed(part.operator, wanted, written))
        if part.operator[0] == "/":
            return _replaced(shell, part, wanted, written)
        return text_of(_cased(part.operator, wanted, written))
    except pattern.TooLarge:
        raise shell.not_understood(part.start, f"a pattern of {code(part.name)}") from None


def _part_of(shell: Shell, part: Parameter) -> Unknown:
    return shell.unknown(f"a part of {code(part.name)}, which is not known", part.start)


def pattern_units(shell: Shell, argument: Word) -> list[str] | None:
    """The pattern that ``argument`` is, None if a part of it is not known. Raises pattern.TooLarge."""
    pieces: list[tuple[str, bool]] = []
    for part in argument.parts:
        quoted = bool(getattr(part, "quoted", False))
        text = (
            part.text
            if isinstance(part, Literal)
            else known(shell.running.expanded(shell, Word((part,), argument.start, argument.end)))
        )
        if text is None:
            return None
        pieces.append((text, quoted))
    return pattern.units(pieces)


def _trimmed(operator: str, wanted: list[str], text: str) -> str:
    chosen = pattern.longest if len(operator) == 2 else pattern.shortest
    if operator[0] == "#":
        return text[chosen(wanted, text) or 0 :]
    return text[: len(text) - (chosen(wanted[::-1], text[::-1]) or 0)]


def _replaced(shell: Shell, part: Parameter, wanted: list[str], text: str) -> Text:
    replacement = shell.running.expanded(shell, part.second) if part.second else EMPTY
    new = known(replacement)
    if new is None:
        return (_part_of(shell, part),)
    literal = part.second is None or all(isinstance(each, Literal) for each in part.second.parts)
    if "&" in new or ("\\" in new and not literal):
        raise shell.not_understood(part.start, "`&` in a replacement, or a backslash,")
    if not wanted and part.operator in ("/", "//"):
        return text_of(text)
    if part.operator == "/#":
        length = pattern.longest(wanted, text)
        return text_of(text if length is None else new + text[length:])
    if part.operator == "/%":
        length = pattern.longest(wanted[::-1], text[::-1])
        return text_of(text if length is None else text[: len(text) - length] + new)
    return text_of(pattern.replaced(wanted, text, new, every=part.operator == "//"))


def _cased(operator: str, wanted: list[str], text: str) -> str:
    change = str.upper if operator[0] == "^" else str.lower
    limit = len(text) if len(operator) == 2 else 1
    return "".join(
        change(char) if at < limit and (not wanted or pattern.matches(wanted, char)) else char
        for at, char in enumerate(text)
    )


def _transformed(shell: Shell, part: Parameter, text: str) -> str:
    assert part.argument is not None
    letter = known(shell.running.expanded(shell, part.argument))
    if letter == "Q" and text.isprintable():
        return "'" + text.replace("'", "'\\''") + "'"
    if letter in ("U", "L"):
        return text.upper() if letter == "U" else text.lower()
    if letter == "u":
        return text[:1].upper() + text[1:]
    raise shell.not_understood(part.start, f"the transformation {code('@' + (letter or ''))}")
