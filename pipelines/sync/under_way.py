"""Notes of syncs that `brokerbi sync` began: one is there while it runs, and stays if it does not end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import lock_descriptor

from warehouse.store.files import PRIVATE_FILE, make_folder

FOLDER = Path("work", "syncs")
_NAME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class SyncNote:
    """A sync that has not ended: under way, or `was_left`, killed or with the error that ended it."""

    begun_utc: datetime
    was_left: bool
    error: str = ""


@contextmanager
def noted(data_dir: Path, now: datetime, sentence_of: Callable[[Exception], str]) -> Iterator[None]:
    """Keep a note while the body runs; at its end it removes notes that earlier syncs left.

    The note is locked as long as the process lives. If it cannot be written the body runs without one.
    """
    try:
        make_folder(data_dir / FOLDER)
        path = data_dir / FOLDER / f"{now:{_NAME}}-{os.getpid()}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError:
        yield
        return
    try:
        lock_descriptor(descriptor, blocking=False)
        yield
        for ended in [path, *(other for other, note in _notes(data_dir) if note.was_left)]:
            ended.unlink(missing_ok=True)
    except Exception as error:
        with suppress(OSError):
            os.write(descriptor, sentence_of(error).encode())
        raise
    finally:
        os.close(descriptor)


def sync_notes(data_dir: Path) -> list[SyncNote]:
    """The syncs that have not ended, the latest last."""
    return [note for _, note in _notes(data_dir)]


def _notes(data_dir: Path) -> Iterator[tuple[Path, SyncNote]]:
    for path in sorted((data_dir / FOLDER).glob("*Z-*")):
        with suppress(OSError), path.open("r+b") as file:
            was_left = lock_descriptor(file.fileno(), blocking=False)
            begun = datetime.strptime(path.name.partition("-")[0], _NAME).replace(tzinfo=UTC)
            yield path, SyncNote(begun, was_left, file.read().decode(errors="replace"))
