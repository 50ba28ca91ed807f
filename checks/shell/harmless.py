"""Commands that may be skipped: going both ways around them would only double the paths."""

from __future__ import annotations

from checks.shell.syntax import Case, Command, Group, If, Pipeline, Sequence, Simple, Test, Word

HARMLESS = frozenset({
    "exit", "true", ":", "echo", "printf", "mkdir", "rm", "cp", "mv", "ln", "touch", "sleep", "ls",
    "cat", "grep", "pip", "pip3", "wget", "curl", "npu-smi", "nvidia-smi", "kill", "pkill", "wait", "date",
    "chmod", "apt-get", "apt", "git", "tar", "unzip", "tee", "df", "free", "head", "tail", "which", "[",
    "test",
})  # fmt: skip


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
        case Simple(words=(Word(parts=(only,)), *_), assignments=()):
            return getattr(only, "text", "") in HARMLESS
    return False
