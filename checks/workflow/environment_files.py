"""What a step leaves in the files behind ``GITHUB_ENV``, ``GITHUB_OUTPUT`` and ``GITHUB_PATH``.

Source: GitHub docs, *Workflow commands for GitHub Actions*, environment files.
"""

from __future__ import annotations

import re

from checks.shell.evaluate import Evaluation, Outcome
from checks.shell.state import Shell
from checks.shell.value import EMPTY, GITHUB_PATH, Text, Unknown, join

_BLOCK = re.compile(r"(?P<name>[A-Za-z_][\w-]*)<<(?P<end>\S+)")
_LINE = re.compile(r"(?P<name>[A-Za-z_][\w-]*)=(?P<value>.*)")


def folders_in(evaluation: Evaluation, shell: Shell) -> Text:
    """The folders that the step puts before ``PATH``, each with its colon; the last one comes first."""
    contents = [_content(path, GITHUB_PATH) for path in evaluation.paths]
    if any(content != contents[0] for content in contents):
        return (shell.unknown("the folders that an earlier step adds on some paths", 0),)
    lines = [line for line in _lines(contents[0] if contents else EMPTY) if line]
    return join(piece for line in reversed(lines) for piece in (*line, ":"))


def _content(path: Outcome, file: Unknown) -> Text:
    """What ``file`` holds after the step went along ``path``."""
    content: Text = EMPTY
    for target, text, append in path.written:
        if target == (file,):
            content = join([*content, *text]) if append else text
    return content


def variables_in(evaluation: Evaluation, file: Unknown, shell: Shell) -> dict[str, Text] | None:
    """The variables that the step leaves in ``file`` on every path alike; None if some cannot be told."""
    found: dict[str, Text] = {}
    for number, path in enumerate(evaluation.paths):
        here = _assignments(_content(path, file))
        if here is None:
            return None
        differs = (shell.unknown("what an earlier step appended on some paths", 0),)
        names = {*found, *here} if number else set()
        merged = {name: here.get(name) if here.get(name) == found.get(name) else differs for name in names}
        found = {name: text for name, text in merged.items() if text is not None} if number else here
    return found


def _assignments(text: Text) -> dict[str, Text] | None:
    """``NAME=value`` and ``NAME<<END … END``; None for a line that is neither."""
    found: dict[str, Text] = {}
    lines = iter(_lines(text))
    for line in lines:
        head = line[0] if line else ""
        block = _BLOCK.fullmatch(head) if isinstance(head, str) and len(line) < 2 else None
        match = _LINE.fullmatch(head) if isinstance(head, str) and block is None else None
        if block is not None:
            body: list[Text] = []
            for inner in lines:
                if inner == (block["end"],):
                    break
                body.append(inner)
            else:
                return None
            found[block["name"]] = join(
                piece for number, each in enumerate(body) for piece in ("\n" * bool(number), *each)
            )
        elif match is not None:
            found[match["name"]] = join([match["value"], *line[1:]])
        elif line:
            return None
    return found


def _lines(text: Text) -> list[Text]:
    lines: list[list[str | Unknown]] = [[]]
    for piece in text:
        parts: list[str | Unknown] = [*piece.split("\n")] if isinstance(piece, str) else [piece]
        lines[-1].append(parts[0])
        lines += [[part] for part in parts[1:]]
    return [join(line) for line in lines]
