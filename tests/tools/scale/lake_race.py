"""Race into one lake: processes that are killed at random, a reader ten times a second, and owners of before.

    .venv-scale/bin/python -m tests.tools.scale.lake_race [--on directory|moto|ministack] [--replacements 200]

Each process is a shard that publishes two tables of twelve months under one number. Afterwards every version
of every table is read once more, from the JSON of the logs and with DuckDB, without the library that wrote
them. Exits 1 when a month is twice or not at all in any version, tables of two publications are beside each
other, a publication is missing, or an owner of before wrote something.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import httpx
import polars as pl

from tests.scale.conftest import environment_of, free_port, server
from tests.scale.lakes import give_publication
from tests.tools.telling import conclude, say
from warehouse.errors import WarehouseError
from warehouse.publishing.lake import Lake
from warehouse.store.object_store import ObjectStore, open_object_store

MONTHS = "SELECT i AS month, {0} AS number FROM range(12) months(i)"
TABLES = {"marts.months": MONTHS, "bi.sales": MONTHS}
PATHS = ("marts/months", "bi/sales")


def publish(place: str, shard: str, data_dir: Path, number: int, epoch: int | None = None) -> None:
    give_publication(data_dir, {name: sql.format(number) for name, sql in TABLES.items()}, number=number)
    lake = Lake(place, shard, epoch=epoch)
    lake.publish(data_dir, now=datetime.now(UTC), is_personal=lambda *_: False)
    for kept in sorted((data_dir / "published").glob("*.duckdb*"))[:-4]:
        kept.unlink()


def work(place: str, shard: str, data_dir: Path, last: int, epoch: int) -> None:
    """Publish one number after the other, from where the lake is."""
    known = Lake(place, shard).publications()
    for number in range((known[0]["number"] if known else 0) + 1, last + 1):
        publish(place, shard, data_dir, number, epoch)


def start(place: str, shard: str, data_dir: Path, last: int, epoch: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "tests.tools.scale.lake_race", "--work"]
    return subprocess.Popen(
        [*words, place, shard, str(data_dir), str(last), str(epoch)], stderr=subprocess.PIPE
    )


class Reader(threading.Thread):
    """Looks at every shard as an analyst does, and notes what no analyst may see."""

    def __init__(self, place: str, pause: float) -> None:
        super().__init__()
        self.pause = pause
        self.place, self.wrong, self.looks, self.ended = place, list[str](), 0, threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            began = time.monotonic()
            try:
                self.look()
                self.looks += 1
            except Exception as error:  # noqa: BLE001 whatever a reader meets is the finding
                if not isinstance(error, FileNotFoundError) and "TableNotFound" not in type(error).__name__:
                    self.wrong.append(f"{type(error).__name__}: {str(error)[:200]}")
            self.ended.wait(max(0.0, self.pause - (time.monotonic() - began)))

    def look(self) -> None:
        lake = Lake(self.place)
        noted = pl.read_delta(lake.uri("_publications"))
        newest = noted.filter(pl.col("number") == pl.col("number").max().over("_shard"))
        for (shard,), rows in newest.group_by("_shard"):
            versions = dict(rows.select("table_name", "version").rows())
            found = {self.numbers(lake, path, str(shard), versions[path]) for path in PATHS}
            if len(found) > 1:
                self.wrong.append(f"{shard}: tables of several publications: {found}")
        for path in PATHS:
            whole = pl.read_delta(lake.uri(path))
            for (shard,), rows in whole.group_by("_shard"):
                self.check(f"{path} of {shard} as it is now", rows)

    def numbers(self, lake: Lake, path: str, shard: str, version: int) -> tuple[int, ...]:
        rows = pl.read_delta(lake.uri(path), version=version).filter(pl.col("_shard") == shard)
        self.check(f"{path} of {shard} at {version}", rows)
        return tuple(sorted(set(rows["number"].to_list())))

    def check(self, what: str, rows: pl.DataFrame) -> None:
        months, numbers = Counter(rows["month"].to_list()), set(rows["number"].to_list())
        if months != Counter(range(12)) or len(numbers) != 1:
            self.wrong.append(f"{what}: months {dict(months)}, numbers {numbers}")


Versions = list[dict[str, set[str]]]
"""The names of the files of each shard, by version of a table."""


def logged(objects: ObjectStore, path: str) -> Versions:
    """All versions of a table by its log, which must begin with the first one and have no gap."""
    at: Versions = [{}]
    for version in range(sum(one.key.endswith(".json") for one in objects.found(f"{path}/_delta_log"))):
        now = {shard: set(files) for shard, files in at[-1].items()}
        content = objects.get(f"{path}/_delta_log/{version:020}.json")
        assert content is not None, f"{path} has no version {version}"
        actions = [json.loads(line) for line in content.splitlines()]
        for kind, change in (("remove", set.discard), ("add", set.add)):
            for action in (one[kind] for one in actions if kind in one):
                folder, _, file = action["path"].rpartition("/")
                change(now.setdefault(folder.removeprefix("_shard="), set()), file)
        at.append(now)
    return at[1:]


def audit(place: str, folder: Path, shards: list[str], replacements: int) -> Iterator[str]:
    """What is wrong in any version that ever was, or in what `_publications` says of them."""
    objects, copies, data = open_object_store(place), folder / "copies", duckdb.connect()
    copies.mkdir()
    keys = [
        one.key for one in objects.found() if one.key.endswith(".parquet") and "_delta_log" not in one.key
    ]
    shard_of = {}
    for key in keys:
        name = key.rpartition("/")[2]
        (copies / name).write_bytes(objects.get(key) or b"")
        shard_of[name] = key.split("/")[-2].removeprefix("_shard=")
    each = "SELECT parse_filename(filename), month, number FROM read_parquet($1, filename = true)"
    of_tables = [str(copies / key.rpartition("/")[2]) for key in keys if key.startswith(PATHS)]
    rows: dict[str, list[tuple[int, int]]] = {}
    for name, month, number in data.execute(each, [of_tables]).fetchall():
        rows.setdefault(name, []).append((month, number))
    numbers: dict[tuple[str, str, int], int] = {}
    for path in PATHS:
        yield from unsound(path, logged(objects, path), rows, numbers)
    counts: Counter[str] = Counter()
    for name in (name for names in logged(objects, "_publications")[-1].values() for name in names):
        shard = shard_of[name]
        said = "SELECT number, table_name, version FROM read_parquet($1)"
        for number, path, version in data.execute(said, [str(copies / name)]).fetchall():
            counts[shard] += 1
            if numbers.get((path, shard, version)) != number and shard in shards:
                yield f"{shard} {number}: {path} at {version} has {numbers.get((path, shard, version))}"
    for shard in shards:
        if counts[shard] != replacements * len(PATHS):
            yield f"{shard} has {counts[shard]} tables of publications"
    say(f"{len(numbers)} states of shards read from the logs, {len(keys)} files")


def unsound(
    path: str,
    versions: Versions,
    rows: dict[str, list[tuple[int, int]]],
    numbers: dict[tuple[str, str, int], int],
) -> Iterator[str]:
    """The states of shards without each month once of one publication; their numbers are added."""
    for version, held in enumerate(versions):
        for shard, names in held.items():
            found = [row for name in names for row in rows[name]]
            if not found:
                continue
            if sorted(month for month, _ in found) != list(range(12)) or len({n for _, n in found}) > 1:
                yield f"{path} of {shard} at {version}: {sorted(found)}"
            numbers[path, shard, version] = number = found[0][1]
            if number < (before := numbers.get((path, shard, version - 1), 0)):
                yield f"{path} of {shard} at {version}: {number} after {before}"


def race(
    place: str, folder: Path, processes: int, replacements: int, pause: float, look: float
) -> tuple[int, Reader]:
    """Let every shard publish all numbers, killing one of them every few seconds; the kills."""
    shards = {f"s{number}": folder / f"s{number}" for number in range(processes)}
    running = {shard: start(place, shard, data, replacements, 1) for shard, data in shards.items()}
    reader, kills = Reader(place, look), 0
    reader.start()
    while running:
        time.sleep(random.uniform(pause / 4, pause))
        at_work = dict(running)
        for shard, process in list(running.items()):
            if process.poll() == 0:
                del running[shard]
            elif process.poll() is not None:
                if process.returncode != -signal.SIGKILL:
                    reader.wrong.append(
                        f"{shard} ended: {(process.stderr.read() if process.stderr else b'')[-400:]!r}"
                    )
                running[shard] = start(place, shard, shards[shard], replacements, 1)
        victims = [process for shard, process in at_work.items() if running.get(shard) is process]
        if victims:
            random.choice(victims).kill()
            kills += 1
    reader.ended.set()
    reader.join()
    for shard in shards:
        if (known := Lake(place, shard).publications())[0]["number"] != replacements:
            reader.wrong.append(f"{shard} ended at {known[0]['number']}")
    return kills, reader


def stale_owners(place: str, folder: Path, times: int) -> list[str]:
    """Stop an owner in the middle of anything, let another one take over, and wake the first."""
    wrong = []
    for turn in range(times):
        shard = f"stale{turn}"
        publish(place, shard, folder / f"{shard}-old", 1, 1)
        old = start(place, shard, folder / f"{shard}-old", 1000, 1)
        time.sleep(random.uniform(1.5, 4))
        old.send_signal(signal.SIGSTOP)
        publish(place, shard, folder / f"{shard}-new", 5000 + turn, 2)
        at = Lake(place, shard).publications()[0]
        old.send_signal(signal.SIGCONT)
        _, said = old.communicate(timeout=120)
        now = Lake(place, shard).publications()[0]
        rows = [pl.read_delta(Lake(place).uri(path)).filter(pl.col("_shard") == shard) for path in PATHS]
        numbers = {number for one in rows for number in one["number"].to_list()}
        if b"another owner" not in said or now != at or numbers != {5000 + turn}:
            wrong.append(f"{shard}: {numbers}, {said[-300:]!r}")
    return wrong


@contextmanager
def place_on(kind: str, folder: Path) -> Iterator[str]:
    if kind == "directory":
        yield str(folder / "lake")
        return
    with server(kind, free_port()) as address:
        os.environ.update(environment_of(address))
        httpx.put(f"{address}/race")
        yield "s3://race/lake"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", choices=["directory", "moto", "ministack"], default="directory")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--replacements", type=int, default=200)
    parser.add_argument("--pause", type=float, default=8, help="the most seconds between two kills")
    parser.add_argument("--look", type=float, default=0.1, help="seconds between two looks of the reader")
    parser.add_argument("--stale", type=int, default=10)
    parser.add_argument("--work", nargs=5)
    arguments = parser.parse_args()
    if arguments.work:
        place, shard, data_dir, last, epoch = arguments.work
        try:
            work(place, shard, Path(data_dir), int(last), int(epoch))
        except WarehouseError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        return 0
    with tempfile.TemporaryDirectory() as folder, place_on(arguments.on, Path(folder)) as place:
        began = time.monotonic()
        kills, reader = race(
            place,
            Path(folder),
            arguments.processes,
            arguments.replacements,
            arguments.pause,
            arguments.look,
        )
        seconds = time.monotonic() - began
        say(f"{kills} kills, {reader.looks} looks, {seconds:.0f} s")
        wrong = [*reader.wrong, *stale_owners(place, Path(folder), arguments.stale)]
        shards = [f"s{number}" for number in range(arguments.processes)]
        wrong += audit(place, Path(folder), shards, arguments.replacements)
    say(
        f"{arguments.on}: {arguments.processes} processes, {arguments.replacements} publications each, "
        f"{kills} kills, "
        f"{reader.looks} looks, {seconds:.0f} s, {arguments.stale} owners of before; wrong: {len(wrong)}"
    )
    return conclude(wrong[:20])


if __name__ == "__main__":
    sys.exit(main())
