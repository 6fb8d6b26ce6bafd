"""Do secrets stay secret, and names only names, through the whole pipeline?"""

from __future__ import annotations

import logging
import shutil
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import zstandard

from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import SandboxLogin, Service
from tests.scenarios.faults.ground import Cell, Ground, Rows, ground, settings_for
from warehouse.database import Store
from warehouse.landing import Landing, safe
from warehouse.ledger import forget_caps

USERNAME, PASSWORD = "chain-of-brokers", "Öppna&sesam/17"
SECRETS = (
    PASSWORD,
    b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode(),
    b64encode(PASSWORD.encode()).decode(),
)
TROUBLES = "401 404 429 500 redirect html empty half reset slow_start 403".split()
HOSTILE = ("x'; DROP SCHEMA bi CASCADE; --", "../../outside", "<script>alert(1)</script>", 'a"b', "ö/ä?#%")


def texts(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in directory.rglob("*"):
        if path.is_file():
            packed = path.read_bytes()
            if path.name.endswith(".zst"):
                packed = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
            yield path.name, packed


def with_login(here: Ground) -> Ground:
    service = Service(here.service.world, logins=(SandboxLogin(USERNAME, PASSWORD),))
    customers = [customer.id for customer in here.settings.customers]
    start, names = here.settings.start, ("users", "commission_office", "sales")
    login = {"username": USERNAME, "password": PASSWORD}
    return replace(
        here, service=service, settings=settings_for(here.settings.data_dir, customers, start, names, **login)
    )


def test_no_error_path_leaves_the_login_in_a_log_a_sentence_or_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    here = with_login(ground(tmp_path, offices=1))
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    here.sync()
    for trouble in TROUBLES:
        summary = here.sync(Fault(trouble, seconds=100), refresh=True)
        assert here.service.log.entries
        said += [*summary.complaints(), repr(summary), repr(here.settings)]
    here.publish()
    printed = capfd.readouterr()
    said += [caplog.text, printed.out, printed.err]
    shown = [secret for secret in SECRETS if secret in "\n".join(said)]
    kept = [name for name, text in texts(tmp_path) for secret in SECRETS if secret.encode() in text]
    assert (shown, kept) == ([], [])


@cache
def synced() -> tuple[Ground, dict[Cell, Rows]]:
    here = ground(Path(mkdtemp()) / "data", reports=("sales",), offices=1)
    here.sync()
    return here, here.cells()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_customer_id_stays_a_value(tmp_path: Path, name: str) -> None:
    here, before = synced()
    shutil.copytree(here.settings.data_dir, tmp_path / "data")
    here = replace(here, settings=here.settings.model_copy(update={"data_dir": tmp_path / "data"}))
    strange = here.settings.customers[0].model_copy(update={"id": name})
    odd = replace(here, settings=here.settings.model_copy(update={"customers": (strange,)}))
    summary = odd.sync()
    assert {one.customer for one in summary.results} == {name}
    assert here.cells() == before
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    with Store(here.settings.data_dir).writing() as connection:
        forget_caps(connection, "sales", name)


@pytest.mark.parametrize("name", [*HOSTILE, ".", "..", "", "~", "a" * 300])
def test_a_name_never_leaves_its_directory(tmp_path: Path, name: str) -> None:
    writer = Landing(tmp_path).open(name, name, None, None, "load")
    path = writer.close().path
    assert (tmp_path / path).resolve().is_relative_to(tmp_path.resolve())
    assert len(Path(path).parts) == 4
    assert safe(name) not in (".", "..", "")
