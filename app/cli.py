"""The console script ``npu-review``."""

from __future__ import annotations

import typer

from app.check import check

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
cli.command()(check)


@cli.callback()
def root() -> None:
    """Says what every NPU training launch of a repository will really run with, and what is wrong with it."""


def main() -> None:
    """Entry point of the console script."""
    cli()


if __name__ == "__main__":
    main()
