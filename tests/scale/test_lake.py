"""The lake: what was published, as others read it, shard beside shard, and no person in its log."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import duckdb
import httpx
import polars as pl
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError

from pipelines.upkeep.erase import erase
from pipelines.upkeep.lake import refresh_lake
from tests.scale.conftest import environment_of, free_port, server
from tests.scale.lakes import NOON, SALES, publish, read, rows, version
from tests.scenarios.scenario import Scenario, synced
from warehouse.errors import WarehouseError
from warehouse.publishing.lake import Lake, LakePublication
from warehouse.store.object_store import open_object_store

OFFICES = "marts.offices"
TABLE = "marts/offices"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"), "north")


def test_values_arrive_as_they_are_published(data: Path, place: str) -> None:
    lake = Lake(place, "north")
    assert publish(data, lake, {OFFICES: SALES})
    [row] = read(lake, TABLE).to_dicts()
    assert row == {
        "office_id": "M1",
        "month": datetime(2026, 10, 1, tzinfo=UTC).date(),
        "sold": 3,
        "commission": Decimal("1.5000"),
        "_shard": "north",
    }


def test_everything_that_is_published_is_in_the_lake_with_the_same_rows(tmp_path: Path) -> None:
    here = synced(tmp_path / "data", ("sales", "users")).with_settings(lake=str(tmp_path / "lake"))
    assert isinstance(here.publish().lake, LakePublication)
    lake = Lake(str(tmp_path / "lake"))
    with duckdb.connect(here.data_dir / "warehouse.duckdb", read_only=True) as published:
        for one in lake.publications():
            table = DeltaTable(lake.uri(one["table_name"]), version=one["version"])
            files = table.file_uris()
            found = (
                published.execute("SELECT count(*) FROM read_parquet($1)", [files]).fetchone()
                if files
                else (0,)
            )
            name = one["table_name"].replace("/", ".")
            assert found == published.execute(f"SELECT count(*) FROM {name}").fetchone()
            assert (table.protocol().min_reader_version, table.protocol().min_writer_version) == (1, 2)


def test_moments_are_instants_of_utc_or_of_the_brokerages_clock(data: Path, lake: Lake) -> None:
    moments = "TIMESTAMP '2026-07-01 00:30:00' AS at_utc, TIMESTAMP '2026-07-01 00:30:00' AS sold_at"
    publish(
        data,
        lake,
        {OFFICES: f"SELECT {moments}", "bi.sales": f"SELECT {moments}, now()::TIMESTAMP AS _fetched_at_utc"},
    )
    utc, local = datetime(2026, 7, 1, 0, 30, tzinfo=UTC), datetime(2026, 6, 30, 22, 30, tzinfo=UTC)
    assert rows(lake, TABLE, "at_utc sold_at") == [(utc, local)]
    assert rows(lake, "bi/sales", "at_utc sold_at") == [
        (local, local)
    ]  # a name of the service's says nothing


@pytest.mark.parametrize(
    ("value", "type_", "found"),
    [
        ("TIME '10:30:00'", pl.String, "10:30:00"),
        ("INTERVAL 2 DAY", pl.String, "2 days"),
        ("1000000000000000000000000::HUGEINT", pl.Decimal(38, 0), Decimal(10**24)),
        ("18446744073709551615::UBIGINT", pl.Decimal(20, 0), Decimal(18446744073709551615)),
        ("'{\"a\": 1}'::JSON", pl.String, '{"a": 1}'),
        ("['a', 'b']", pl.List(pl.String), ["a", "b"]),
        ("[{'a': 1}]", pl.String, '[{"a":1}]'),
        ("'x'::ENUM ('x')", pl.String, "x"),
    ],
)  # fmt: skip
def test_a_type_that_old_readers_lack_is_one_that_they_know(
    data: Path, lake: Lake, value: str, type_: pl.DataType, found: object
) -> None:
    publish(data, lake, {OFFICES: f"SELECT {value} AS value"})
    column = read(lake, TABLE)["value"]
    assert (column.dtype, column.to_list()) == (type_, [found])
    assert DeltaTable(lake.uri(TABLE)).protocol().min_reader_version == 1


def test_a_column_without_any_value_yet_comes_with_the_first(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: "SELECT 1 AS sold, NULL AS value"})
    assert read(lake, TABLE).columns == ["sold", "_shard"]
    publish(data, lake, {OFFICES: "SELECT 1 AS sold, 2.5::DOUBLE AS value"}, number=1)
    assert rows(lake, TABLE, "sold value") == [(1, 2.5)]


def test_names_that_other_engines_refuse_are_other_ones_here(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: 'SELECT 1 AS "a b", 2 AS "a,b", 3 AS "å"'})
    assert read(lake, TABLE).columns == ["a_b", "a_b_2", "å", "_shard"]


def test_the_same_publication_writes_nothing(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: SALES})
    before = {path: path.read_bytes() for path in Path(lake.uri("")).rglob("*") if path.is_file()}
    assert lake.publish(data, now=NOON, is_personal=lambda *_: False) is None
    assert {path: path.read_bytes() for path in Path(lake.uri("")).rglob("*") if path.is_file()} == before


def test_a_table_that_is_the_same_keeps_its_version(data: Path, lake: Lake) -> None:
    tables = {OFFICES: SALES, "marts.months": "SELECT 1 AS month_count"}
    publish(data, lake, tables)
    made = publish(data, lake, {**tables, "marts.months": "SELECT 2 AS month_count"}, number=1)
    assert made == LakePublication("20261121T120001Z", written=1, unchanged=1, removed=0)
    assert (version(lake, TABLE), version(lake, "marts/months")) == (1, 2)


def test_shards_share_a_table_and_none_touches_the_others_rows(tmp_path: Path, place: str) -> None:
    north, south = Lake(place, "north"), Lake(place, "south")
    publish(tmp_path / "n", north, {OFFICES: "SELECT 1 AS sold"})
    publish(tmp_path / "s", south, {OFFICES: "SELECT 2 AS sold UNION ALL SELECT 3"})
    publish(tmp_path / "n", north, {OFFICES: "SELECT 4 AS sold"}, number=1)
    assert rows(north, TABLE, "_shard sold") == [("north", 4), ("south", 2), ("south", 3)]


def test_an_empty_table_is_there_with_its_columns_and_one_that_is_gone_has_no_rows(
    data: Path, lake: Lake
) -> None:
    publish(data, lake, {OFFICES: f"{SALES} WHERE false", "bi.old": "SELECT 1 AS a"})
    made = publish(data, lake, {OFFICES: f"{SALES} WHERE false"}, number=1)
    assert made
    assert made.removed == 1
    assert read(lake, TABLE).columns == ["office_id", "month", "sold", "commission", "_shard"]
    assert (read(lake, TABLE).height, read(lake, "bi/old").height) == (0, 0)


def test_a_new_column_rewrites_no_other_shards_rows(tmp_path: Path, lake: Lake) -> None:
    south = Lake(lake.address, "south")
    publish(tmp_path / "n", lake, {OFFICES: "SELECT 1 AS sold"})
    files = set(DeltaTable(lake.uri(TABLE)).file_uris())
    publish(tmp_path / "s", south, {OFFICES: "SELECT 2 AS sold, 'x' AS note"})
    assert files < set(DeltaTable(lake.uri(TABLE)).file_uris())
    assert rows(lake, TABLE, "_shard sold note") == [("north", 1, None), ("south", 2, "x")]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("1::INTEGER", "5000000000", [1, 5_000_000_000]),
        ("5000000000", "1::INTEGER", [1, 5_000_000_000]),
        ("1", "2.5::DOUBLE", [1.0, 2.5]),
        ("1.5::DECIMAL(4, 1)", "2.25::DECIMAL(18, 4)", [Decimal("1.5"), Decimal("2.25")]),
        ("1", "'text'", ["1", "text"]),
        ("'text'", "1", ["1", "text"]),
        ("['a', 'b']", "'c'", ["a, b", "c"]),
    ],
)
def test_a_type_is_as_wide_as_the_widest_shard_needs_it(
    tmp_path: Path, lake: Lake, first: str, second: str, found: list[object]
) -> None:
    publish(tmp_path / "n", lake, {OFFICES: f"SELECT {first} AS value"})
    publish(tmp_path / "s", Lake(lake.address, "south"), {OFFICES: f"SELECT {second} AS value"})
    assert sorted(read(lake, TABLE)["value"].to_list(), key=str) == found


def test_versions_of_a_publication_belong_together_after_a_later_one(data: Path, place: str) -> None:
    lake = Lake(place)
    both = {OFFICES: "SELECT {} AS sold", "bi.sales": "SELECT {} AS sold"}
    for number in (1, 2):
        publish(data, lake, {name: sql.format(number) for name, sql in both.items()}, number=number)
    first = {one["table_name"]: one["version"] for one in lake.publications() if one["number"] == 1}
    assert [rows(lake, path, "sold", version=first[path]) for path in ("marts/offices", "bi/sales")] == [
        [(1,)]
    ] * 2


def test_publications_of_long_ago_are_forgotten_with_their_files(data: Path, lake: Lake) -> None:
    for number in range(3):
        publish(
            data, lake, {OFFICES: f"SELECT {number} AS sold"}, number=number, now=NOON + timedelta(5 * number)
        )
    assert {one["number"] for one in lake.publications()} == {2, 3}


@pytest.mark.parametrize(
    ("owner", "step"), [(DeltaTable, "create_write_transaction"), (deltalake, "write_deltalake")]
)
def test_a_commit_that_was_taken_and_called_failed_is_made_once(
    data: Path, lake: Lake, monkeypatch: pytest.MonkeyPatch, owner: Any, step: str
) -> None:
    """The first commit makes the table, so that the one that is called failed has something to remove."""
    publish(data, lake, {"marts.sums": SALES})
    commit, failed = getattr(owner, step), list[str]()

    def taken(*arguments: Any, **named: Any) -> None:
        commit(*arguments, **named)
        if not failed:
            failed.append(step)
            raise CommitFailedError("503 Slow Down")

    before = {path: version(lake, path) for path in ("marts/sums", "_publications")}
    monkeypatch.setattr(owner, step, taken)
    publish(data, lake, {"marts.sums": SALES.replace("3 AS sold", "4 AS sold")}, number=1)
    assert failed == [step]
    assert rows(lake, "marts/sums", "sold") == [(4,)]
    assert {path: version(lake, path) - number for path, number in before.items()} == dict.fromkeys(before, 1)
    assert sorted(read(lake, "_publications")["number"]) == [1, 2]


@pytest.mark.parametrize("last", ["_note", "_vacuum"])
def test_killed_around_its_last_write_a_publication_is_there_whole_or_not_at_all(
    data: Path, place: str, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """Readers that go by `_publications` see the one before, until the next attempt writes the rest."""
    lake, names = Lake(place, "north"), ("sums", "offices")
    publish(data, lake, {f"marts.{name}": SALES for name in names})

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    def seen() -> list[list[tuple[Any, ...]]]:
        noted = read(lake, "_publications")
        latest = noted.filter(pl.col("number") == pl.col("number").max())
        versions = dict(latest.select("table_name", "version").rows())
        return [rows(lake, f"marts/{name}", "sold", version=versions[f"marts/{name}"]) for name in names]

    changed = {f"marts.{name}": SALES.replace("3 AS sold", "4 AS sold") for name in names}
    with monkeypatch.context() as patch:
        patch.setattr(Lake, last, killed)
        with pytest.raises(KeyboardInterrupt):
            publish(data, lake, changed, number=1)
    assert seen() == [[(3 if last == "_note" else 4,)]] * 2
    again = publish(data, lake, changed, number=1)
    assert (again and again.written) == (0 if last == "_note" else None)
    assert seen() == [[(4,)]] * 2
    assert sorted(set(read(lake, "_publications")["number"])) == [1, 2]


def test_a_store_that_is_often_busy_makes_no_publication_twice_or_in_part(
    addresses: dict[str, str], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers 503 to a fifth of all requests, and has carried out half of these."""
    lake, numbers = Lake("s3://busy/lake", "north"), (0, 1, 2)
    httpx.put(f"{addresses['ministack']}/busy")
    with server("liar", free_port(), addresses["ministack"], "0.2") as busy:
        _give(monkeypatch, busy)
        for number in numbers:
            changed = {"marts.sums": SALES.replace("3 AS sold", f"{number} AS sold")}
            for _ in range(5):  # as the next publications would
                with suppress(DeltaError, WarehouseError, OSError):
                    publish(data, lake, changed, number=number)
                    break
    _give(monkeypatch, addresses["ministack"])
    noted = [(one["number"], one["version"]) for one in reversed(lake.publications())]
    assert [number for number, _ in noted] == [1, 2, 3]
    assert [rows(lake, "marts/sums", "sold", version=version) for _, version in noted] == [
        [(0,)],
        [(1,)],
        [(2,)],
    ]


