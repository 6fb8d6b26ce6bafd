"""Personal data: the columns that describe a person.

The catalogue decides for the columns that it declares. This module judges all other columns by their names.
Whether a column has free text is always judged by the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from warehouse.protocols import Documented

_PERSONAL = re.compile(
    r"name|mail|phone|mobile|message|comment|employee|social|birth|address|image|url|title|text|language|note"
)
_NOT_PERSONAL = re.compile(r"company|office|customer|estate|status|type|source")
_CONTACT_DATA = re.compile(r"(first_|last_|full_)?name|initials|.*mail.*|.*phone.*|mobile.*")
_USER_ID = re.compile(r"(^|_)(user|agent|sender|receiver|broker|realtor|assistant|owner)_id$")
_CONTACT_ID = re.compile(r"contact_id$")
_CONTACT = re.compile(r"(?:^|_)contact_(.+)$")
_MESSAGE = re.compile(r"(message|comment)$")
KEY = "key"
"""The column with the keys of objects such as {"U1": {...}}; a key may be the id of a person."""
_FREE_TEXT = re.compile(r"(message|comment|text|title|note|description)$")


PersonKind = Literal["contact", "user"]
"""The kind of person that an id identifies."""
KINDS: tuple[PersonKind, ...] = ("contact", "user")


def is_id_of(kind: PersonKind, column: str, documented: Documented) -> bool:
    """Whether a column has ids of this kind of person."""
    if column in documented:
        return documented[column].id_of == kind
    if kind == "contact":
        return bool(_CONTACT_ID.search(column))
    return column == "id" or bool(_USER_ID.search(column))


def describes(column: str, id_column: str, documented: Documented) -> bool:
    """Whether a column describes the person whom `id_column` identifies."""
    if column in documented:
        owners = (None, id_column, "id") if id_column == KEY else (None, id_column)
        return documented[column].personal and owner_of(column, documented) in owners
    if _MESSAGE.search(column):
        return True
    prefix = "" if id_column == KEY else id_column.removesuffix("id")
    if not column.startswith(prefix) or not is_personal(column.removeprefix(prefix)):
        return False
    return bool(prefix) or not column.startswith(("contact_", "sender_", "receiver_"))


def id_columns(columns: Iterable[str], documented: Documented) -> Iterator[tuple[str, PersonKind]]:
    """The columns with ids of persons, each with the kind; an undeclared KEY appears with every kind."""
    for column in columns:
        for kind in KINDS:
            if is_id_of(kind, column, documented) or (column == KEY and column not in documented):
                yield column, kind


def emptied_columns(id_column: str, columns: Sequence[str], documented: Documented) -> list[str]:
    """The columns that a row loses when the person whom `id_column` identifies is erased."""
    ids = {column for column, _ in id_columns(columns, documented)}
    return [
        column
        for column in columns
        if column not in ids
        and (
            describes(column, id_column, documented)
            or (is_free_text(column) and not _NOT_PERSONAL.search(column))
            or (ids == {id_column} != {"id"} and _may_be_contact_data(column, documented))
        )
    ]


def _may_be_contact_data(column: str, documented: Documented) -> bool:
    return bool(_CONTACT_DATA.fullmatch(column)) and (column not in documented or documented[column].personal)


def owner_of(column: str, columns: Iterable[str]) -> str | None:
    """The id column of the person whom a column describes: `sender_id` for `sender_name`; None if unknown."""
    ids = {name for name in columns if name == "id" or _USER_ID.search(name) or _CONTACT_ID.search(name)}
    if is_free_text(column):
        return None
    for end in (match.end() for match in reversed(list(re.finditer("_", column)))):
        if f"{column[:end]}id" in ids:
            return f"{column[:end]}id"
    return "id" if "id" in ids and _CONTACT_DATA.fullmatch(column) else None


def names_contact(column: str, documented: Documented) -> bool:
    """Whether a column has personal data of a contact, other than free text."""
    match = _CONTACT.search(column)
    if not match or is_free_text(column):
        return False
    return documented[column].personal if column in documented else bool(_PERSONAL.search(match[1]))


def is_free_text(column: str) -> bool:
    """Whether a column has text that may name any person."""
    return bool(_FREE_TEXT.search(column))


def is_personal(name: str) -> bool:
    """Whether a field of this name describes a person, not a company or thing."""
    return bool(_PERSONAL.search(name)) and not _NOT_PERSONAL.search(name)
