"""Where does every request leave its line? In a private file beside the working file, not on the screen."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

LARGEST_BYTES = 10_000_000
FILES_KEPT = 5


class _PrivateFileHandler(RotatingFileHandler):
    """A log file that only its owner can read."""

    def _open(self):  # type: ignore[no-untyped-def]
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        return super()._open()


def log_requests(data_dir: Path) -> None:
    """From now on every try of a request is one line of `work/requests.log`: never headers, never secrets."""
    logger = logging.getLogger("brokerbi")
    if logger.handlers:
        return
    folder = data_dir / "work"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _PrivateFileHandler(folder / "requests.log", maxBytes=LARGEST_BYTES, backupCount=FILES_KEPT)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
