"""How is a template compiled only once? Its code is kept where Python keeps that of modules.

Compiling takes ten times as long as filling in. What is kept is as trusted as the compiled code of our own
modules beside it, and is used only for the very text, versions and settings that it was made of.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

DIGEST_BYTES = hashlib.sha256().digest_size


class KeptCode(BytecodeCache):
    """The compiled templates of a folder; `made_with` is what else than its text a template's code rests on.

    Nothing is written where Python was told not to write such files either.
    """

    def __init__(self, folder: Path, made_with: str, *, writes: bool = not sys.dont_write_bytecode) -> None:
        self._folder = folder
        self._writes = writes
        self._made_with = f"{jinja2.__version__} {MAGIC_NUMBER!r} {made_with} "

    def path(self, name: str) -> Path:
        """Where the code of a template is kept."""
        return Path(cache_from_source(self._folder / name)).with_suffix(".jinja")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """A template goes by its name: there is one folder."""
        del filename
        return name

    def get_source_checksum(self, source: str) -> str:
        """What tells whether the code that is kept is still right."""
        return hashlib.sha256((self._made_with + source).encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """The code, if it is kept and whole; else the template is compiled."""
        with suppress(OSError):
            kept = self.path(bucket.key).read_bytes()
            digest, code = kept[:DIGEST_BYTES], kept[DIGEST_BYTES:]
            if hashlib.sha256(code).digest() == digest:
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code, in one step; where nothing may be written it is compiled again next time."""
        if not self._writes:
            return
        code, path = bucket.bytecode_to_string(), self.path(bucket.key)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            unfinished.write_bytes(hashlib.sha256(code).digest() + code)
            unfinished.replace(path)