def _give(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    for name, value in environment_of(server).items():
        monkeypatch.setenv(name, value)


def test_a_step_whose_log_was_cut_meanwhile_begins_anew_and_gives_up_in_the_end(
    data: Path, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_rows, cuts = Lake._rows_of, 2

    def cut(self: Lake, found: DeltaTable | None) -> list[dict[str, Any]]:
        nonlocal cuts
        cuts -= 1
        if cuts >= 0:
            raise DeltaError("No files in log segment")
        return read_rows(self, found)

    monkeypatch.setattr(Lake, "_rows_of", cut)
    assert publish(data, lake, {"marts.sums": SALES}) is not None
    cuts = 99
    with pytest.raises(DeltaError, match="No files in log segment"):
        publish(data, lake, {"marts.sums": SALES}, number=1)


def test_a_file_that_no_version_has_goes_after_a_week_and_not_before(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: SALES})
    left = [Path(lake.uri(TABLE)) / "_shard=south" / f"{name}.parquet" for name in ("killed", "uploading")]
    left[0].parent.mkdir()
    for path, days in zip(left, (8, 6), strict=True):
        path.write_bytes(b"")
        os.utime(path, (time.time() - days * 86400,) * 2)
    publish(data, lake, {OFFICES: f"{SALES} WHERE false"}, number=1)
    assert [path.exists() for path in left] == [False, True]


def test_a_day_without_bounds_is_none_in_the_log_and_is_read(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: "SELECT unnest([DATE 'infinity', DATE '2026-10-01']) AS month"})
    log = "".join(path.read_text() for path in Path(lake.uri(TABLE)).rglob("*.json"))
    assert ("infinity" in log, read(lake, TABLE).height) == (False, 2)


