"""What happens when somebody types `brokerbi`? Reads the words, runs the command, and ends with its code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from pipelines.command.arguments import parser

WELL, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; everything that goes wrong is one sentence on stderr and an exit code."""
    arguments = parser().parse_args(words)
    try:
        run: Callable[..., int] = import_module(f"pipelines.command.{arguments.command}").run
        return run(arguments)
    except KeyboardInterrupt:
        _say("stopped; what was loaded is kept, and the next sync goes on from there")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WELL
    except Exception as error:
        if os.environ.get("BROKERBI_TRACEBACK"):
            raise
        return _explained(error)


def _explained(error: Exception) -> int:
    """The sentence for an error: our own families speak for themselves, others are named as a fault."""
    from pipelines.settings_sentences import SettingsError

    if isinstance(error, SettingsError | ValueError) and not isinstance(error, UnicodeError):
        _say(str(error))
        return WRONG_USAGE
    if type(error).__module__.partition(".")[0] in ("pipelines", "warehouse"):
        _say(str(error))
    elif isinstance(error, OSError):
        _say(
            f"{error.strerror or error} ({error.filename or 'no file named'}); check the disk and its rights"
        )
    else:
        _say(f"this should not happen ({type(error).__name__}); set BROKERBI_TRACEBACK=1 to see where")
    return FAILED


def _say(sentence: str) -> None:
    sys.stderr.write(f"brokerbi: {sentence}\n")
