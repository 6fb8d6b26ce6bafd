"""How is a person taken out of the files that are kept? Landing rewritten, versions and logs cleaned.

Every step may be killed and run again: what is done already is found to be done, and what told the person
at the beginning is remembered in a private note until the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.copying import copy_file, rewrite_file
from warehouse.errors import WarehouseError
from warehouse.forgetting import Pair, forget, names_her
from warehouse.landing import Landed, Landing
from warehouse.landing_writer import HELD, LandingWriter
from warehouse.opening import PRIVATE_FILE, opened, remove, sync
from warehouse.persons import Person, written_forms
from warehouse.versions import FILE, Versions

if TYPE_CHECKING:
    from datetime import datetime

    from duckdb import DuckDBPyConnection

REWRITTEN = "erased"
"""What the header of a landing file says when a person was taken out of it."""
STILL_WRITTEN_SECONDS = 3600
"""An unfinished landing file that nobody has touched for so long was left behind by a killed process."""


@dataclass(frozen=True)
class Rewritten:
    """Landing files after the erasure: those that held the person, and all that may be new to the ledger."""

    held: tuple[Landed, ...]
    marked: tuple[Landed, ...]

    @property
    def pairs(self) -> set[Pair]:
        """The reports and customers whose rows were in a file that held the person."""
        return {(one.header["report"], one.header["customer"]) for one in self.held}


def was_begun(data_dir: Path, person: Person) -> bool:
    """Whether an erasure of the person was killed before its end."""
    return _note(data_dir, person).exists()


@contextmanager
def noted(
    data_dir: Path, person: Person, customers: Collection[str]
) -> Iterator[tuple[Person, frozenset[str]]]:
    """The person and her customers, with all that an erasure which was killed knew of her.

    The note is private, and thrown away when the body ends well.
    """
    note = _note(data_dir, person)
    known: dict[str, Any] = json.loads(note.read_text("utf-8")) if note.exists() else {}
    values = person.values | set(known.get("values", ()))
    person = replace(person, alias=known.get("alias", person.alias), values=values)
    customers = frozenset(customers) | set(known.get("customers", ()))
    unfinished = note.with_suffix(".part")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"alias": person.alias, "values": sorted(values), "customers": sorted(customers)}, file)
    unfinished.replace(note)
    sync(note.parent)
    yield person, customers
    note.unlink()


def _note(data_dir: Path, person: Person) -> Path:
    name = hashlib.sha256(f"{person.kind}:{person.id}".encode()).hexdigest()[:16]
    return data_dir / "work" / f".erasing-{name}.json"


def known_in_landing(root: Path, person: Person) -> tuple[Person, set[str]]:
    """The same person with what landing tells of her, and the customers it tells it of."""
    landing, values, customers = Landing(root), set(person.values), set()
    for path in (*landing.paths(), *landing.held()):
        texts = [body.decode("utf-8", "replace") for _, body in landing.read(path)]
        mine = [text for text in texts if person.id in text]
        found = {value for text in mine for value in person.told_by_text(text)}
        if found:
            customers.add(landing.landed(path).header["customer"])
        values |= found
    return replace(person, values=frozenset(values)), customers


def erase_landing(root: Path, person: Person, customers: Collection[str]) -> Rewritten:
    """Rewrite every landing file that tells of the person; a damaged one raises: nobody can look into it.

    Values without the id are only looked for in the files of these customers.
    """
    landing = Landing(root)
    nameless = replace(person, values=frozenset())
    held, marked = [], []
    for path in (*landing.paths(), *landing.held()):
        landed = landing.landed(path)
        sought = person if landed.header["customer"] in customers else nameless
        answers = list(landing.read(path))
        if _is_told(sought, answers):
            landed = _rewrite(landing, landed, answers, sought)
            held.append(landed)
        if landed.header.get(REWRITTEN):
            marked.append(landed)
    return Rewritten(tuple(held), tuple(marked))


def settle_ledger(connection: DuckDBPyConnection, rewritten: Rewritten) -> None:
    """Let the ledger expect the files as they are now."""
    for one in rewritten.marked:
        connection.execute(
            "UPDATE meta.loads SET sha256 = $1 WHERE landing = $2 AND sha256 <> '' AND sha256 <> $1",
            [one.sha256, one.path],
        )


def clear_leftovers(data_dir: Path, now: float | None = None) -> tuple[int, int]:
    """Remove what killed processes left behind; answers how much, and how much may still be written."""
    landing = Landing(data_dir / "landing")
    limit = (now or time.time()) - STILL_WRITTEN_SECONDS
    left = [path for path in landing.unfinished() if path.exists()]
    old = [path for path in left if path.stat().st_mtime < limit]
    for path in old:
        path.unlink(missing_ok=True)
    shutil.rmtree(data_dir / "work" / "reliving", ignore_errors=True)
    return len(old), len(left) - len(old)


def clean_logs(data_dir: Path, person: Person) -> int:
    """Overwrite the person in the request log, in place, as somebody may be writing to it."""
    changed = 0
    for path in sorted((data_dir / "work").glob("requests.log*")):
        content = path.read_bytes()
        for value in sorted({person.id, *person.values}, key=len, reverse=True):
            word = re.escape(value.encode())
            for match in re.finditer(rb"(?<!\w)" + word + rb"(?!\w)", content):
                with path.open("r+b") as file:
                    file.seek(match.start())
                    file.write(b"x" * len(match[0]))
                changed += 1
    return changed


def files_with(folder: Path, person: Person) -> list[str]:
    """The files below a folder in whose bytes the person stands, by their names below it."""
    words = [
        re.escape(form.encode()) for value in (person.id, *person.values) for form in written_forms(value)
    ]
    sought = re.compile(rb"(?<!\w)(?:" + b"|".join(words) + rb")(?!\w)")
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path.relative_to(folder).as_posix() for path in files if sought.search(path.read_bytes())]


def clear_versions(data_dir: Path) -> list[str]:
    """Remove the kept versions, the published one excepted; answers their names.

    Rows that were deleted before a version was copied may stand in its free space, where nobody can look.
    """
    versions = Versions(data_dir)
    current = versions.current()
    gone = [one for one in versions.kept() if one != current]
    for version in gone:
        remove(versions.path(version))
    return gone


def clean_published(data_dir: Path, person: Person, customers: Collection[str], now: datetime) -> str:
    """Let analysts see the file they see now, without the person; answers the new version's name.

    For when a check stands against publishing what was loaded since.
    """
    versions = Versions(data_dir)
    version = versions.next(now)
    copy = versions.folder / ".unfinished.duckdb"
    rewritten = copy.with_name(".unfinished-rewritten.duckdb")
    try:
        remove(copy)
        copy_file(versions.published, copy)
        copy.chmod(PRIVATE_FILE)
        with opened(copy) as connection:
            forget(connection, person, customers)
            rewrite_file(connection, rewritten)
        rewritten.chmod(FILE)
        sync(rewritten)
        rewritten.replace(versions.path(version))
    finally:
        remove(copy)
        remove(rewritten)
    sync(versions.folder)
    versions.show(version)
    return version


def was_published(data_dir: Path, person: Person, customers: Collection[str]) -> bool:
    """Whether the person stands in a table of the published file or of a kept version."""
    versions = Versions(data_dir)
    paths = (versions.published, *map(versions.path, versions.kept()))
    return any(_holds(path, person, customers) for path in paths if path.exists())


def _holds(path: Path, person: Person, customers: Collection[str]) -> bool:
    """Whether anything of the person stands in a DuckDB file; one that cannot be read counts as if."""
    try:
        with opened(path, read_only=True) as connection:
            return names_her(connection, person, customers)
    except WarehouseError:
        return True


def _is_told(person: Person, answers: Iterable[tuple[Mapping[str, Any], bytes]]) -> bool:
    """Whether rewriting would change any answer, or the question that it answers."""
    for meta, body in answers:
        if _without(meta, person) != meta:
            return True
        text = body.decode("utf-8", "replace")
        if person.stands_in(text) and person.without(text) != person.nobody.without(text):
            return True
    return False


def _rewrite(
    landing: Landing, landed: Landed, answers: Iterable[tuple[dict[str, Any], bytes]], person: Person
) -> Landed:
    header = {**_without(landed.header, person), REWRITTEN: True}
    writer = LandingWriter(landing.root, Path(landed.path.removesuffix(HELD)), header)
    for meta, body in answers:
        writer.add(_without(meta, person), person.without(body.decode("utf-8", "replace")).encode())
    written = writer.close(landed.trailer, held=landed.path.endswith(HELD))
    return landing.landed(written.path)


def _without(said: Mapping[str, Any], person: Person) -> dict[str, Any]:
    """What is said of a load or a request, without the person that was asked for."""
    known = {"path", "query", "asked"} & said.keys()
    return {**said, **{name: _renamed(said[name], person) for name in known}}


def _renamed(value: Any, person: Person) -> Any:
    if isinstance(value, str):
        return "/".join(person.alias if part == person.id else part for part in value.split("/"))
    if isinstance(value, list):
        return [_renamed(one, person) for one in value]
    if isinstance(value, dict):
        return {name: _renamed(one, person) for name, one in value.items()}
    return value
