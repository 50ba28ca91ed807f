"""Fixtures for everybody. Async tests are marked `pytest.mark.anyio`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.github.repository import BareRepository
    from tests.github.standin import Standin


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def standin(tmp_path: Path) -> Iterator[Standin]:
    """A fresh stand-in for GitHub; what a test exchanged with it is judged by GitHub's descriptions."""
    # Imported here because the descriptions' readers cost a second that tests of the core need not pay.
    from tests.github import judge
    from tests.github.standin import Standin

    with closing(Standin(tmp_path / "github")) as fresh:
        yield fresh
        judge.check(fresh.requests)


@pytest.fixture
def git_repo(tmp_path: Path) -> Iterator[BareRepository]:
    """An empty bare repository; `commit({"path": "text"}, branch="feature", start="main")` fills it."""
    from tests.github.repository import BareRepository

    with closing(BareRepository.create(tmp_path / "repository.git")) as repository:
        yield repository
