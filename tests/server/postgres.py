"""A PostgreSQL of our own under a temporary path, for tests and for the demo."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.store import embedded
from app.store.database import migrate


@contextmanager
def temporary_postgres() -> Iterator[str]:
    """A migrated, empty database; server and files are gone at the end.

    A folder of its own directly below the temporary directory: a short socket path, and nobody else's
    folder that the server's user would have to be let into.
    """
    folder = Path(tempfile.mkdtemp(prefix="npu-review-"))
    try:
        with embedded.running(folder) as url:
            migrate(url)
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)