def test_the_log_tells_no_value_of_a_column_about_a_person(data: Path, lake: Lake) -> None:
    publish(
        data, lake, {OFFICES: "SELECT 'Anna Alm' AS name, 'Anna Alm' AS free, DATE '2026-10-01' AS month"}
    )
    publish(
        data,
        lake,
        {OFFICES: "SELECT 'Anna Alm' AS name, 'Anna Alm' AS new, DATE '2026-10-01' AS month"},
        number=1,
    )
    log = "".join(path.read_text() for path in Path(lake.uri(TABLE)).rglob("*.json"))
    assert ("2026-10-01" in log, "Anna" in log) == (True, False)


def test_a_writer_of_an_earlier_epoch_is_refused_even_for_tables_that_did_not_change(
    data: Path, place: str
) -> None:
    old, new = Lake(place, "north", epoch=1), Lake(place, "north", epoch=2)
    publish(data, old, {OFFICES: SALES})
    publish(data, new, {OFFICES: SALES}, number=1)
    with pytest.raises(WarehouseError, match="another owner"):
        publish(data, old, {OFFICES: "SELECT 0 AS sold"}, number=2)
    assert rows(new, TABLE, "sold") == [(3,)]


def test_an_owner_that_is_none_any_more_writes_nothing(data: Path, tmp_path: Path) -> None:
    def lost() -> None:
        raise WarehouseError("another host owns it")

    lake = Lake(str(tmp_path / "lake"), "north", still_owner=lost)
    with pytest.raises(WarehouseError, match="another host"):
        publish(data, lake, {OFFICES: SALES})
    assert lake.table(TABLE) is None


