"""The console script ``npu-review``. Imports without the extra ``server``."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated

import typer

from app.check import BAD_ARGUMENTS, check

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
cli.command()(check)


@cli.callback()
def root() -> None:
    """Says what every NPU training launch of a repository will really run with, and what is wrong with it."""


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (NPU_REVIEW_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (NPU_REVIEW_PORT).")] = None,
    worker: Annotated[bool, typer.Option(help="Run reviews in this process too.")] = True,
) -> None:
    """Receive webhooks and, unless --no-worker, review."""
    raise typer.Exit(_serving().serve(host, port, None if worker else 0))


@cli.command()
def worker() -> None:
    """Only review what others queued in the same database."""
    raise typer.Exit(_serving().run_worker())


@cli.command()
def migrate() -> None:
    """Bring the database schema up to date."""
    raise typer.Exit(_serving().migrate_only())


def _serving() -> ModuleType:
    try:
        from app import serving
    except ModuleNotFoundError as error:
        hint = "install it with its extra, in the clone: pip install '.[server]'"
        typer.echo(f"npu-review: {error.name} is missing; {hint}", err=True)
        raise typer.Exit(BAD_ARGUMENTS) from None
    return serving


def main() -> None:
    """Entry point of the console script."""
    cli()


if __name__ == "__main__":
    main()
