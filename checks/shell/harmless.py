"""Commands that may be skipped: going both ways around them would only double the paths."""

from __future__ import annotations

from checks.shell.syntax import (
    Case,
    Command,
    Group,
    If,
    Literal,
    Parameter,
    Pipeline,
    Sequence,
    Simple,
    Test,
    Word,
)

HARMLESS = frozenset({
    "exit", "true", ":", "echo", "printf", "mkdir", "rm", "cp", "mv", "ln", "touch", "sleep", "ls",
    "cat", "grep", "pip", "pip3", "wget", "curl", "npu-smi", "nvidia-smi", "kill", "pkill", "wait", "date",
    "chmod", "apt-get", "apt", "git", "tar", "unzip", "tee", "df", "free", "head", "tail", "which", "[",
    "test",
})  # fmt: skip


_FILES_OF_STEPS = frozenset({"GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH"})
_READ_LATER = (".sh", ".py", ".yaml", ".yml", ".json", ".env")


def is_harmless(command: Command) -> bool:
    """True if skipping ``command`` hides nothing: it starts no training, sets nothing and goes nowhere else.

    That holds only where nobody reads its output; ``exit`` only where nobody asks for the status.
    """
    match command:
        case Sequence(items=items):
            return all(is_harmless(each) for each, _ in items)
        case Group(body=body):
            return is_harmless(body)
        case Pipeline(commands=parts):
            return all(is_harmless(each) for each in parts)
        case If(branches=branches):
            return all(is_harmless(part) for pair in branches for part in pair if part)
        case Case(clauses=clauses):
            return all(is_harmless(clause.body) for clause in clauses)
        case Test():
            return True
        case Simple(words=(Word(parts=(only,)), *rest), redirects=redirects, assignments=()):
            words = [word for word in rest if isinstance(word, Word)]
            targets = [each.target for each in redirects if each.target is not None]
            kept = any(_is_read_later(word) for word in (*words, *targets))
            return getattr(only, "text", "") in HARMLESS and not kept
    return False


def _is_read_later(word: Word) -> bool:
    """True for a file that later steps or commands go by: ``$GITHUB_ENV`` and its kin, scripts, configs."""
    last = word.parts[-1] if word.parts else None
    if isinstance(last, Literal) and last.text.endswith(_READ_LATER):
        return True
    return any(isinstance(part, Parameter) and part.name in _FILES_OF_STEPS for part in word.parts)
