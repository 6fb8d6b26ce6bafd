"""Lake: the published tables as Delta tables, which other engines read, each shard replaced in one commit.

A table of the published file is a Delta table `marts/NAME` or `bi/NAME` with the column `_shard`, by which
it is partitioned: several shards write the same tables and never each other's rows. Which versions belong
together says the table `_publications`, written last. Needs the extra `scale`; nothing of it is imported
before it is used.

The log keeps the smallest and the largest value of columns: here of days only, and of none about
a person.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from warehouse.errors import WarehouseError
from warehouse.publishing.lake_types import (
    IN_STATISTICS,
    SHARD,
    LakeColumn,
    agreed,
    as_type,
    content_number,
    lake_columns,
    lake_path,
)
from warehouse.publishing.table_export import FilePart, PublishedTable, TableExport, table_export
from warehouse.store.database import LOCK_SECONDS
from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.files import SHARED_FOLDER, folder_for_a_while, make_folder
from warehouse.store.lock import locked_file
from warehouse.store.object_store import (
    CONNECT_SECONDS,
    EXTRA,
    REQUEST_SECONDS,
    RETRY_SECONDS,
    local_path,
    open_object_store,
)
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

Done = TypeVar("Done")
IsPersonal = Callable[[str, str], bool]
"""Whether a column of a table, as the published file calls it, may be about a person."""
WITHOUT_A_NAME = "all"
"""The value of `_shard` of an installation that is no shard."""
PUBLICATIONS = "_publications"
KEPT = timedelta(days=7)
"""For how long the versions of earlier publications can be read."""
TRIES = 8
"""Of a commit that meets another one of the same table."""
PATIENCE = {
    "connect_timeout": f"{CONNECT_SECONDS:.0f}s",
    "timeout": f"{REQUEST_SECONDS:.0f}s",
    "retry_timeout": f"{RETRY_SECONDS:.0f}s",
}
"""By itself the library would wait for minutes for a store that hangs."""
CUT_LOGS = 2
"""How often a step begins anew because the log that it read was cut down meanwhile."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""A bound that the log can hold; infinity and days before our era are none."""
STATISTICS = "delta.dataSkippingStatsColumns"
OFTEN = {"delta.checkpointInterval": "10"}
"""Every tenth version is read at once; by itself the library would have up to a hundred read one by one."""
LOG = "_delta_log"
_PUBLICATION_COLUMNS: dict[str, Any] = {
    "number": pl.Int64,
    "publication": pl.String,
    "table_name": pl.String,
    "version": pl.Int64,
    "row_count": pl.Int64,
    "published_at_utc": pl.Datetime("us", "UTC"),
    "epoch": pl.Int64,
    "timezone": pl.String,
    SHARD: pl.String,
}
"""Columns of `_publications`; each publication of a shard has a higher number than the one before."""


@dataclass(frozen=True)
class LakePublication:
    """What became of a publication in the lake: tables written, those that were the same, those removed."""

    publication: str
    written: int
    unchanged: int
    removed: int


