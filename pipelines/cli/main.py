"""What happens when somebody types `brokerbi`? Reads the words, runs the command, and ends with its code."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module

from pipelines.cli.arguments import parser

# The allocator of polars keeps what was freed for ten seconds and more, in as many arenas as processors
# times four: of no use here, and a third of all memory. It reads this once, when polars is first imported.
FRUGAL = {"_RJEM_MALLOC_CONF": "narenas:1,dirty_decay_ms:50,muzzy_decay_ms:0"}
# The same for Python's: one arena for all threads, and large pieces go back to the system at once.
ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = (-8, 1), (-3, 256 * 1024), (-1, 256 * 1024)
WELL, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; everything that goes wrong is one sentence on stderr and an exit code."""
    words = sys.argv[1:] if words is None else words
    arguments = parser(only=words[:1]).parse_args(words)
    for name, value in FRUGAL.items():
        os.environ.setdefault(name, value)
    _be_frugal()
    try:
        run = run_of(arguments.command)
        gc.freeze()  # the modules stay until the end: garbage is not looked for among them
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
    finally:
        gc.unfreeze()  # some libraries complain of what is left of them then


def run_of(command: str) -> Callable[..., int]:
    """What a command does; nothing that is imported for it is garbage."""
    gc.disable()
    try:
        run: Callable[..., int] = import_module(f"pipelines.cli.{command}").run
    finally:
        gc.enable()
    return run


def _be_frugal() -> None:
    """Tell the allocator of the C library, where it can be told."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for option, value in (ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD):
            library.mallopt(option, value)


def _explained(error: Exception) -> int:
    """The sentence for an error: our own families speak for themselves, others are named as a fault."""
    from pipelines.settings.messages import SettingsError

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
