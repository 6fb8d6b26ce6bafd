"""Pseudonyms of contacts: with a key set, the tables hold a keyed hash where a contact would be named.

The same name gets the same pseudonym as long as the key is the same, so people can still be told apart and
counted. Landing keeps what was received.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from pipelines.catalogue.model import Column
from warehouse.persons.personal_data import is_free_text, names_contact

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from warehouse.handed_over import TableLike

DIGITS = 16


def pseudonym(key: bytes, text: str | None) -> str | None:
    """The pseudonym of a name, an address or a number; an empty text stays as it is."""
    if text is None or not text.strip():
        return text
    known = " ".join(text.casefold().split()).encode()
    return f"p-{hmac.new(key, known, hashlib.sha256).hexdigest()[:DIGITS]}"


def pseudonymized(key: bytes, table: TableLike) -> pl.DataFrame:
    """The rows with pseudonyms in columns that name a contact, and in texts that repeat such a name."""
    documented = {one.name: one for one in table.columns if isinstance(one, Column) and one.documented}
    frame = table.frame
    columns = [one.name for one in table.columns if frame.schema.get(one.name) == pl.String]
    of_contacts = {one.id_of for one in documented.values() if one.id_of} == {"contact"}
    naming = [
        name
        for name in columns
        if names_contact(name, documented)
        or (of_contacts and name in documented and documented[name].personal)
    ]
    if not naming:
        return frame
    names = [[one for one in row if one and one.strip()] for row in frame.select(naming).iter_rows()]
    changed = {name: [pseudonym(key, one) for one in frame[name]] for name in naming}
    for name in filter(is_free_text, columns):
        changed[name] = list(map(partial(_without_names, key), frame[name], names))
    return frame.with_columns(pl.Series(name, values, pl.String) for name, values in changed.items())


def _without_names(key: bytes, text: str | None, names: Sequence[str]) -> str | None:
    """A free text with pseudonyms for the names of the same row."""
    for name in sorted(names, key=len, reverse=True):
        if text:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", pseudonym(key, name) or "", text)
    return text


def pseudonyms_of(settings: Settings) -> Callable[[TableLike], pl.DataFrame] | None:
    """What the rows of a table become before they are loaded; nothing while no key is set."""
    key = settings.pseudonym_key.get_secret_value()
    return partial(pseudonymized, key.encode()) if key else None
