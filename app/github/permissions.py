"""What the App asks for, each with its reason, and who may command it."""

from __future__ import annotations

from urllib.parse import quote

from app.github.client import Installation, Model

PERMISSIONS = {
    "metadata": ("read", "every App has it"),
    "contents": ("read", "scripts, workflows and configs at head and merge base"),
    "pull_requests": ("write", "one review with inline comments, and edits of our own comments"),
    "checks": ("write", "the check run that says what was read"),
    "issues": ("read", "the comment command"),
}
MAY_COMMAND = frozenset({"admin", "maintain", "write", "triage"})


class _Permission(Model):
    permission: str
    role_name: str | None = None


async def may_command(github: Installation, full_name: str, login: str) -> bool:
    """True if ``login`` is a collaborator with at least triage. Raises TryLater or Refused.

    Source: GitHub docs, *Get repository permissions for a user* (``role_name``).
    """
    address = f"/repos/{full_name}/collaborators/{quote(login, safe='')}/permission"
    answer = await github.rest(_Permission, "GET", address)
    return bool({answer.permission, answer.role_name} & MAY_COMMAND)


async def react(github: Installation, full_name: str, comment: int, content: str) -> None:
    """A reaction on an issue comment (``eyes``, ``rocket``, ``confused``)."""
    await github.request(
        "POST", f"/repos/{full_name}/issues/comments/{comment}/reactions", json={"content": content}
    )
