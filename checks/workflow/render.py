"""Puts the values of ``${{ … }}`` into a text, as GitHub does before bash sees it.

An expression that is not known stays in the text as characters of a private range, one for each of its own,
so that nothing after it moves; ``checks.shell`` reads them as one unknown, whatever quotes are around.
"""

from __future__ import annotations

import re

from checks.markdown import code
from checks.shell.opaque import hide
from checks.shell.source import Shift, Source
from checks.shell.value import Text, Unknown, join, known
from checks.workflow.expressions import BadExpression, Contexts, Value, as_text, evaluate

# Without backtracking, and never past the next `${{`: linear on hostile text.
_EXPRESSION = re.compile(r"\$\{\{(?P<inner>(?:'(?:[^']|'')*+'|(?!\$\{\{)[^'}]|\}(?!\}))*+)\}\}", re.S)


def value_of(text: str, contexts: Contexts, path: str, line: int) -> Value:
    """A setting: an expression alone keeps its type, everything else is a Text."""
    whole = _EXPRESSION.fullmatch(text.strip())
    if whole is not None:
        return _evaluate(whole, contexts, path, line)
    return text_with(text, contexts, path, line)


def text_with(text: str, contexts: Contexts, path: str, line: int) -> Text:
    """``text`` with every expression replaced; those that are not known are unknown parts."""
    pieces: list[str | Unknown] = []
    at = 0
    for match in _EXPRESSION.finditer(text):
        pieces += [text[at : match.start()], *as_text(_evaluate(match, contexts, path, line))]
        at = match.end()
    return join([*pieces, text[at:]])


def condition_of(text: str, contexts: Contexts, path: str, line: int) -> Value:
    """An ``if:``, where ``${{ }}`` may be left out."""
    if "${{" in text:
        return value_of(text, contexts, path, line)
    unknown = Unknown(f"the condition {code(text)}", path, line)
    try:
        return evaluate(text, contexts, unknown)
    except BadExpression:
        return unknown


def source_with(source: Source, contexts: Contexts) -> Source:
    """A ``run:`` block with its expressions replaced; places stay those of the file."""
    pieces: list[str] = []
    shifts: list[Shift] = []
    at = length = 0
    for match in _EXPRESSION.finditer(source.text):
        value = known(as_text(_evaluate(match, contexts, source.path, source.line(match.start()))))
        new = hide(match[0]) if value is None else value
        pieces += [source.text[at : match.start()], new]
        length += match.start() - at
        if value is not None:
            shifts.append(Shift(length, len(new), len(match[0])))
        length += len(new)
        at = match.end()
    return source.replaced("".join([*pieces, source.text[at:]]), tuple(shifts))


def _evaluate(match: re.Match[str], contexts: Contexts, path: str, line: int) -> Value:
    unknown = Unknown(f"the expression {code(match[0])}", path, line)
    try:
        return evaluate(match["inner"], contexts, unknown)
    except BadExpression:
        # GitHub refuses the workflow; saying so is a rule's work.
        return unknown
