"""Programs whose output follows from their words and input: ``basename``, ``seq``, ``tr`` and the like.

Each takes the shell, its arguments and its standard input and gives its output, None if it cannot be told.
Source: GNU coreutils manual; bash manual, *Shell Builtin Commands*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from checks.shell.state import Shell
from checks.shell.value import ROOT, Field, Text, Unknown, join, known, lines_of, text_of

MAX_NUMBERS = 10_000
MAX_OUTPUT = 1 << 20
_FORMAT = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<precision>\d+))?(?P<kind>[sdiuxXocbq%])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "e": "\x1b", '"': '"', "'": "'"}
Program = Callable[[Shell, Sequence[Field], Text | None], Text | None]


def _words(arguments: Sequence[Field]) -> list[str] | None:
    words = [argument.known for argument in arguments]
    return None if None in words else [word for word in words if word is not None]


def _echo(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    words = list(arguments)
    newline, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0].known or ""):
        option = words.pop(0).known or ""
        newline = "" if "n" in option else newline
        escapes = "e" in option or (escapes and "E" not in option)
    pieces: list[str | Unknown] = []
    for number, each in enumerate(words):
        pieces += [" ", *each.text] if number else each.text
    if not escapes:
        return join([*pieces, newline])
    meant = [_unescaped(piece, r"0[0-7]{0,3}") if isinstance(piece, str) else piece for piece in pieces]
    return None if None in meant else join([*(piece for piece in meant if piece is not None), newline])


def _unescaped(text: str, octal: str) -> str | None:
    """``text`` with its escapes replaced, ``octal`` being what follows the backslash of a character's number.

    None if one of them cannot be told (``\\c`` ends all output, ``\\0`` writes a NUL).
    """
    kinds = (
        rf"\\(?:(?P<octal>{octal})|x(?P<hex>[0-9a-fA-F]{{1,2}})|u(?P<code>[0-9a-fA-F]{{1,4}})|(?P<plain>.))"
    )
    pieces: list[str] = []
    at = 0
    for match in re.finditer(kinds, text, re.S):
        pieces.append(text[at : match.start()])
        at = match.end()
        number = int(match["octal"], 8) if match["octal"] else int(match["hex"] or match["code"] or "0", 16)
        if match["plain"]:
            if match["plain"] == "c":
                return None
            pieces.append(_ESCAPES.get(match["plain"], match[0]))
        elif 0 < number < 0x80 or (match["code"] and number and not 0xD800 <= number < 0xE000):
            pieces.append(chr(number))
        else:
            return None
    return "".join(pieces) + text[at:]


def _printf(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    arguments = _operands(arguments)
    rest = list(arguments[1:])
    form = arguments[0].known if arguments else None
    if form is None or form.startswith("-"):
        return None
    parts = _format_parts(form)
    if parts is None:
        return None
    pieces: list[str | Unknown] = []
    size = 0
    while True:
        before = len(rest)
        for part in parts:
            if isinstance(part, str):
                pieces.append(part)
                continue
            formatted = _formatted(part, rest.pop(0) if rest else None)
            if formatted is None:
                return None
            pieces += formatted
            size += sum(len(piece) for piece in formatted if isinstance(piece, str))
        if size > MAX_OUTPUT:
            return None
        if not rest or len(rest) == before:
            return join(pieces)


def _format_parts(form: str) -> list[str | re.Match[str]] | None:
    """What stands in a format and its directives; None if some of it is not known here."""
    parts: list[str | re.Match[str]] = []
    at = 0
    for match in _FORMAT.finditer(form):
        plain = _unescaped(form[at : match.start()], r"[0-7]{1,3}")
        if plain is None or "%" in form[at : match.start()]:
            return None
        parts += [plain, "%" if match["kind"] == "%" else match]
        at = match.end()
    plain = _unescaped(form[at:], r"[0-7]{1,3}")
    return None if plain is None or "%" in form[at:] else [*parts, plain]


def _formatted(match: re.Match[str], argument: Field | None) -> Text | None:
    plain = not (match["flags"] or match["width"] or match["precision"])
    if match["kind"] == "s" and plain:
        return argument.text if argument else ()
    text = argument.known if argument else ""
    if text is None or match["kind"] in "bq":
        return None
    value: str | int = text
    if match["kind"] in "diuxXo":
        if not re.fullmatch(r"[-+]?(?:[1-9][0-9]{0,17}|0[0-7]{0,17}|0[xX][0-9a-fA-F]{1,15})|", text):
            return None
        value = int(text, 8 if re.match(r"[-+]?0[0-7]", text) else 0) if text else 0
        if value < 0 and match["kind"] in "uxXo":
            value += 1 << 64
    if match["kind"] == "c":
        value = text[:1]
    width = match["width"]
    if max(len(width), len(match["precision"] or "")) > 3:
        return None
    kind = {"u": "d", "i": "d", "c": "s"}.get(match["kind"], match["kind"])
    precision = f".{match['precision']}" if match["precision"] else ""
    return text_of(f"%{match['flags']}{width}{precision}{kind}" % value)


def _operands(arguments: Sequence[Field]) -> Sequence[Field]:
    """The arguments without a leading ``--``."""
    return arguments[1:] if arguments and arguments[0].known == "--" else arguments


def _basename(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    arguments = _operands(arguments)
    if not 1 <= len(arguments) <= 2 or (arguments[0].known or "").startswith("-"):
        return None
    last = arguments[0].text[-1] if arguments[0].text else ""
    suffix = arguments[1].known if len(arguments) == 2 else ""
    if suffix is None or not isinstance(last, str):
        return None
    stripped = last.rstrip("/")
    if len(arguments[0].text) > 1 and "/" not in stripped:
        return None
    name = stripped.rpartition("/")[2] or last[:1]
    return text_of((name.removesuffix(suffix) if name != suffix else name) + "\n")


def _dirname(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    arguments = _operands(arguments)
    if len(arguments) != 1:
        return None
    if not arguments[0].text:
        return (".\n",)
    *before, last = arguments[0].text
    if not isinstance(last, str):
        return None
    if not before and not last.strip("/"):
        return ("/\n",)
    head, slash, _tail = last.rstrip("/").rpartition("/")
    if not slash:
        return None if before else (".\n",)
    return join([*before, head.rstrip("/") or ("" if before else "/"), "\n"])


def _realpath(shell: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    words = [each for each in arguments if (each.known or "") not in ("-f", "-m", "-e", "-s", "--")]
    if len(words) != 1 or (words[0].known or "").startswith("-"):
        return None
    path = shell.tree_path(words[0].text)
    return None if path is None else join([ROOT, f"/{path}" if path else "", "\n"])


def _readlink(shell: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    follows = any(each.known in ("-f", "-m", "-e") for each in arguments)
    return _realpath(shell, arguments, given) if follows else None


def _pwd(shell: Shell, _: Sequence[Field], __: Text | None) -> Text | None:
    return join([*shell.folder, "\n"])


def _seq(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    words = _words(arguments)
    if (
        words is None
        or not 1 <= len(words) <= 3
        or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words)
    ):
        return None
    numbers = [int(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or (numbers[-1] - first) // step > MAX_NUMBERS:
        return None
    return text_of("".join(f"{n}\n" for n in range(first, numbers[-1] + (1 if step > 0 else -1), step)))


def _expr(_: Shell, arguments: Sequence[Field], __: Text | None) -> Text | None:
    """Two integers with ``+ - * / %`` or a comparison between them; nothing else."""
    words = _words(arguments)
    if words is None or len(words) != 3 or not all(re.fullmatch(r"-?\d{1,15}", words[at]) for at in (0, 2)):
        return None
    left, right = int(words[0]), int(words[2])
    if words[1] in ("/", "%") and right == 0:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if right else 0
    results = {"+": left + right, "-": left - right, "*": left * right, "/": quotient,
               "%": left - quotient * right,
               "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
               "=": left == right, "!=": left != right}  # fmt: skip
    return text_of(f"{int(results[words[1]])}\n") if words[1] in results else None


def _cat(shell: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    if not arguments or (len(arguments) == 1 and arguments[0].known == "-"):
        return given
    pieces: list[str] = []
    for argument in arguments:
        path = shell.tree_path(argument.text)
        files = shell.running.working_tree
        text = files.text(path) if path is not None and files.names(path) else None
        if text is None:
            return None
        pieces.append(text)
    return text_of("".join(pieces))


def _tr(_: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    words = _words(arguments)
    text = known(given) if given is not None else None
    if words is None or text is None or not words:
        return None
    sets = [_characters(word) for word in words if not re.fullmatch("-[ds]", word)]
    if None in sets:
        return None
    if words[0] == "-d" and len(sets) == 1:
        return text_of("".join(char for char in text if char not in (sets[0] or "")))
    if words[0].startswith("-") or len(sets) != 2:
        return None
    source, target = sets[0] or "", sets[1] or ""
    if not target:
        return None
    target = target.ljust(len(source), target[-1])
    return text_of(text.translate(str.maketrans(source, target[: len(source)])))


def _characters(written: str) -> str | None:
    classes = {"[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
               "[:space:]": " \t\n\r\v\f", "[:digit:]": "0123456789"}  # fmt: skip
    if written in classes:
        return classes[written]
    if "[" in written:
        return None
    text = _unescaped(written, r"[0-7]{1,3}")
    if text is None:
        return None
    return re.sub(
        r"(\w)-(\w)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text
    )


def _cut(_: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    words = _words(arguments)
    text = known(given) if given is not None else None
    if words is None or text is None:
        return None
    match = re.fullmatch(r"-d ?(?P<delimiter>.) -f ?(?P<field>\d)", " ".join(words), re.S)
    if match is None:
        return None
    lines = text.removesuffix("\n").split("\n")
    return text_of("".join(_field(line, match["delimiter"], int(match["field"])) + "\n" for line in lines))


def _field(line: str, delimiter: str, number: int) -> str:
    fields = line.split(delimiter)
    return line if len(fields) == 1 else fields[number - 1] if number <= len(fields) else ""


def _wc(_: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    words = _words(arguments)
    text = known(given) if given is not None else None
    if text is None or words not in (["-l"], ["-w"], ["-c"]):
        return None
    counts = {"-l": text.count("\n"), "-w": len(text.split()), "-c": len(text.encode())}
    return text_of(f"{counts[words[0]]}\n")


def _head(_: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    return _lines(arguments, given, slice(0, 1))


def _tail(_: Shell, arguments: Sequence[Field], given: Text | None) -> Text | None:
    return _lines(arguments, given, slice(-1, None))


def _lines(arguments: Sequence[Field], given: Text | None, chosen: slice) -> Text | None:
    words = _words(arguments)
    text = known(given) if given is not None else None
    if text is None or words not in (["-1"], ["-n1"], ["-n", "1"]):
        return None
    return text_of("".join(lines_of(text)[chosen]))


PROGRAMS: dict[str, Program] = {
    "echo": _echo,
    "printf": _printf,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": _readlink,
    "pwd": _pwd,
    "seq": _seq,
    "expr": _expr,
    "cat": _cat,
    "tr": _tr,
    "cut": _cut,
    "wc": _wc,
    "head": _head,
    "tail": _tail,
}
