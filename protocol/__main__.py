"""The command line: `python -m protocol COMMAND`.

What each command says is in `commands`; here is only how one is called, and its exit status:
0 all is well, 1 the group fails, 2 the input cannot be used.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .errors import VersionProbingError

COMMANDS = ("releases", "simulate", "explore", "plan", "decode", "explain")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except VersionProbingError as error:
        print(f"{options.prog}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"{options.prog}: {error.filename or 'input'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m protocol", description="Kafka Streams version probing: releases, runs, proofs and bytes."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        room = import_module(f".commands.{name}", __package__)
        command = commands.add_parser(
            name,
            help=room.TEXT,
            description=room.TEXT,
            epilog=f"example: python -m protocol {room.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=room.run, prog=f"python -m protocol {name}")
        command.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for programs")
        room.arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
