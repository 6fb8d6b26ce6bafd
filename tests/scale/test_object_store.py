"""Object stores: what archive and lake rely on holds for a directory and two servers; a liar is found."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from pipelines.diagnosis.installation import sink_findings
from tests.scale.conftest import environment_of, free_port, server
from tests.unit.assets.harness import settings
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Severity
from warehouse.store.object_store import open_object_store


def test_an_object_is_written_once(place: str) -> None:
    objects = open_object_store(place)
    assert [objects.put_new("a/b", content) for content in (b"1", b"2")] == [True, False]
    assert objects.get("a/b") == b"1"


def test_objects_are_listed_by_folder_and_deleted(place: str) -> None:
    objects = open_object_store(place)
    for key in ("a/b%2Ec/x", "a/bc/y", "z"):
        objects.put_new(key, b"")
    assert [one.key for one in objects.found("a/b%2Ec")] == ["a/b%2Ec/x"]
    objects.delete(["a/b%2Ec/x", "never there"])
    assert sorted(one.key for one in objects.found()) == ["a/bc/y", "z"]
    assert objects.get("a/b%2Ec/x") is None


def test_a_store_that_keeps_its_promises_is_proven_and_left_as_it_was(place: str) -> None:
    objects = open_object_store(place)
    assert objects.prove() == ""
    assert list(objects.found()) == []


def test_doctor_refuses_a_server_that_accepts_the_second_object(
    addresses: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpx.put(f"{addresses['moto']}/liar")
    given = settings(tmp_path).model_copy(update={"landing_archive": "s3://liar/a", "lake": "s3://liar/b"})
    with server("liar", free_port(), addresses["moto"]) as liar:
        for name, value in environment_of(liar).items():
            monkeypatch.setenv(name, value)
        found = list(sink_findings(given))
    assert [(one.subject, one.severity) for one in found] == [
        ("archive", Severity.ERROR),
        ("lake", Severity.ERROR),
    ]
    assert all("accepts a second object" in one.found for one in found)


@pytest.mark.parametrize("address", ["s3://nobody/there", "ftp://host/x", "/proc/nowhere"])
def test_what_cannot_be_used_is_an_error_that_names_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with pytest.raises(WarehouseError, match=address):
        open_object_store(address).prove()
