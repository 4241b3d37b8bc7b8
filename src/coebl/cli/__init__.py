"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import sys

import typer

from coebl.cli import look, paper, play, studies  # each adds its commands
from coebl.cli.app import app
from coebl.core.errors import CoeblError

__all__ = ["app", "look", "main", "paper", "play", "studies"]


def main() -> None:
    """Run a command; a mistake in its input is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except CoeblError as error:
        print(f"coebl: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, head for one, has had enough
        sys.stderr.close()
        sys.exit(141)
    except (KeyboardInterrupt, typer.Abort):
        print("coebl: stopped", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        usage = getattr(error, "format_message", None)  # only mistakes in the command's words have it
        if usage is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(usage())
            sys.exit(2)
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "coebl"
        print(f"coebl: {' '.join(usage().split())} See: {path} --help", file=sys.stderr)
        sys.exit(2)
