"""Messages of a tool: lines with the time, and the failures at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def conclude(mistakes: Iterable[str]) -> int:
    sentences = list(mistakes)
    for sentence in sentences:
        say(sentence)
    say(f"{len(sentences)} mistakes")
    return 1 if sentences else 0
