"""Settings from the environment, the TOML file and files with secrets."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.settings.model import Customer, Settings, load_settings
from tests.scenarios.scenario import FastClock

ENOUGH = {
    "BROKERBI_BASE_URL": "https://service.example/api/",
    "BROKERBI_USERNAME": "partner",
    "BROKERBI_PASSWORD": "pass word",
    "BROKERBI_CUSTOMERS": "M30011,G2",
    "BROKERBI_START": "2024-01",
}
CATALOGUE = {
    name: replace(
        REPORTS["sales"], name=name, timing=replace(REPORTS["sales"].timing, enabled=name != "budgets")
    )
    for name in ("sales", "users", "tips", "budgets")
}


def load(directory: Path, file: str = "", **more: str) -> Settings:
    """Settings from enough variables with these besides, and from a file with this text."""
    if file:
        (directory / "brokerbi.toml").write_text(file, encoding="utf-8")
    return load_settings({**ENOUGH, **more}, directory=directory)


def names(customers: tuple[Customer, ...]) -> list[tuple[str, str]]:
    return [(customer.id, customer.name) for customer in customers]


def test_five_variables_suffice(tmp_path: Path) -> None:
    settings = load(tmp_path, BROKERBI_TRACEBACK="1")
    assert (settings.base_url, settings.start) == ("https://service.example/api", Month(2024, 1))
    assert (settings.data_dir, settings.timezone) == (tmp_path / "data", "Europe/Stockholm")
    assert (settings.concurrency, settings.requests_per_second, settings.page_size) == (5, 10, 1000)
    assert (settings.warnings, settings.reports, settings.today) == ((), None, None)


@pytest.mark.parametrize("written", ["M1=Office one,G2", " M1 = Office one , G2 , "])
def test_customers_may_be_written_with_commas_and_names(tmp_path: Path, written: str) -> None:
    assert names(load(tmp_path, BROKERBI_CUSTOMERS=written).customers) == [("M1", "Office one"), ("G2", "")]


ACCEPTED: dict[str, tuple[str, dict[str, str], dict[str, object]]] = {
    "the file": ('page_size = 50\nreports = ["sales"]', {}, {"page_size": 50, "reports": ("sales",)}),
    "the environment before the file": ("concurrency = 2", {"CONCURRENCY": "7"}, {"concurrency": 7}),
    "a month that TOML reads as a day": ("start = 2023-05-01", {"START": ""}, {"start": Month(2023, 5)}),
    "no export in place of the file's": (
        'export_formats = ["csv"]',
        {"EXPORT_FORMATS": ""},
        {"export_formats": ()},
    ),
    "an empty variable as not set": ("", {"CONCURRENCY": "", "CONFIG": ""}, {"concurrency": 5}),
    "plain http elsewhere if allowed": ("allow_http = true", {"BASE_URL": "http://x.example"}, {}),
    "plain http on this machine": ("", {"BASE_URL": "http://localhost:8000"}, {}),
    "plain http at its address": ("", {"BASE_URL": "http://127.0.0.1"}, {}),
    "plain http at its address in IPv6": ("", {"BASE_URL": "http://[::1]:1/x"}, {}),
    "a secret before the file's": ('password_file = "no"', {"PASSWORD": "x"}, {"password": SecretStr("x")}),
    "five fields of cron": ("", {"NIGHTLY": "30 4 1 jan Mon-FRI"}, {"nightly": "30 4 1 jan Mon-FRI"}),
    "a rate of VAT as a share": ("vat_rate = 0.25", {}, {"vat_rate": Decimal("0.25")}),
    "a rate of VAT in percent": ("", {"VAT_RATE": "25"}, {"vat_rate": Decimal("0.25")}),
    "mailboxes separated by commas": (
        'alert_email_from = "bi@example.com"\nalert_smtp_host = "mail.example.com"',
        {"ALERT_EMAIL_TO": "a@example.com, b@example.com"},
        {"alert_email_to": ("a@example.com", "b@example.com"), "alert_smtp_port": 587},
    ),
}


@pytest.mark.parametrize(("file", "variables", "expected"), ACCEPTED.values(), ids=list(ACCEPTED))
def test_settings_are_accepted(
    tmp_path: Path, file: str, variables: dict[str, str], expected: dict[str, object]
) -> None:
    settings = load(tmp_path, file, **{f"BROKERBI_{name}": value for name, value in variables.items()})
    assert {name: getattr(settings, name) for name in expected} == expected


def test_paths_are_relative_to_the_file_that_has_them_or_to_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "brokerbi.toml").write_text('data_dir = "rows"\n')
    there = load(tmp_path, BROKERBI_CONFIG="elsewhere/brokerbi.toml")
    here = load(tmp_path, BROKERBI_DATA_DIR="rows")
    assert (there.data_dir, here.data_dir) == (tmp_path / "elsewhere" / "rows", tmp_path / "rows")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("IMAGE", "."),
        ("PASSWRD", "; did you mean BROKERBI_PASSWORD?"),
        ("TRY_SECONDS", "; did you mean BROKERBI_RETRY_SECONDS?"),
        ("CUSTOMER", "; did you mean BROKERBI_CUSTOMERS?"),
        ("CONFG", "; did you mean BROKERBI_CONFIG?"),
    ],
)
def test_an_unknown_variable_causes_a_warning_with_the_most_similar_name(
    tmp_path: Path, name: str, hint: str
) -> None:
    settings = load(tmp_path, **{f"BROKERBI_{name}": "hush", "PATH": "/bin"})
    assert settings.warnings == (f"BROKERBI_{name} is not a setting and was ignored{hint}",)


def test_an_unknown_key_of_the_file_causes_a_warning_with_the_most_similar_name(tmp_path: Path) -> None:
    warnings = load(tmp_path, "consurrency = 3\nBROKERBI_CONCURRENCY = 3").warnings
    said = f"in {tmp_path}/brokerbi.toml is not a setting and was ignored; did you mean concurrency?"
    assert warnings == tuple(f"{key} {said}" for key in ("consurrency", "BROKERBI_CONCURRENCY"))


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", "hush hush "),
        ("alert_webhook", "https://chat.example/hush"),
        ("alert_smtp_password", "hush"),
        ("pseudonym_key", "hüsh-hush"),
    ],
)
def test_every_secret_may_be_in_a_file_and_is_never_shown(tmp_path: Path, name: str, secret: str) -> None:
    (tmp_path / "secret").write_text(f"\ufeff{secret}\n", encoding="utf-8")
    given = {
        "BROKERBI_PASSWORD": "" if name == "password" else "x",
        f"BROKERBI_{name.upper()}_FILE": "secret",
    }
    settings = load(tmp_path, **given)
    assert getattr(settings, name).get_secret_value() == secret
    assert "hush" not in repr(settings)


def test_secrets_are_the_only_settings_that_may_be_in_files() -> None:
    secrets = {name for name, field in Settings.model_fields.items() if field.annotation is SecretStr}
    assert {f"{name}_file" for name in secrets} == {
        name for name in Settings.model_fields if name.endswith("_file")
    }  # a name without a _file would be accepted in the settings file, and quoted


def test_a_customer_may_have_its_own_password_or_its_own_login(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of M2", encoding="utf-8")
    file = 'customers = [{id="M1"}, {id="M2", password_file="secret"}, {id="M3", username="m3"}]'
    settings = load(tmp_path, file, BROKERBI_CUSTOMERS="", BROKERBI_CUSTOMER__M3__PASSWORD="of M3")
    assert [settings.login_of(customer) for customer in settings.customers] == [
        ("partner", SecretStr("pass word")),
        ("partner", SecretStr("of M2")),
        ("m3", SecretStr("of M3")),
    ]


CRM, DEPOSIT, SALES = (
    "/CRM/Bids/M1",
    "/CRM/Economy/M1/CRM/Estate/E1/deposit",
    "/BusinessIntelligence/GetSalesReport",
)
FUNCTIONS = """
[logins.crm]
password_file = "crm"
[[customers]]
id = "M1"
[[customers]]
id = "M2"
password_file = "of M2"
[customers.logins.crm_economy]
username = "economy"
"""


def test_a_login_for_a_function_may_be_shared_or_of_one_customer(tmp_path: Path) -> None:
    for name in ("crm", "of M2"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    own = {"BROKERBI_CUSTOMER__M2__LOGIN__CRM_ECONOMY__PASSWORD": "economy of M2", "BROKERBI_CUSTOMERS": ""}
    settings = load(tmp_path, FUNCTIONS, **own)
    used = [
        settings.login_of(customer, path) for customer in settings.customers for path in (SALES, CRM, DEPOSIT)
    ]
    assert [(username, password.get_secret_value()) for username, password in used] == [
        *[("partner", "pass word"), ("partner", "crm"), ("partner", "crm")],
        *[("partner", "of M2"), ("partner", "of M2"), ("economy", "economy of M2")],
    ]


def test_customers_named_in_the_environment_keep_their_values_from_the_file(tmp_path: Path) -> None:
    customer = '{id="M1", name="Office one", region="Coast", active=false, password_file="gone"}'
    settings = load(tmp_path, f'customers = [{customer}, {{id="M2"}}]', BROKERBI_CUSTOMERS="M1,M9")
    assert settings.warnings == ("BROKERBI_CUSTOMERS overrides the file; not used: M2.",)
    assert names(settings.customers) == [("M1", "Office one"), ("M9", "")]
    assert names(settings.active_customers) == [("M9", "")]
    assert [customer.region for customer in settings.customers] == ["Coast", ""]


def test_reading_requires_neither_customers_nor_a_login_and_opens_no_secret(tmp_path: Path) -> None:
    (tmp_path / "brokerbi.toml").write_text('password_file = "unreadable"', encoding="utf-8")
    settings = load_settings({"BROKERBI_DATA_DIR": "kept"}, directory=tmp_path, reading=True)
    assert (settings.data_dir, settings.customers) == (tmp_path / "kept", ())


@pytest.mark.parametrize(
    ("written", "chosen"),
    [
        ("", ("sales", "users", "tips")),
        ("tips, sales", ("sales", "tips")),
        ("+budgets,-users", ("sales", "tips", "budgets")),
        ("-sales", ("users", "tips")),
    ],
)
def test_reports_are_named_added_or_removed(tmp_path: Path, written: str, chosen: tuple[str, ...]) -> None:
    settings = load(tmp_path, BROKERBI_REPORTS=written)
    assert tuple(one.name for one in chosen_reports(settings, Selection(), CATALOGUE)) == chosen


def test_today_is_the_local_day_of_the_brokerage_unless_the_settings_name_one(tmp_path: Path) -> None:
    last_evening = FastClock(datetime(2023, 12, 31, 23, 30, tzinfo=UTC))
    assert load(tmp_path).today_local(last_evening) == date(2024, 1, 1)
    rehearsal = load(tmp_path, BROKERBI_TODAY="2022-02-28", BROKERBI_BASE_URL="http://localhost")
    assert rehearsal.today_local(last_evening) == date(2022, 2, 28)


def test_neither_settings_nor_customers_show_a_login(tmp_path: Path) -> None:
    own = {"BROKERBI_CUSTOMER__G2__PASSWORD": "of G2", "BROKERBI_CUSTOMER__G2__USERNAME": "g-two"}
    own |= {"BROKERBI_LOGIN__CRM__USERNAME": "crm-user", "BROKERBI_LOGIN__CRM__PASSWORD": "of crm"}
    settings = load(tmp_path, **own)
    shown = f"{settings!r} {settings} {settings.model_dump()['password']}"
    assert [
        word for word in ("pass word", "partner", "of G2", "g-two", "crm-user", "of crm") if word in shown
    ] == []