class Lake:
    """The Delta tables below an address, as one shard writes them.

    With an `epoch` a writer of an earlier one is refused from then on, and so are we where there was a
    later one; `still_owner` raises when somebody else is the owner. What goes wrong raises WarehouseError
    or an error of the library's.
    """

    def __init__(
        self,
        address: str,
        shard: str = "",
        *,
        epoch: int | None = None,
        still_owner: Callable[[], None] | None = None,
    ) -> None:
        try:
            import deltalake
            from deltalake import transaction
        except ImportError as error:
            raise WarehouseError(f"{address} needs libraries that are not installed: {EXTRA}") from error
        self._delta, self._transaction = deltalake, transaction
        self.address = address.rstrip("/")
        self.shard = shard or WITHOUT_A_NAME
        self._where = f"{SHARD} = {literal(self.shard)}"
        self._epoch_id, self._content_id = f"shard:{self.shard}", f"content:{self.shard}"
        self._epoch = epoch
        self._still_owner = still_owner
        self._local = local_path(address)
        self._patience = None if self._local else PATIENCE

    def publish(self, data_dir: Path, *, now: datetime, is_personal: IsPersonal) -> LakePublication | None:
        """Write what analysts see now; None where the lake has it already."""
        with _alone(data_dir) as folder:
            return self._again(lambda: self._publish(data_dir, folder, now=now, is_personal=is_personal))

    def publications(self) -> list[dict[str, Any]]:
        """The rows of this shard in `_publications`, the latest publication first."""
        return self._rows_of(self.table(PUBLICATIONS))

    def table(self, path: str) -> DeltaTable | None:
        """A table at its newest version; None where there is none."""
        try:
            return self._delta.DeltaTable(self.uri(path), storage_options=self._patience)
        except self._delta.exceptions.TableNotFoundError:
            return None

    def uri(self, path: str) -> str:
        """Where a table is, such as marts/office_month."""
        return str(self._local / path) if self._local else f"{self.address}/{path}"

    def forget(self, data_dir: Path, is_named: Callable[[str], bool]) -> None:
        """Leave nothing of this shard but what its latest publication has, in data, in logs and in names.

        `is_named` says of the name of a table or a column whether a person is in it. Versions of before
        cannot be read any more, those of other shards neither; files of other shards stay.
        """
        with _alone(data_dir):
            self._again(lambda: self._forget(is_named))

    def _publish(
        self, data_dir: Path, folder: Path, *, now: datetime, is_personal: IsPersonal
    ) -> LakePublication | None:
        publication = Versions(data_dir).current()
        if publication is None:
            raise WarehouseError(
                "The published file is none of the kept versions; `brokerbi publish` makes one."
            )
        if self._local:
            make_folder(self._local, SHARED_FOLDER)
        noted = self.table(PUBLICATIONS)
        self._check_owner(noted)
        known = self._rows_of(noted)
        latest = [one for one in known if one["number"] == known[0]["number"]]
        if latest and latest[0]["publication"] == publication:
            return None
        number = latest[0]["number"] + 1 if latest else 1
        rows, written = [], 0
        with table_export(data_dir) as source:
            source.connection.execute("SET TimeZone = 'UTC'")
            timezone = source.timezone()
            about = {
                "number": number,
                "publication": publication,
                "published_at_utc": now,
                "epoch": self._epoch,
                "timezone": timezone,
                SHARD: self.shard,
            }
            for table in source.tables():
                version, is_new = self._replace(source, table, timezone, is_personal, publication, folder)
                path = lake_path(table)
                rows.append({**about, "table_name": path, "version": version, "row_count": table.row_count})
                written += is_new
        gone = {one["table_name"] for one in latest} - {one["table_name"] for one in rows}
        for name in sorted(gone):
            self._remove(name, publication)
        self._note([*(one for one in known if one["published_at_utc"] > now - KEPT), *rows], publication)
        for path in {PUBLICATIONS, *(one["table_name"] for one in [*known, *rows])}:
            self._vacuum(path)
        return LakePublication(publication, written, len(rows) - written, len(gone))

    def _forget(self, is_named: Callable[[str], bool]) -> None:
        known = self.publications()
        if known and known[-1]["number"] != known[0]["number"]:
            latest = [one for one in known if one["number"] == known[0]["number"]]
            self._note(latest, str(known[0]["publication"]))
        objects = open_object_store(self.address)
        keys = [one.key for one in objects.found()]
        for path in sorted({key.partition(f"/{LOG}/")[0] for key in keys if f"/{LOG}/" in key}):
            table = self.table(path)
            if table is None:
                continue
            if is_named(path.rpartition("/")[2]) and not table.file_uris():
                objects.delete([key for key in keys if key.startswith(f"{path}/")])
                continue
            if any(is_named(field.name) for field in table.schema().fields):
                table = self._reshape(
                    path, lambda types: {name: one for name, one in types.items() if not is_named(name)}
                )
            table.create_checkpoint()
            version, active = table.version(), {uri.rpartition("/")[2] for uri in table.file_uris()}
            objects.delete(
                one.key
                for one in list(objects.found(path))
                if _is_old_log(one.key, version)
                or (f"/{SHARD}={self.shard}/" in one.key and one.key.rpartition("/")[2] not in active)
            )

    def _rows_of(self, found: DeltaTable | None) -> list[dict[str, Any]]:
        if found is None:
            return []
        query = self._delta.QueryBuilder().register("found", found)
        rows = query.execute(f"SELECT * FROM found WHERE {self._where} ORDER BY number DESC, table_name")
        return pl.DataFrame(rows).to_dicts()

    def _again(self, step: Callable[[], Done]) -> Done:
        """The answer of a step that may be done again: another shard may erase the log that it reads."""
        for _ in range(CUT_LOGS):
            with suppress(self._delta.exceptions.DeltaError):
                return step()
        return step()

    def _replace(
        self,
        source: TableExport,
        table: PublishedTable,
        timezone: str,
        is_personal: IsPersonal,
        publication: str,
        folder: Path,
    ) -> tuple[int, bool]:
        """Replace the rows of this shard in a table; its version, and False where they are the same.

        The rows are in files of their own before the commit, so memory does not grow with the table. A commit
        is believed when it is read: a store may have taken one and say that it failed, and the cleaning of an
        erasure may have removed the log between which it was to be.
        """
        path, wanted = lake_path(table), lake_columns(table, timezone, is_personal)
        columns: list[LakeColumn] | None = None
        written: list[LakeColumn] | None = None
        for _ in range(TRIES):
            found, now = self._agree(path, self.table(path), wanted)
            if now != columns:
                columns, select = now, ", ".join(one.select for one in now)
                content = content_number(source, table, columns, select)
            if found and found.transaction_version(self._content_id) == content and self._is_ours(found):
                return int(found.version()), written is not None
            try:
                if columns != written:
                    parts = source.write_parts(f"SELECT {select} FROM {table.source}", folder)
                    added, written = [self._added(path, one, columns) for one in parts], columns
                if not found or {one.name for one in columns} - _types(found).keys():
                    found = self._prepare(path, found, source, table, columns)
                self._check_owner(found)  # of the very version that is committed upon
                found.create_write_transaction(
                    [*added, *self._removed(found)],
                    "append",
                    found.schema(),
                    [SHARD],
                    commit_properties=self._properties(
                        {"publication": publication, "shard": self.shard}, content
                    ),
                )
            except self._delta.exceptions.CommitFailedError:
                continue
        raise self._too_busy(path)

    def _prepare(
        self,
        path: str,
        found: DeltaTable | None,
        source: TableExport,
        table: PublishedTable,
        columns: Sequence[LakeColumn],
    ) -> DeltaTable:
        """The table with all these columns, without a row of ours; one that is not there yet is made."""
        cells = ", ".join(one.select for one in columns)
        statement = f"SELECT {cells}, {literal(self.shard)} AS {SHARD} FROM {table.source} LIMIT 0"
        statistics = ",".join(one.name for one in columns if one.in_statistics)
        configuration = {STATISTICS: statistics, **OFTEN}
        of_a_new_table = {"description": table.meaning, "configuration": configuration}
        self._delta.write_deltalake(
            found or self.uri(path),
            source.connection.sql(statement),
            storage_options=self._patience,
            mode="append",
            partition_by=[SHARD],
            **({"schema_mode": "merge"} if found else of_a_new_table),
        )
        return self._delta.DeltaTable(self.uri(path), storage_options=self._patience)

    def _added(self, path: str, part: FilePart, columns: Sequence[LakeColumn]) -> AddAction:
        """A file put into a table, before any version has it, and what the log is to say of it."""
        key = f"{SHARD}={self.shard}/{part.path.name}"
        open_object_store(self.address).put_file(f"{path}/{key}", part.path)
        part.path.unlink()
        known = {one.name: part.columns[quoted(one.name)] for one in columns if one.in_statistics}
        statistics = {
            "numRecords": part.row_count,
            "minValues": {
                name: one["min"] for name, one in known.items() if DAY.fullmatch(one.get("min", ""))
            },
            "maxValues": {
                name: one["max"] for name, one in known.items() if DAY.fullmatch(one.get("max", ""))
            },
            "nullCount": {name: int(one["null_count"]) for name, one in known.items()},
        }
        return self._transaction.AddAction(
            key, part.size, {SHARD: self.shard}, _now_ms(), data_change=True, stats=json.dumps(statistics)
        )

    def _removed(self, table: DeltaTable) -> list[RemoveAction]:
        """The files that this shard has in a version of a table, which another version is to have no more."""
        rows = pl.DataFrame(table.get_add_actions(flatten=True)).filter(
            pl.col(f"partition.{SHARD}") == self.shard
        )
        return [
            self._transaction.RemoveAction(key, True, _now_ms(), size, {SHARD: self.shard})
            for key, size in rows.select("path", "size_bytes").rows()
        ]

    def _agree(
        self, path: str, found: DeltaTable | None, wanted: list[LakeColumn]
    ) -> tuple[DeltaTable | None, list[LakeColumn]]:
        """The columns as the table has them; where ours are wider it is written anew, with all shards."""
        if found is None:
            return found, wanted
        types, ours = _types(found), {one.name: one.type for one in wanted}
        wider = {name: agreed(types[name], ours[name]) for name in types.keys() & ours.keys()}
        if any(types[name] != type_ for name, type_ in wider.items()):
            found = self._reshape(
                path, lambda now: {name: agreed(one, ours.get(name, one)) for name, one in now.items()}
            )
        return found, [one.cast(wider.get(one.name, one.type)) for one in wanted]

    def _reshape(self, path: str, change: Callable[[dict[str, str]], dict[str, str]]) -> DeltaTable:
        """Write a table anew with other types or fewer columns, the rows of all shards as they are.

        A shard that adds its first rows meanwhile is no conflict for the library, but its file has the old
        types: so the table is written once more unless our version follows at once on the one that was
        read.
        """
        has_old_files = False
        for _ in range(TRIES):
            table = self.table(path)
            if table is None:  # pragma: no cover  # nobody removes a table that has rows
                raise WarehouseError(f"{self.uri(path)} is gone.")
            self._check_owner(table)
            before = _types(table)
            after = change(before)
            if after == before and not has_old_files:
                return table
            listed = table.metadata().configuration.get(STATISTICS, "").split(",")
            statistics = [name for name in listed if after.get(name) in IN_STATISTICS]
            cells = [
                f"{as_type(name, before[name], type_)} AS {quoted(name)}" for name, type_ in after.items()
            ]
            query = f"SELECT {', '.join([*cells, SHARD])} FROM found"
            try:
                if statistics != listed:
                    table.alter.set_table_properties({STATISTICS: ",".join(statistics)})
                version = table.version()
                self._delta.write_deltalake(
                    table,
                    self._delta.QueryBuilder().register("found", table).execute(query),
                    mode="overwrite",
                    schema_mode="overwrite",
                    partition_by=[SHARD],
                    writer_properties=self._writer_properties,
                    commit_properties=self._properties({"reshaped_by": self.shard}),
                )
            except self._delta.exceptions.CommitFailedError:
                continue
            has_old_files = table.version() != version + 1
            if not has_old_files:
                return table
        raise self._too_busy(path)

    def _remove(self, path: str, publication: str) -> None:
        """Take the rows of this shard out of a table that is published no more."""
        table = self.table(path)
        if table:
            self._check_owner(table)
            properties = self._properties({"publication": publication, "shard": self.shard}, content=0)
            table.delete(self._where, commit_properties=properties)

    def _note(self, rows: Sequence[dict[str, Any]], publication: str) -> None:
        """Say which versions belong together, in place of what was said before."""
        frame = pl.DataFrame(rows, schema=_PUBLICATION_COLUMNS)
        for _ in range(TRIES):
            table = self.table(PUBLICATIONS)
            if _places(self._rows_of(table)) == _places(rows):  # a commit is believed when it is read
                return
            self._check_owner(table)
            with suppress(self._delta.exceptions.CommitFailedError):
                self._delta.write_deltalake(
                    table or self.uri(PUBLICATIONS),
                    frame,
                    storage_options=self._patience,
                    mode="overwrite",
                    partition_by=[SHARD],
                    configuration=OFTEN,
                    predicate=self._where if table else None,
                    writer_properties=self._writer_properties,
                    commit_properties=self._properties({"publication": publication, "shard": self.shard}),
                )
        raise self._too_busy(PUBLICATIONS)

    def _too_busy(self, path: str) -> WarehouseError:
        return WarehouseError(f"{self.uri(path)} is being written by others all the time; try again.")

    def _vacuum(self, path: str) -> None:
        """Remove files that only versions of long ago have, or none: those of writers that were killed.

        What is younger stays, so nobody loses a file that he is about to commit.
        """
        table = self.table(path)
        hours = int(KEPT.total_seconds() / 3600)
        if table and table.vacuum(retention_hours=hours, dry_run=True, full=True):
            table.vacuum(retention_hours=hours, dry_run=False, full=True)

    def _check_owner(self, table: DeltaTable | None) -> None:
        if self._still_owner:
            self._still_owner()
        known = table.transaction_version(self._epoch_id) if table else None
        if self._epoch is not None and known is not None and known > self._epoch:
            raise WarehouseError(
                f"Shard {self.shard} has another owner (epoch {known}, and this one has {self._epoch}); "
                "nothing of this copy goes into the lake."
            )

    def _is_ours(self, table: DeltaTable) -> bool:
        """Whether an earlier owner would be refused by this table already."""
        return self._epoch is None or table.transaction_version(self._epoch_id) == self._epoch

    @property
    def _writer_properties(self) -> Any:
        return self._delta.WriterProperties(compression="ZSTD")

    def _properties(self, about: dict[str, Any], content: int | None = None) -> CommitProperties:
        noted = {self._epoch_id: self._epoch, self._content_id: content}
        transactions = [self._delta.Transaction(name, one) for name, one in noted.items() if one is not None]
        return self._delta.CommitProperties(custom_metadata=about, app_transactions=transactions)


@contextmanager
def _alone(data_dir: Path) -> Iterator[Path]:
    """No other process of this data directory writes into a lake meanwhile; an empty folder for parts."""
    folder = data_dir / "work" / "lake"
    make_folder(folder.parent)
    with locked_file(folder.with_suffix(".lock"), LOCK_SECONDS), folder_for_a_while(folder):
        yield folder


def _now_ms() -> int:
    return int(time.time() * 1000)


def _places(rows: Sequence[dict[str, Any]]) -> set[tuple[int, str, int]]:
    """Which version of which table each publication has."""
    return {(one["number"], one["table_name"], one["version"]) for one in rows}


def _types(table: DeltaTable) -> dict[str, str]:
    """The columns of a table but for the shard, with their Delta types."""
    return {field.name: str(field.type.type) for field in table.schema().fields if field.name != SHARD}


def _is_old_log(key: str, version: int) -> bool:
    """Whether a file of a log is of a version before this one."""
    folder, _, name = key.rpartition("/")
    number = name.partition(".")[0]
    return folder.endswith(f"/{LOG}") and number.isdecimal() and int(number) < version
