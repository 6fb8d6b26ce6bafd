"""Privacy of loaded rows: erased persons stay erased, and contacts may be loaded under pseudonyms.

If `pseudonym_key` is set, tables have pseudonyms (keyed hashes) in place of personal data of contacts. The
same name has the same pseudonym everywhere, so people can still be counted. Landing keeps the real names.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from pipelines.catalogue.model import Column, Report, declared_columns
from pipelines.catalogue.reports import REPORTS
from warehouse.persons.erased_list import read_erased
from warehouse.persons.personal_data import is_free_text, names_contact
from warehouse.persons.suppression import suppressed_frame

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from warehouse.protocols import Documented, TableLike

PSEUDONYM_DIGITS = 16


def pseudonym(key: bytes, text: str | None) -> str | None:
    """The pseudonym of a text, such as a name or an address; an empty text stays as it is."""
    if text is None or not text.strip():
        return text
    normalized = " ".join(text.casefold().split()).encode()
    return f"p-{hmac.new(key, normalized, hashlib.sha256).hexdigest()[:PSEUDONYM_DIGITS]}"


def pseudonymize(key: bytes, table: TableLike) -> pl.DataFrame:
    """The rows with pseudonyms in place of contacts' personal data, also inside the free texts of a row."""
    documented = documented_columns(table)
    frame = table.frame
    columns = [column.name for column in table.columns if column.name in frame.columns]
    text_columns = [name for name in columns if frame.schema[name] == pl.String]
    has_only_contacts = {column.id_of for column in documented.values() if column.id_of} == {"contact"}
    name_columns = [
        name
        for name in columns
        if names_contact(name, documented)
        or (has_only_contacts and name in documented and documented[name].personal)
    ]
    if not name_columns:
        return frame
    # only texts get pseudonyms; other values, such as a phone number sent as a JSON number, become null
    number_columns = [name for name in name_columns if name not in text_columns]
    frame = frame.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in number_columns)
    name_columns = [name for name in name_columns if name in text_columns]
    rows = frame.select(name_columns).iter_rows()
    names = [[text for text in row if text and text.strip()] for row in rows]
    replaced = {name: [pseudonym(key, text) for text in frame[name]] for name in name_columns}
    for name in filter(is_free_text, text_columns):
        replaced[name] = list(map(partial(_without_names, key), frame[name], names))
    return frame.with_columns(pl.Series(name, values, pl.String) for name, values in replaced.items())


def _without_names(key: bytes, text: str | None, names: Sequence[str]) -> str | None:
    for name in sorted(names, key=len, reverse=True):
        if text:
            pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
            text = re.sub(pattern, pseudonym(key, name) or "", text, flags=re.IGNORECASE)
    return text


def privacy_transform(settings: Settings) -> Callable[[TableLike], pl.DataFrame]:
    """Return the function that makes the rows of a table private before they are loaded.

    The function reads the list of erased persons once per table, as a person may be erased during a sync.
    """
    key = settings.pseudonym_key.get_secret_value().encode()

    def make_private(table: TableLike) -> pl.DataFrame:
        frame = pseudonymize(key, table) if key else table.frame
        erased = read_erased(settings.data_dir)
        return suppressed_frame(frame, documented_columns(table), erased) if erased.persons else frame

    return make_private


def documented_columns(table: TableLike) -> Documented:
    """The declared columns of a table, by name."""
    return {
        column.name: column for column in table.columns if isinstance(column, Column) and column.documented
    }


def documented_tables(catalogue: Mapping[str, Report] = REPORTS) -> dict[str, Documented]:
    """The declared columns of every table of the catalogue, by table name and column name."""
    return {
        table.name: {column.name: column for column in declared_columns(table)}
        for report in catalogue.values()
        for table in report.tables
    }
