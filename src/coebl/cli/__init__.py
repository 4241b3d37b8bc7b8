"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys
from typing import Any, NoReturn

import typer

from coebl.cli import catalogue_commands, match_commands, recipe_commands, study_commands
from coebl.cli.options import app
from coebl.cli.terminal import note
from coebl.core.errors import CoeblError, UserCodeError, nearest, reason_of, where

__all__ = ["app", "main"]

COMMANDS = (catalogue_commands, match_commands, study_commands, recipe_commands)

_INTERRUPTED = 130  # the exit code of a shell after Ctrl-C; some versions of Typer return it instead of raising


def main() -> None:
    """Run a command. Report a mistake in its input on one line, with exit code 2."""
    gc.set_threshold(100_000)  # by default, a quarter of the time of reading thousands of cells is garbage collection
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that cannot show every character
    try:
        code = _run()
        sys.stdout.flush()  # a full disk is noticed here at the latest
        if code == _INTERRUPTED:
            _stop("stopped", _INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)
    except CoeblError as error:
        *others, last = getattr(error, "mistakes", [str(error)])  # a study file may have several
        for line in others:
            note(f"coebl: {line}")
        _stop(last, 2)
    except BrokenPipeError:  # the reader (such as head) closed the pipe
        sys.stderr.close()
        sys.exit(141)
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped", _INTERRUPTED)
    except MemoryError:
        _stop("there is not enough memory for this; use fewer seeds or a smaller game.", 1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        with contextlib.suppress(OSError, ValueError):  # Python would flush the rest of the buffer on exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _stop(f"the output cannot be written ({error.strerror}). Free some space, or write elsewhere.", 1)
    except Exception as error:
        if not _is_usage_error(error):
            raise
        _stop_on_usage_error(error)


def _run() -> object:
    """Run the command and return its exit code. Report an exception from a custom file as a mistake in that file."""
    try:
        return app(prog_name="coebl", standalone_mode=False)
    except (Exception, SystemExit) as error:  # a file that ends the program with code 0 must not count as success
        line = where(error)
        if isinstance(error, CoeblError) or _is_usage_error(error) or not line:
            raise
        raise UserCodeError(f"{line}: {reason_of(error)}; fix the file.") from error


def _is_usage_error(error: BaseException) -> bool:
    """Return true for Typer's errors about the command line; their classes have moved between its versions."""
    return hasattr(error, "format_message")


def _stop_on_usage_error(error: Any) -> NoReturn:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        sys.exit(2)
    if possibilities := getattr(error, "possibilities", None):  # an unknown option: keep only close suggestions
        name = error.option_name.strip("-")
        error.possibilities = [option for option in possibilities if nearest(name, [option.strip("-")]) != "."]
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).rstrip(".")
    stop = "" if message.endswith("?") else "."
    _stop(f"{message}{stop} See: {context.command_path if context else 'coebl'} --help", 2)


def _stop(line: str, code: int) -> NoReturn:
    note(f"coebl: {line}")
    sys.exit(code)
