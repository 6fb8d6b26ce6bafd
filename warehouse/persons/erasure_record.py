"""Records of erasures that are not finished, or that left something; they name nobody.

What a killed erasure knew of the person it must know again when it is repeated, although it may be in no file
any more. So it is kept sealed: only whoever names the same id again can read it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warehouse.persons.person import Person
from warehouse.persons.personal_data import PersonKind
from warehouse.store.files import make_folder, write_file

FOLDER = Path("work", "erasures")
"""Of a data directory."""
_SALT_BYTES = 16
_SCRYPT = {"n": 1 << 14, "r": 8, "p": 1}
"""Some 50 ms and 16 MB for each id that somebody tries."""


@dataclass
class ErasureRecord:
    """An erasure that somebody must look at: one that was cut short, or whose remarks say what it left."""

    path: Path
    kind: PersonKind
    begun_at_utc: str
    is_finished: bool = False
    remarks: list[str] = field(default_factory=list)


def erasure_records(data_dir: Path) -> list[ErasureRecord]:
    """All records of a data directory, the oldest first."""
    found = [_record(path, content) for path, content in _contents(data_dir)]
    return sorted(found, key=lambda one: one.begun_at_utc)


@contextmanager
def remembered(
    data_dir: Path, person: Person, now_utc: str, remarks: Sequence[str]
) -> Iterator[tuple[Person, bool]]:
    """The person with what a killed erasure knew of it, and whether there was one.

    The record is there until the body ends well, and stays if there are `remarks` then.
    """
    folder = data_dir / FOLDER
    make_folder(folder)
    for unfinished in folder.glob(".*"):  # a process was killed while it wrote one
        unfinished.unlink()
    path, known = _found(data_dir, person) or (folder / f"{secrets.token_hex(8)}.json", {})
    begun = bool(known)
    person = replace(
        person,
        alias=known.get("alias", person.alias),
        values=person.values | set(known.get("values", ())),
        customers=person.customers | set(known.get("customers", ())),
    )
    content: dict[str, object] = {
        "kind": person.kind,
        "begun_at_utc": now_utc,
        "is_finished": False,
        "remarks": [],
    }
    secret: dict[str, object] = {
        "alias": person.alias,
        "values": sorted(person.values),
        "customers": sorted(person.customers),
    }
    _write(path, content, person, secret)
    yield person, begun
    if remarks:
        said = [person.erase_text(one) for one in remarks]
        _write(path, {**content, "is_finished": True, "remarks": said}, person, {})
    else:
        path.unlink()


def _found(data_dir: Path, person: Person) -> tuple[Path, dict[str, Any]] | None:
    """The record of this person, and what is sealed in it."""
    for path, content in _contents(data_dir):
        try:
            return path, json.loads(_opened(content, person))
        except ValueError:  # of somebody else
            continue
    return None


def _contents(data_dir: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted((data_dir / FOLDER).glob("*.json")):
        yield path, json.loads(path.read_text("utf-8"))


def _record(path: Path, content: dict[str, Any]) -> ErasureRecord:
    return ErasureRecord(
        path, content["kind"], content["begun_at_utc"], content["is_finished"], content["remarks"]
    )


def _write(path: Path, content: dict[str, object], person: Person, secret: dict[str, object]) -> None:
    write_file(path, json.dumps({**content, **_sealed(json.dumps(secret).encode(), person)}).encode())


def _sealed(text: bytes, person: Person) -> dict[str, str]:
    salt = secrets.token_bytes(_SALT_BYTES)
    key = _key(person, salt)
    sealed = _mixed(text, key)
    return {"salt": salt.hex(), "sealed": sealed.hex(), "proof": hmac.digest(key, sealed, "sha256").hex()}


def _opened(content: dict[str, Any], person: Person) -> bytes:
    """What is sealed; raises ValueError where it was sealed for somebody else."""
    key, sealed = _key(person, bytes.fromhex(content["salt"])), bytes.fromhex(content["sealed"])
    if not hmac.compare_digest(hmac.digest(key, sealed, "sha256").hex(), content["proof"]):
        raise ValueError("another person")
    return _mixed(sealed, key)


def _key(person: Person, salt: bytes) -> bytes:
    return hashlib.scrypt(f"{person.kind}:{person.id}".encode(), salt=salt, dklen=64, **_SCRYPT)


def _mixed(text: bytes, key: bytes) -> bytes:
    """A text mixed with signs that follow from the key, which is never used for a second one."""
    return bytes(a ^ b for a, b in zip(text, hashlib.shake_256(key).digest(len(text)), strict=True))
