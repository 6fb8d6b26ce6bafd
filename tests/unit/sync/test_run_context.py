"""Clients of a run, with the limits and logins of the settings."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from pipelines.connect.errors import AnswerTooLarge, ConnectError, Unavailable
from pipelines.connect.models import MEGABYTE
from pipelines.months import Month
from pipelines.settings.model import Customer, FunctionLogin, Settings
from pipelines.sync.run_context import RunContext, login_of
from tests.unit.connect.fake_service import ROWS, SALES, Chunks, Reply, Service, StillClock, read, reply


@pytest.mark.parametrize(
    ("said", "error", "requests"),
    [
        (reply(503), Unavailable, 5),
        (lambda _: httpx.Response(200, stream=Chunks(bytes(MEGABYTE), b"1")), AnswerTooLarge, 1),
    ],
)
async def test_the_settings_limit_the_time_and_the_bytes_of_the_clients(
    tmp_path: Path, said: Reply, error: type[ConnectError], requests: int
) -> None:
    service = Service(said)
    settings = Settings(
        base_url="https://service.example",
        username="partner",
        password=SecretStr("hush"),
        customers=(Customer(id="M1"),),
        start=Month(2024, 1),
        largest_answer_mb=1,
        data_dir=tmp_path,
    )
    context = RunContext(clock=StillClock(), transport=service)
    async with context.open_session(settings, "a run") as session:
        with pytest.raises(error):
            await session.clients("M1", SALES.path).get(SALES, read)
    assert len(service.asked) == requests


def test_the_name_of_a_login_has_its_function_and_customer() -> None:
    own, crm = ({"crm": FunctionLogin(password=SecretStr(word))} for word in ("own", "crm"))
    customers = (Customer(id="M1"), Customer(id="M2", logins=own))
    settings = Settings(username="partner", password=SecretStr("hush"), customers=customers, logins=crm)
    assert [login_of(settings, one, "/CRM/Bids/M1").name for one in customers] == [
        "the username or password of the login for crm",
        "the username or password of M2's own login for crm",
    ]


async def test_each_function_of_the_service_is_requested_with_its_own_login(tmp_path: Path) -> None:
    own = {
        "business_intelligence": {"password": "two"},
        "report": {"username": "budgets", "password": "three"},
    }
    settings = Settings.model_validate(
        {
            "base_url": "https://x.example",
            "data_dir": tmp_path,
            "username": "partner",
            "password": "one",
            "logins": own,
        }
        | {"customers": [{"id": "M1"}, {"id": "M2"}]}
    )
    service = Service(ROWS)
    context = RunContext(clock=StillClock(), transport=service)
    async with context.open_session(settings, "a run") as session:
        clients = session.clients
        for path in ("/CRM/Bids/M1", "/BusinessIntelligence/GetSalesReport", "/Report/Budget/M1/Crm"):
            await clients("M1", path).get(replace(SALES, path=path), read)
        assert clients("M2", "") is clients("M1", "")  # one that the plan turns to later has a client too
    sent = [b64decode(one.headers["authorization"].split()[1]).decode() for one in service.asked]
    assert sent == ["partner:one", "partner:two", "budgets:three"]
