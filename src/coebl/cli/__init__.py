"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
from itertools import pairwise
from typing import NoReturn

import typer

from coebl.cli import look, paper, play, results, studies, tournament  # each adds its commands
from coebl.cli.app import app
from coebl.core.errors import CoeblError, UserCodeError, nearest, printable, reason_of, shorten, where

__all__ = ["app", "look", "main", "paper", "play", "results", "studies", "tournament"]

_INTERRUPTED = 130  # what the shell expects after Ctrl-C; some versions of Typer return it instead of raising


def main() -> None:
    """Run a command; a mistake in its input is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that cannot show every character
    try:
        code = _run()
        sys.stdout.flush()  # a full disk shows here, if not before
        if code == _INTERRUPTED:
            _stop("stopped", _INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)
    except CoeblError as error:
        for line in getattr(error, "mistakes", [])[:-1]:  # a study file may have several
            print(f"coebl: {printable(line)}", file=sys.stderr)
        _stop(getattr(error, "mistakes", [str(error)])[-1], 2)
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
        _forget_output()
        _stop(f"the output cannot be written ({error.strerror}). Free some space, or write elsewhere.", 1)
    except Exception as error:
        usage = getattr(error, "format_message", None)  # only mistakes in the command's words have it
        if usage is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(usage())
            sys.exit(2)
        _drop_far_options(error)
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "coebl"
        words = _number_refused(error) or " ".join(usage().split()).rstrip(".")
        _stop(f"{words}{'' if words.endswith('?') else '.'} See: {path} --help", 2)


def _run() -> object:
    """Run the command, and return its exit code; what a user's own file raises is a mistake in that file."""
    try:
        return app(prog_name="coebl", standalone_mode=False)
    except (Exception, SystemExit) as error:  # with code 0 a file that ends the program would pass for a success
        line = where(error)
        if isinstance(error, CoeblError) or hasattr(error, "format_message") or not line:  # the words of a command
            raise
        raise UserCodeError(f"{line}: {reason_of(error)}; fix the file.") from error


def _drop_far_options(error: Exception) -> None:
    """Keep only those suggestions for an unknown option that are close to it: its dashes do not count."""
    name, options = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
    if name and options:
        close = [one for one in options if nearest(name.strip("-"), [one.strip("-")]) != "."]
        error.possibilities = close  # type: ignore[attr-defined]


def _number_refused(error: Exception) -> str:
    """What is wrong with an option that takes a number, with its value; nothing for other mistakes.

    The library's own words differ from version to version; what they have in common is looked for.
    """
    words, option = str(getattr(error, "message", "")), getattr(error, "param", None)
    least = re.search(r"(?:greater than or equal to |x>=)([0-9.]+)", words)
    kind = re.search(r"valid (integer|float|number)", words)
    if not (least or kind) or option is None:
        return ""
    given = sys.argv[1:]
    values = [value for name, value in pairwise(given) if name in option.opts]
    values += [word.partition("=")[2] for word in given if word.partition("=")[0] in option.opts and "=" in word]
    if not values:
        return ""
    if least:
        accepted = f"a number >= {least[1].rstrip('.')}"
    else:
        accepted = "an integer, in digits alone" if kind and kind[1] == "integer" else "a number such as 0.5"
    return f"{option.opts[0]} is {shorten(values[-1])}; accepted: {accepted}"


def _stop(line: str, code: int) -> NoReturn:
    print(f"coebl: {printable(line)}", file=sys.stderr)
    sys.exit(code)


def _forget_output() -> None:
    """Send what is left in the buffer nowhere: Python would try to write it again at its end, and complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