def test_what_fails_in_the_lake_takes_no_publication_back_and_is_a_condition(tmp_path: Path) -> None:
    here = synced(tmp_path / "data", ("sales",)).with_settings(lake="ftp://nobody/there")
    finished = here.publish()
    assert (finished.publication.published, "lake could not be written" in str(finished.lake)) == (True, True)
    found = "SELECT kind, severity FROM meta.conditions WHERE kind = 'not in the lake'"
    assert here.rows(found) == [("not in the lake", "warning")]
    assert refresh_lake(here.with_settings(lake=str(tmp_path / "lake")).settings, NOON)
    assert here.rows(found) == []


def values(content: bytes) -> Iterator[str]:
    """All that a file holds as text, also what Parquet has compressed."""
    yield content.decode("utf-8", "replace")
    if content[:4] == b"PAR1":
        yield str(pl.read_parquet(io.BytesIO(content)).to_dicts())


def test_an_erasure_leaves_no_byte_of_the_person_in_data_logs_or_names(tmp_path: Path, place: str) -> None:
    here: Scenario = synced(tmp_path / "data", ("sales", "users")).with_settings(lake=place, shard="north")
    [(user, name)] = here.rows("SELECT id, name FROM bi.users WHERE name IS NOT NULL ORDER BY id LIMIT 1")
    publish(tmp_path / "other", Lake(place, "south"), {"marts.sales": "SELECT 'another' AS address"})
    assert isinstance(here.publish().lake, LakePublication)
    sought = (user, name)
    objects = open_object_store(place)

    def places() -> list[str]:
        return [
            one.key
            for one in list(objects.found())
            for text in values(objects.get(one.key) or b"")
            if any(each in text for each in sought) or any(each in one.key for each in sought)
        ]

    assert places()
    assert erase(here.settings, "user", user, clock=here.clock).problems == []
    assert places() == []
    assert read(Lake(place), "marts/sales").filter(pl.col("_shard") == "south").height == 1


