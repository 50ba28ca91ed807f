"""Which comments are the command."""

from __future__ import annotations

import pytest

from app.webhooks.issue_comment import is_command


@pytest.mark.parametrize(
    "body",
    [
        "/npu-review",
        "/npu-review  ",
        "  /npu-review",
        "thanks\n\n/npu-review\n",
        "a\r\n/npu-review\r\nb",
        "```\nx\n```\n/npu-review",
    ],
)
def test_a_line_of_its_own_is_a_command(body: str) -> None:
    assert is_command(body)


@pytest.mark.parametrize(
    "body",
    [
        "", "npu-review", "please /npu-review", "/npu-review now", "/npu-reviewer", "> /npu-review",
        "`/npu-review`", "```\n/npu-review\n```", "~~~sh\n/npu-review\n~~~", "```\n/npu-review",
        "    /npu-review", "\t/npu-review",
        "<!-- \n/npu-review\n-->", "````\n```\n/npu-review\n````",
    ],
)  # fmt: skip
def test_everything_else_is_not(body: str) -> None:
    assert not is_command(body)
