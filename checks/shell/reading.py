"""``read``, ``mapfile`` and ``getopts``: from input and arguments into variables.

Source: bash manual, *Shell Builtin Commands*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.markdown import code
from checks.shell.state import BLANK_SEPARATORS, Shell
from checks.shell.syntax import Simple
from checks.shell.value import (
    EMPTY,
    Field,
    Status,
    Text,
    Undecided,
    Variable,
    array,
    known,
    lines_of,
    text_of,
)

Arguments = tuple[Field, ...]


@dataclass
class _Reading:
    """The options of ``read``; an empty delimiter reads everything, ``limit`` is that of ``-n``."""

    names: list[str]
    to_array: bool = False
    delimiter: str = "\n"
    raw: bool = False
    limited: bool = False
    descriptor: int = 0
    named: bool = True


def read(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    """``read`` from a here-string, a here-document, a file or a pipe; anything else is unknown."""
    options = _options(shell, command, arguments)
    given = shell.inputs.get(options.descriptor) if options.descriptor else shell.input
    span = shell.source.span(command.start, command.end)
    line, rest = _first_line(given, options.delimiter)
    if line is not None and not options.raw:
        line, rest = _without_escapes(line, rest, shell.separators)
    if line is None or options.limited:
        unknown = (shell.unknown("what `read` reads", command.start),)
        for name in options.names:
            field = Field(unknown, span, may_split=True)
            shell.assign(name, array([field]) if options.to_array else Variable((field,)))
        what = f"{code(shell.source.text[command.start : command.end])} finds a line"
        return Undecided(what, ("read", what, span.line))
    if options.descriptor:
        shell.inputs[options.descriptor] = rest
    else:
        shell.input = rest
    parts = (
        _split(shell, command, line, 0 if options.to_array else len(options.names))
        if options.named
        else [line]
    )
    fields = [Field(text_of(part), span) for part in parts]
    if options.to_array:
        shell.variables[shell.referred(options.names[0])] = array(fields)
    for number, name in enumerate(() if options.to_array else options.names):
        shell.assign(name, Variable((fields[number] if number < len(fields) else Field(EMPTY, span),)))
    ended = known(given or EMPTY) or ""
    return int(not options.delimiter or options.delimiter not in ended)


def _options(shell: Shell, command: Simple, arguments: Arguments) -> _Reading:
    found = _Reading([])
    rest = iter(arguments)
    for argument in rest:
        text = argument.known
        if text is None:
            raise shell.not_understood(command.start, "`read` into a name that is not known")
        if not text.startswith("-"):
            found.names.append(text)
            continue
        for at, letter in enumerate(text[1:], 1):
            if letter in "dpntuNi":
                following = text[at + 1 :] or ((each.known or "") if (each := next(rest, None)) else "")
                found.delimiter = following[:1] if letter == "d" else found.delimiter
                if letter == "u" and following.isdigit() and len(following) < 4:
                    found.descriptor = int(following)
                found.limited = found.limited or letter in "nN"
                break
            found.to_array = found.to_array or letter == "a"
            found.raw = found.raw or letter == "r"
    found.named = bool(found.names)
    found.names = found.names or ["REPLY"]
    return found


def _first_line(given: Text | None, delimiter: str) -> tuple[str | None, Text | None]:
    if given == EMPTY:
        return "", EMPTY
    text = known(given) if given is not None else None
    if text is None:
        return None, given
    line, _, rest = text.partition(delimiter) if delimiter else (text, "", "")
    return line, text_of(rest)


def _without_escapes(line: str, rest: Text | None, separators: str | None) -> tuple[str | None, Text | None]:
    """What ``read`` without ``-r`` makes of backslashes; None if one of them guards a separator."""
    while (len(line) - len(line.rstrip("\\"))) % 2 and (following := known(rest or EMPTY)):
        more, _, left = following.partition("\n")
        line, rest = line[:-1] + more, text_of(left)
    if any(escaped[1:] in (separators or BLANK_SEPARATORS) for escaped in re.findall(r"\\.", line, re.S)):
        return None, rest
    return re.sub(r"\\(.?)", r"\1", line, flags=re.S), rest


def _split(shell: Shell, command: Simple, line: str, limit: int) -> list[str]:
    """``line`` cut at ``IFS``; at most ``limit`` parts if it is not 0, the last with all that is left."""
    separators = shell.separators
    if separators is None:
        raise shell.not_understood(command.start, "`IFS`, which is not known,")
    blanks = "".join(char for char in separators if char in " \t\n")
    if not separators:
        return [line]
    text = line.strip(blanks) if blanks else line
    soft, hard = re.escape(blanks), re.escape("".join(char for char in separators if char not in " \t\n"))
    delimiter = (f"[{soft}]*[{hard}][{soft}]*" if soft else f"[{hard}]") if hard else f"[{soft}]+"
    if hard and soft:
        delimiter += f"|[{soft}]+"
    parts = (
        re.split(delimiter, text, maxsplit=max(limit - 1, 0))
        if limit != 1 and text
        else [text]
        if text
        else []
    )
    if not limit:
        return parts[:-1] if parts and parts[-1] == "" else parts
    # What is left goes to the last name; a single field loses the delimiter after it.
    single = re.fullmatch(f"([^{re.escape(separators)}]*)(?:{delimiter})", parts[-1]) if parts else None
    return [*parts[:-1], single[1]] if single else parts


def mapfile(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    """``mapfile [-t] name``: the lines of the input."""
    words = [argument.known for argument in arguments]
    name = words[-1] if words and not (words[-1] or "-").startswith("-") else "MAPFILE"
    if name is None or not set(words) <= {"-t", name}:
        raise shell.not_understood(command.start, "`mapfile` with these options")
    span = shell.source.span(command.start, command.end)
    text = known(shell.input) if shell.input is not None else None
    if text is None:
        reason = (shell.unknown("what `mapfile` reads", command.start),)
        shell.variables[name] = array([Field(reason, span, may_split=True)])
        return 0
    lines = lines_of(text) if "-t" not in words else [line.removesuffix("\n") for line in lines_of(text)]
    shell.variables[name] = array(Field(text_of(line), span) for line in lines)
    return 0


def getopts(shell: Shell, command: Simple, arguments: Arguments) -> Status:
    """``getopts spec name words``: the next option of the words or arguments, also of a joined one."""
    spec = arguments[0].known if len(arguments) > 1 else None
    name = arguments[1].known if len(arguments) > 1 else None
    given = arguments[2:] or shell.arguments
    if spec is None or name is None:
        raise shell.not_understood(command.start, "`getopts` with these arguments")
    index = shell.variables.get("OPTIND")
    written = (index.fields[0].known if index.fields else "") if index else "1"
    if written is None or not re.fullmatch(r"[0-9]{0,5}", written):
        raise shell.not_understood(command.start, "`getopts` with an `OPTIND` that is not known")
    at = max(int(written or 1), 1)
    word = given[at - 1] if at <= len(given) else None
    text = word.known if word is not None else ""
    if text is None:
        raise shell.not_understood(command.start, "`getopts` on arguments that are not known")
    place = shell.option_place if shell.option_place < len(text) else 1
    if len(text) < 2 or text[0] != "-" or text == "--":
        _found(shell, command, name, "?", None)
        _go_to(shell, command, at + (text == "--"), 1)
        return 1
    letter, rest = text[place], text[place + 1 :]
    silent = spec.startswith(":")
    if letter == ":" or letter not in spec:
        _found(shell, command, name, "?", letter if silent else None)
    elif f"{letter}:" not in spec:
        _found(shell, command, name, letter, None)
    else:
        following = given[at] if at < len(given) else None
        _with_value(shell, command, name, (letter, rest, at, following), silent=silent)
        return 0
    _go_to(shell, command, at if rest else at + 1, place + 1 if rest else 1)
    return 0


def _with_value(
    shell: Shell, command: Simple, name: str, option: tuple[str, str, int, Field | None], *, silent: bool
) -> None:
    """An option that takes a value: the rest of its word, else the next one."""
    letter, rest, at, following = option
    if rest:
        _found(shell, command, name, letter, rest)
        _go_to(shell, command, at + 1, 1)
    elif following is not None:
        _found(shell, command, name, letter, None)
        shell.set_text("OPTARG", following)
        _go_to(shell, command, at + 2, 1)
    else:
        _found(shell, command, name, ":" if silent else "?", letter if silent else None)
        _go_to(shell, command, at + 1, 1)


def _found(shell: Shell, command: Simple, name: str, option: str, value: str | None) -> None:
    span = shell.source.span(command.start, command.end)
    shell.set_text(name, Field((option,), span))
    shell.variables["OPTARG"] = Variable((Field(text_of(value), span),) if value is not None else ())


def _go_to(shell: Shell, command: Simple, index: int, place: int) -> None:
    shell.option_place = place
    shell.set_text("OPTIND", Field((str(index),), shell.source.span(command.start, command.end)))