def test_a_name_of_a_column_or_a_table_is_forgotten_as_well(data: Path, lake: Lake) -> None:
    publish(data, lake, {OFFICES: "SELECT 1 AS sold, 2 AS anna_alm", "bi.anna_alm": "SELECT 1 AS a"})
    publish(data, lake, {OFFICES: "SELECT 1 AS sold, 2 AS erased"}, number=1)
    lake.forget(data, lambda name: "anna" in name)
    found = [path for path in Path(lake.uri("")).rglob("*") if path.is_file()]
    assert not [
        path
        for path in found
        if "anna" in str(path) or any("anna" in text for text in values(path.read_bytes()))
    ]
    assert rows(lake, TABLE, "sold erased") == [(1, 2)]


def test_rows_of_another_shard_survive_a_cleaning(tmp_path: Path, lake: Lake) -> None:
    south = Lake(lake.address, "south")
    publish(tmp_path / "n", lake, {OFFICES: "SELECT 1 AS sold, 'Anna Alm' AS name"})
    publish(tmp_path / "s", south, {OFFICES: "SELECT 2 AS sold, 'Bo Berg' AS name"})
    publish(tmp_path / "n", lake, {OFFICES: "SELECT 1 AS sold, '–' AS name"}, number=1)
    lake.forget(tmp_path / "n", lambda _: False)
    publish(tmp_path / "s", south, {OFFICES: "SELECT 3 AS sold, 'Bo Berg' AS name"}, number=2)
    assert rows(lake, TABLE, "_shard sold name") == [("north", 1, "–"), ("south", 3, "Bo Berg")]
