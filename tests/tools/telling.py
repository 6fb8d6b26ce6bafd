"""Messages of a tool: lines with the time, and the failures at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def conclude(wrong: Iterable[str]) -> int:
    found = list(wrong)
    for sentence in found:
        say(sentence)
    say(f"{len(found)} things are not as they should be")
    return 1 if found else 0
