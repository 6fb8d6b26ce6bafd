"""Names of files that are made of foreign names, such as ids of offices: never too long for one."""

from __future__ import annotations

import hashlib

LONGEST = 200
"""In bytes: file systems take 255, and an ending or the mark of an unfinished file comes to it."""


def bounded(name: str) -> str:
    """The name itself, or its beginning and a checksum of the whole if it is too long to be one of a file.

    The sign between the two is in no name that is handed in, so that no other name can be the same.
    """
    written = name.encode()
    if len(written) <= LONGEST:
        return name
    return f"{written[: LONGEST // 2].decode(errors='ignore')}~{hashlib.sha256(written).hexdigest()}"
