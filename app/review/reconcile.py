"""What we posted before, read from the hidden markers in our own comments: nothing is said twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model import Finding

_MARKER = re.compile(r"\A<!-- npu-review:1 ([0-9a-f]{16}) ([0-9a-f]{40}) -->")


def marker(finding: Finding, head: str) -> str:
    """The hidden first line of each of our comments: fingerprint and commit."""
    return f"<!-- npu-review:1 {finding.fingerprint} {head} -->"


def told_before(own_comments: Iterable[str]) -> frozenset[str]:
    """The fingerprints that our own comments on this pull request carry."""
    return frozenset(match[1] for body in own_comments if (match := _MARKER.match(body)))


def not_told(findings: Iterable[Finding], own_comments: Iterable[str]) -> list[Finding]:
    """The findings that no comment of ours speaks of yet."""
    told = told_before(own_comments)
    return [finding for finding in findings if finding.fingerprint not in told]
