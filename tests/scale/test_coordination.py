"""The database that hosts share may vanish, come back and be new; a shard has one owner."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from pipelines.clock import SystemClock
from pipelines.connect.database_pace import DatabasePace
from pipelines.connect.rate_limit import Grant, RateLimit
from pipelines.coordination import (
    Claim,
    CoordinationError,
    Database,
    NotOwner,
    OutOfReach,
    Ownership,
    run_once,
)
from pipelines.diagnosis.installation import coordination_findings
from pipelines.planning.selection import Selection
from pipelines.settings.model import Customer, Settings
from pipelines.sync.run_context import claim_of
from pipelines.sync.sync import sync
from pipelines.upkeep.finish import finish
from tests.scale.conftest import Cluster
from warehouse.ledger.conditions import Severity

Address = Callable[..., SecretStr]
NOBODY = SecretStr("postgresql://somebody:hush@127.0.0.1:1/nothing")


def pace_of(url: SecretStr, *, patience: float = 5, rate: float = 1000) -> DatabasePace:
    clock = SystemClock()
    connection = Database(url, clock, patience=patience)
    return DatabasePace(connection, "https://service.test", 5, rate, clock=clock)


def claim(url: SecretStr, directory: Path) -> Claim:
    return Claim(url, "north", directory, "a login", 10, 5)


async def test_hosts_that_start_at_once_make_the_tables_once(database: Address) -> None:
    paces = [pace_of(database()) for _ in range(8)]
    async with asyncio.timeout(30):
        grants = await asyncio.gather(*(pace.take("somebody") for pace in paces))
    assert sum(isinstance(grant, Grant) for grant in grants) == 5
    await asyncio.gather(*(pace.aclose() for pace in paces))


async def test_logins_have_a_pace_each_and_their_names_are_nowhere(database: Address) -> None:
    pace = pace_of(database(), rate=0.1)
    assert [isinstance(await pace.take(name), Grant) for name in ("somebody", "else")] == [True, True]
    await pace.aclose()
    rows = run_once(database(), "SELECT pace::text FROM brokerbi.pace AS pace")
    assert (len(rows), "somebody" in str(rows)) == (2, False)


async def test_a_database_out_of_reach_ends_in_one_error_with_a_remedy_and_without_its_password() -> None:
    limit = RateLimit(pace_of(NOBODY, patience=0.1), 5)
    with pytest.raises(OutOfReach) as lost:
        async with asyncio.timeout(30), limit.turn("somebody"):
            pass
    assert ("BROKERBI_COORDINATION_URL" in lost.value.remedy, "hush" in str(lost.value)) == (True, False)
    began = time.monotonic()
    with pytest.raises(OutOfReach):  # and at once from then on
        async with limit.turn("somebody"):
            pass
    assert time.monotonic() - began < 0.1


async def test_a_database_that_accepts_and_says_nothing_is_out_of_reach_as_well() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = SecretStr(f"postgresql://127.0.0.1:{silent.getsockname()[1]}/nothing")
        with pytest.raises(OutOfReach):
            async with asyncio.timeout(30):
                await pace_of(url, patience=0.1).take("somebody")


def test_an_address_that_is_none_is_not_quoted() -> None:
    with pytest.raises(CoordinationError) as wrong:
        run_once(SecretStr("postgresql://somebody:hu%sh@127.0.0.1/nothing"), "SELECT 1")
    assert "hu%sh" not in str(wrong.value)


async def test_a_database_that_lost_power_is_waited_for_and_knows_who_holds_what(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS brokerbi CASCADE")
    pace = pace_of(SecretStr(cluster.url), patience=30)
    held = [await pace.take("somebody") for _ in range(5)]
    cluster.stop("immediate")
    waiting = asyncio.create_task(pace.take("somebody"))
    await asyncio.sleep(0.1)
    cluster.start()
    assert (await waiting, all(isinstance(one, Grant) for one in held)) == (0.0, True)
    await pace.aclose()


async def test_a_rate_halved_by_the_last_request_of_a_run_is_known_to_the_next(database: Address) -> None:
    pace = pace_of(database())
    await pace.take("somebody")
    for _ in range(4):  # many at once count once
        pace.slow_down()
        await pace.take("somebody")
    pace.slow_down()
    await pace.aclose()
    assert run_once(database(), "SELECT halvings FROM brokerbi.pace") == [(1,)]


def test_the_owner_of_a_shard_goes_on_owning_it(database: Address, tmp_path: Path) -> None:
    epochs = [claim(database("Asia/Tokyo"), tmp_path).make().epoch for _ in range(3)]
    assert epochs == [1, 1, 1]


def test_another_directory_is_refused_and_told_who_owns_the_shard(database: Address, tmp_path: Path) -> None:
    claim(database(), tmp_path / "one").make()
    for _ in range(2):
        with pytest.raises(NotOwner, match=rf"north .* {socket.gethostname()} .* UTC.*--take-over"):
            claim(database(), tmp_path / "other").make()
    assert claim(database(), tmp_path / "one").make().epoch == 1


def test_a_copy_of_the_directory_is_found_out(database: Address, tmp_path: Path) -> None:
    claim(database(), tmp_path / "one").make()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    claim(database(), tmp_path / "one").make()
    with pytest.raises(NotOwner):
        claim(database(), tmp_path / "copy").make()


def test_who_was_taken_over_can_make_nothing_visible_any_more(database: Address, tmp_path: Path) -> None:
    first = claim(database(), tmp_path / "one").make()
    second = claim(database(), tmp_path / "other").make(take_over=True)
    second.check()
    with pytest.raises(NotOwner):
        first.check()
    with pytest.raises(NotOwner):
        claim(database(), tmp_path / "one").make()
    assert second.epoch == 2


def test_a_claim_that_broke_off_after_the_database_knew_of_it_is_made_again(
    database: Address, tmp_path: Path
) -> None:
    file = tmp_path / "work" / "owner"
    claim(database(), tmp_path).make()
    before = file.read_text()
    claim(database(), tmp_path).make()
    file.write_text(f"{file.read_text()}\n{before}")  # as it is between the two
    assert claim(database(), tmp_path).make().epoch == 1


def test_an_ownership_that_nobody_could_ask_for_makes_nothing_visible(
    database: Address, tmp_path: Path
) -> None:
    claim(database(), tmp_path).make()
    with pytest.raises(NotOwner):
        Ownership(database(), "north", epoch=0).check()
    with pytest.raises(OutOfReach):
        Ownership(NOBODY, "north", epoch=1).check()


def shard_of(directory: Path, url: SecretStr, name: str) -> Settings:
    return Settings(
        base_url="https://service.test",
        username="somebody",
        customers=(Customer(id="M1"),),
        data_dir=directory,
        coordination_url=url,
        shard=name,
        requests_per_second=4,
    )


def claimed(directory: Path, url: SecretStr, name: str) -> None:
    claim = claim_of(shard_of(directory, url, name))
    assert claim is not None
    claim.make()


def test_the_doctor_says_whether_the_database_answers_who_owns_the_shard_and_how_all_count(
    database: Address, tmp_path: Path
) -> None:
    settings = shard_of(tmp_path / "one", database(), "north")
    before = {one.subject: one.found for one in coordination_findings(settings)}
    claimed(tmp_path / "one", database(), "north")
    claimed(tmp_path / "two", database(), "south")
    after = {one.subject: one.found for one in coordination_findings(settings)}
    assert before["shard"] == "nobody owns north yet"
    assert after["shard"] == "this data directory owns north"
    assert re.search(r"answers in \d+ ms; our clock is \d+\.\d s (ahead of|behind)", after["coordination"])
    assert after["pace"].startswith("north 4/s and 5, south 4/s and 5 in flight; counted together")


def test_the_doctor_names_the_owner_of_a_shard_that_another_directory_has(
    database: Address, tmp_path: Path
) -> None:
    claimed(tmp_path / "one", database(), "north")
    [finding] = coordination_findings(shard_of(tmp_path / "two", database(), "north"))
    assert (finding.severity, "--take-over" in finding.remedy) == (Severity.ERROR, True)


def test_neither_a_sync_nor_a_publication_of_another_directory_begins(
    database: Address, tmp_path: Path
) -> None:
    claimed(tmp_path / "one", database(), "north")
    other = shard_of(tmp_path / "two", database(), "north")
    with pytest.raises(NotOwner):
        sync(other, Selection())
    with pytest.raises(NotOwner):
        finish(other)
