"""Erasure of a person from files: landing, the request log, and leftovers of killed processes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.load.landing import Landing, LandingFile, LandingWriter
from warehouse.persons.person import Person
from warehouse.persons.rebuild import REBUILDING

if TYPE_CHECKING:
    from warehouse.store.database import Store

EraseBody = Callable[[bytes], bytes]
"""Removes the person from a body. If the id is unmistakable, a body that is not JSON becomes empty."""


def erase_landing(store: Store, landing: Landing, person: Person, erase_body: EraseBody) -> list[LandingFile]:
    """Rewrite the landing files that contain the person, and return them.

    Raises LandingDamaged for an unreadable file.
    """
    paths = [path for path in landing.paths() if _may_contain(landing, path, person)]
    # The old checksums are removed first: after a kill, a rewritten file would not match them.
    with store.writing() as connection:
        connection.execute("UPDATE meta.loads SET sha256 = '' WHERE list_contains($1, landing)", [paths])
    rewritten = [file for path in paths if (file := _rewrite(landing, path, person, erase_body))]
    with store.writing() as connection:
        for path in paths:
            sha256 = landing.describe(path).sha256
            connection.execute("UPDATE meta.loads SET sha256 = $1 WHERE landing = $2", [sha256, path])
    sys.audit("brokerbi.landing_erased")
    return rewritten


def _may_contain(landing: Landing, path: str, person: Person) -> bool:
    file = landing.describe(path)
    descriptions = file.header, file.trailer, *(meta for meta, _ in landing.read(path))
    return any(erased_values(values, person) != values for values in descriptions) or any(
        person.may_be_in(body) for _, body in landing.read(path)
    )


def _rewrite(landing: Landing, path: str, person: Person, erase_body: EraseBody) -> LandingFile | None:
    file = landing.describe(path)
    header, trailer = erased_values(file.header, person), erased_values(file.trailer, person)
    has_changed = (header, trailer) != (file.header, file.trailer)
    writer = LandingWriter(landing.root, Path(path), header)
    try:
        for meta, body in landing.read(path):
            new_meta = erased_values(meta, person)
            new_body = erase_body(body) if person.may_be_in(body) else body
            has_changed |= (new_meta, new_body) != (meta, body)
            writer.add(new_meta, new_body)
        return writer.close(trailer) if has_changed else None
    finally:
        writer.discard()


def erased_values(value: Any, person: Person) -> Any:
    """The description of a load or a request, with the person's id replaced in its texts."""
    if isinstance(value, Mapping):
        return {name: erased_values(member, person) for name, member in value.items()}
    if isinstance(value, list):
        return [erased_values(element, person) for element in value]
    return person.erase_text(value) if isinstance(value, str) else value


def clean_logs(data_dir: Path, person: Person) -> int:
    """Replace the person's id in the request logs; returns the number of logs that had it."""
    changed = 0
    for path in (data_dir / "work").glob("requests.log*"):
        text = path.read_text("utf-8", "surrogateescape")
        if (erased := person.erase_text(text)) != text:
            path.write_text(erased, "utf-8", "surrogateescape")
            changed += 1
    return changed


def clear_leftovers(data_dir: Path) -> int:
    """Remove the files that killed processes left. Returns their number, not counting files of a rebuild."""
    removed = Landing(data_dir / "landing").clear_unfinished()
    shutil.rmtree(data_dir / "work" / REBUILDING, ignore_errors=True)
    for path in data_dir.rglob(".*.new"):
        path.unlink(missing_ok=True)
        removed += 1
    return removed
