"""Who may know a contact by name? With a key set, nobody who reads the tables: a keyed hash stands there.

The same name gets the same pseudonym as long as the key is the same, so people can still be told apart and
counted. Landing keeps what was received.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from pipelines.settings.model import Settings
    from warehouse.window_result import ColumnLike, TableLike

_OF_A_CONTACT = re.compile(r"(^|_)contact_(.*_)?(name|.*mail.*|.*phone.*|mobile.*|social.*|address.*)$")
_FREE_TEXT = re.compile(r"(message|comment|text|title|note)$")
SIGNS = 16


@dataclass(frozen=True)
class _Table:
    """A table of a load whose frame was changed."""

    name: str
    columns: Sequence[ColumnLike]
    frame: pl.DataFrame
    key: tuple[str, ...]


@dataclass(frozen=True)
class Pseudonyms:
    """Replaces what names a contact in the tables of a load."""

    key: bytes

    def of_text(self, text: str | None) -> str | None:
        """The pseudonym of a name, an address or a number; nothing stays nothing."""
        if text is None or not text.strip():
            return text
        known = " ".join(text.casefold().split()).encode()
        return f"p-{hmac.new(self.key, known, hashlib.sha256).hexdigest()[:SIGNS]}"

    def of(self, table: TableLike) -> TableLike:
        """The table of a load with pseudonyms where contacts were named."""
        columns = [column.name for column in table.columns]
        naming = [name for name in columns if _OF_A_CONTACT.search(name)]
        if not naming:
            return table
        frame = table.frame
        texts = [name for name in columns if _FREE_TEXT.search(name) and name not in naming]
        return _Table(table.name, table.columns, self._frame(frame, naming, texts), table.key)

    def _frame(self, frame: pl.DataFrame, naming: list[str], texts: list[str]) -> pl.DataFrame:
        """Pseudonyms in the columns that name somebody; in texts, where a name of the same row stands."""
        import polars as pl

        naming = [name for name in naming if frame.schema.get(name) == pl.String]
        texts = [name for name in texts if frame.schema.get(name) == pl.String]
        rows = list(frame.select(naming).iter_rows())
        named = [[one for one in row if one and one.strip()] for row in rows]
        changed = {name: [self.of_text(one) for one in frame[name]] for name in naming}
        for name in texts:
            changed[name] = list(self._texts(frame[name].to_list(), named))
        return frame.with_columns(pl.Series(name, found, pl.String) for name, found in changed.items())

    def _texts(self, texts: list[str | None], named: list[list[str]]) -> Iterator[str | None]:
        for text, names in zip(texts, named, strict=True):
            told = text
            for name in sorted(names, key=len, reverse=True):
                if told:
                    told = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", self.of_text(name) or "", told)
            yield told


def pseudonyms_of(settings: Settings) -> Callable[[TableLike], TableLike] | None:
    """What is done to every table before it is loaded; nothing while no key is set."""
    key = settings.pseudonym_key.get_secret_value()
    return Pseudonyms(key.encode()).of if key else None
