"""The list of erased persons: a keyed hash of each id, and the alias (a random id) that replaces the id.

The list is a file next to the working file. It is written before anything is erased. Every load and
publication reads it, so neither a new answer of the service nor an old copy of a file brings a person back.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from warehouse.errors import WarehouseError
from warehouse.persons.personal_data import PersonKind
from warehouse.store.files import make_folder, write_file

FILE = Path("work", "erased.json")
"""The path of the list in a data directory."""
KEY_BYTES = 32


@dataclass(frozen=True)
class ErasedPerson:
    """An erased person. `hash` is the keyed hash of the id, and `alias` the random id that replaces the id.

    If an erasure is interrupted, `is_finished` stays false, and the operator must erase the person again.
    """

    kind: PersonKind
    hash: str
    alias: str
    begun_at_utc: str
    is_finished: bool = False


@dataclass(frozen=True)
class ErasedList:
    """All erased persons, and the key of their hashes."""

    key: bytes
    persons: tuple[ErasedPerson, ...] = ()

    def hash_of(self, kind: PersonKind, person_id: str) -> str:
        return hmac.digest(self.key, f"{kind}:{person_id}".encode(), "sha256").hex()

    def aliases(self, kind: PersonKind, ids: Iterable[str]) -> dict[str, str]:
        """The alias of each erased person among these ids, by id. An alias among the ids maps to itself."""
        aliases = self._alias_of_hash | {alias: alias for alias in self._alias_of_hash.values()}
        by_id = {id_: aliases.get(id_) or aliases.get(self.hash_of(kind, id_)) for id_ in ids}
        return {id_: alias for id_, alias in by_id.items() if alias}

    @cached_property
    def _alias_of_hash(self) -> dict[str, str]:
        return {person.hash: person.alias for person in self.persons}


def read_erased(data_dir: Path) -> ErasedList:
    """The list of a data directory, empty if there is no file; raises WarehouseError if it is damaged."""
    path = data_dir / FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        persons = tuple(ErasedPerson(**person) for person in content["persons"])
        return ErasedList(bytes.fromhex(content["key"]), persons)
    except FileNotFoundError:
        return ErasedList(secrets.token_bytes(KEY_BYTES))
    except (ValueError, KeyError, TypeError) as error:
        raise WarehouseError(
            f"The list of erased persons {path} is damaged; restore its newest copy. Without the list "
            "these persons would be loaded again."
        ) from error


def record_begun(data_dir: Path, kind: PersonKind, person_id: str, now: datetime) -> ErasedPerson:
    """Add a person to the list, and return the entry.

    An earlier entry of the person keeps its alias, and is marked as begun again.
    """
    erased = read_erased(data_dir)
    begun = now.isoformat(timespec="seconds")
    new = ErasedPerson(kind, erased.hash_of(kind, person_id), f"erased-{secrets.token_hex(8)}", begun)
    stored = next((person for person in erased.persons if person.hash == new.hash), new)
    person = replace(stored, begun_at_utc=begun, is_finished=False)
    _write(data_dir, erased, person)
    return person


def record_finished(data_dir: Path, person: ErasedPerson) -> None:
    """Mark the erasure of a person as finished."""
    _write(data_dir, read_erased(data_dir), replace(person, is_finished=True))


def _write(data_dir: Path, erased: ErasedList, changed: ErasedPerson) -> None:
    persons = [person for person in erased.persons if person.hash != changed.hash]
    content = {"key": erased.key.hex(), "persons": [asdict(person) for person in (*persons, changed)]}
    make_folder((data_dir / FILE).parent)
    write_file(data_dir / FILE, json.dumps(content, indent=1).encode())
