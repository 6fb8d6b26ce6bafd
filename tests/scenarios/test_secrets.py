"""Secrets and names that no one may read: the login everywhere, contacts where a key is set."""

from __future__ import annotations

import logging
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from pydantic import SecretStr

from pipelines.catalogue.model import Column
from pipelines.normalize.tables import NormalizedTable
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import SandboxLogin, Service
from pipelines.sync.privacy import pseudonym, pseudonymize
from tests.scenarios.scenario import Scenario, files_with, scenario, synced
from warehouse.load.landing import Landing

USERNAME, PASSWORD = "chain-of-brokers", "Öppna&sesam/17"
SECRETS = (
    PASSWORD,
    b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode(),
    b64encode(PASSWORD.encode()).decode(),
)
TROUBLES = ("404 429 500", "redirect html empty", "half reset slow_start", "403", "401")
"""Those of one sync together, each with a report of its own; the last two strike all of them."""
NAMES = "SELECT lead_id, contact_first_name, contact_last_name, lead_title FROM bi.incoming_leads ORDER BY 1"
KEY = b"a key"


def test_no_error_path_leaves_the_login_in_a_log_a_sentence_or_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    reports = ("users", "commission_office", "sales")
    here = scenario(tmp_path, reports, offices=1, username=USERNAME, password=PASSWORD)
    here = replace(here, service=Service(here.service.world, logins=(SandboxLogin(USERNAME, PASSWORD),)))
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    here.sync()
    for troubles in TROUBLES:
        paths = ("/Users", "OfficeReport/", "SalesReport") if " " in troubles else (None,)
        each = zip(troubles.split(), paths, strict=True)
        faults = [Fault(kind, path=path, seconds=100) for kind, path in each]
        summary = here.sync(*faults, refresh=True)
        assert here.asked
        said += [*summary.failure_lines(), repr(summary), repr(here.settings)]
    printed = capfd.readouterr()
    said += [caplog.text, printed.out, printed.err]
    shown = [secret for secret in SECRETS if secret in "\n".join(said)]
    assert (shown, files_with(tmp_path, *SECRETS)) == ([], [])


@pytest.fixture
def named(tmp_path: Path) -> Scenario:
    return synced(tmp_path, ("tips_and_leads",))


def with_key(here: Scenario) -> Scenario:
    return here.with_settings(pseudonym_key=SecretStr("a key"))


def test_with_a_key_every_name_is_its_pseudonym_and_nothing_else_changes(named: Scenario) -> None:
    plain = named.rows(NAMES)
    with_key(named).sync(refresh=True)
    titles = {lead: title for lead, _, _, title in named.rows(NAMES)}
    hidden = [(lead, pseudonym(KEY, first), pseudonym(KEY, last)) for lead, first, last, _ in plain]
    assert [row[:3] for row in named.rows(NAMES)] == hidden
    assert [lead for lead, first, last, _ in plain if last and f"{first} {last}" in titles[lead]] == []


def test_a_replay_makes_the_same_pseudonyms_and_landing_keeps_the_names(named: Scenario) -> None:
    [(_, first, *_), *_] = named.rows(NAMES)
    with_key(named).sync(refresh=True)
    loaded = named.rows(NAMES)
    with_key(named).replay()
    assert named.rows(NAMES) == loaded
    landing = Landing(named.data_dir / "landing")
    assert any(first.encode() in body for path in landing.paths() for _, body in landing.read(path))


def test_only_after_a_replay_with_a_key_the_file_is_to_be_rewritten(named: Scenario) -> None:
    traces = "SELECT has_traces FROM meta.storage"
    named.replay()
    assert named.value(traces) is False
    with_key(named).replay()
    assert named.value(traces) is True


def test_undeclared_numbers_of_a_contact_are_removed_and_its_name_is_found_in_any_case() -> None:
    columns = ("contact_mobile", "BIGINT"), ("contact_name", "VARCHAR"), ("lead_title", "VARCHAR")
    row = [[46701234567, "Ann Ek", "ANN EK called"]]
    frame = pl.DataFrame(row, [name for name, _ in columns], orient="row")
    undeclared = tuple(Column(name, type_, name, "", documented=False) for name, type_ in columns)
    hidden = pseudonym(KEY, "Ann Ek")
    rows = pseudonymize(KEY, NormalizedTable("leads", undeclared, frame, ())).rows()
    assert rows == [(None, hidden, f"{hidden} called")]


def test_the_same_name_is_the_same_pseudonym_under_the_same_key_only() -> None:
    assert pseudonym(KEY, "Ann  EK") == pseudonym(KEY, "ann ek") != pseudonym(b"another", "ann ek")
    assert [pseudonym(KEY, None), pseudonym(KEY, " ")] == [None, " "]
