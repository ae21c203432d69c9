"""The `cw` command, also available as `python -m cw`."""

from __future__ import annotations

from cw.interruption import leave_at_once
from cw.version import packages_expected


def main() -> None:
    """Run the command line; while it is still loading, Ctrl-C ends it immediately."""
    leave_at_once()
    with packages_expected():
        from cw.cli import main as command_line  # noqa: PLC0415

        command_line()


if __name__ == "__main__":
    main()
