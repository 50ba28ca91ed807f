"""``make demo``: a sample pull request modelled on verl #6273, reviewed end to end on this machine only.

Starts a stand-in for GitHub and the real server with its embedded PostgreSQL, both on 127.0.0.1 and both
with their files under a temporary folder, delivers one signed webhook, prints what was posted, and stops
everything.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import uvicorn
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel

from app.webhooks.receive import PATH
from tests.github.standin import Standin
from tests.github.state import CheckRun
from tests.mini import base_files, head_files

NAME = "octo/training"
NUMBER = 6273
PATIENCE_SECONDS = 90.0
T = TypeVar("T")
console = Console(width=min(Console().width, 120) if sys.stdout.isatty() else 110)


def main() -> int:
    """Run the demo; the exit code."""
    folder = Path(tempfile.mkdtemp(prefix="npu-demo-"))
    try:
        with closing(Standin(folder / "github")) as standin:
            return _demo(standin, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _demo(standin: Standin, folder: Path) -> int:
    say("A repository in verl's shape and a pull request that adds a GSPO script and its nightly job")
    git = standin.add_repository(NAME).git
    git.commit(dict(base_files()))
    git.commit(dict(head_files()), branch="gspo-moe", start="main")
    standin.open_pull(NAME, NUMBER, "main", "gspo-moe")
    with served(standin) as api:
        say(f"A stand-in for GitHub answers on {api}")
        with server(standin, api, folder) as address:
            say(f"npu-review answers on {address}; its PostgreSQL lies in {folder}")
            webhook = standin.pull_request_event(NAME, NUMBER, "opened")
            answer = httpx.post(address + PATH, content=webhook.body, headers=webhook.headers, timeout=30)
            say(f"The signed webhook is delivered: {answer.status_code} {answer.text.strip()}")
            run = wait(lambda: completed(standin), "the review")
            show(standin, run)
    say("Everything is stopped and removed.")
    return 0


def say(text: str) -> None:
    """One step of the demo."""
    console.print(f"[bold cyan]▸[/] {text}", highlight=False)


def completed(standin: Standin) -> CheckRun | None:
    """The check run once it is completed."""
    runs = standin.repository(NAME).check_runs
    return next((run for run in runs if run.status == "completed"), None)


def show(standin: Standin, run: CheckRun) -> None:
    """The review and the check run as a person sees them."""
    for thread in standin.pull(NAME, NUMBER).threads:
        comment = thread.comments[0]
        where = f"{comment.path}, lines {comment.start_line or comment.line} to {comment.line}"
        console.print(
            Panel(Markdown(readable(comment.body)), title=where, title_align="left", padding=(1, 2))
        )
    title = f"Check run: {run.conclusion} · {run.output['title']}"
    console.print(Panel(Markdown(run.output["summary"]), title=title, title_align="left"))


def readable(body: str) -> str:
    """A comment without what GitHub hides or folds."""
    body = re.sub(r"<!--.*?-->|<details>.*?</details>", "", body, flags=re.S)
    return re.sub(r"\]\(http[^)]*\)", "]", body).replace("[`", "`").replace("`]", "`").strip()


@contextmanager
def served(standin: Standin) -> Iterator[str]:
    """The stand-in behind uvicorn on a free port."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(standin.app, log_level="warning", lifespan="off")
        web = uvicorn.Server(config)
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            wait(lambda: web.started or None, "the stand-in")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            web.should_exit = True
            thread.join(10)


@contextmanager
def server(standin: Standin, api: str, folder: Path) -> Iterator[str]:
    """``npu-review serve`` as an operator starts it, stopped by SIGTERM."""
    address = f"http://127.0.0.1:{free_port()}"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
        "NPU_REVIEW_APP_ID": str(standin.app_id),
        "NPU_REVIEW_PRIVATE_KEY": standin.private_key,
        "NPU_REVIEW_WEBHOOK_SECRET": standin.webhook_secret,
        "NPU_REVIEW_GITHUB_API": api,
        "NPU_REVIEW_DATA": str(folder / "data"),
        # Where the embedded PostgreSQL puts its lock file and, if need be, its socket.
        "TMPDIR": str(folder),
        "NPU_REVIEW_PORT": address.rpartition(":")[2],
    }
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve"], env=environment, stdout=output, stderr=output
        )
    try:
        wait(lambda: healthy(address, process), "the server", log)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(40)


def free_port() -> int:
    """A port that was free a moment ago."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(address: str, process: subprocess.Popen[bytes]) -> bool | None:
    """True once the server answers. Raises RuntimeError if it ended."""
    if process.poll() is not None:
        raise RuntimeError(f"the server ended with code {process.returncode}")
    try:
        return httpx.get(f"{address}/healthz", timeout=5).status_code == 200 or None
    except httpx.TransportError:
        return None


def wait(ready: Callable[[], T | None], what: str, log: Path | None = None) -> T:
    """What ``ready`` gives once it is not None. Raises RuntimeError after ``PATIENCE_SECONDS``."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        while time.monotonic() < deadline:
            found = ready()
            if found is not None:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"{what} did not come within {PATIENCE_SECONDS:.0f} s")
    except RuntimeError:
        if log is not None:
            console.print(log.read_text(errors="replace"), markup=False)
        raise


if __name__ == "__main__":
    sys.exit(main())
