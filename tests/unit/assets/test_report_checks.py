"""Tests of the checks of reports: each report has its own, and what offends one says so at that report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from assets.definitions import build_definitions
from assets.report_checks import check_keys, report_check_results
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import M16, RUNNING, harness
from warehouse.ledger.ledger import deny

CHECKS = {"columns_are_known", "documented_keys_are_unique", "is_read", "rows_are_loaded", "volume_is_usual"}


def test_every_report_has_the_same_checks_but_for_ids_that_it_has_not(tmp_path: Path) -> None:
    keys = build_definitions(harness(tmp_path).project).resolve_asset_graph().asset_check_keys
    of_reports = {
        name: {key.name for key in keys if key.asset_key == dg.AssetKey(name)} for name in ("users", RUNNING)
    }
    assert of_reports == {"users": CHECKS, RUNNING: CHECKS - {"documented_keys_are_unique"}}


def test_a_check_names_every_customer_that_offends_it(tmp_path: Path) -> None:
    made = harness(tmp_path)
    with made.project.store.writing() as connection:
        for customer in ("M1", "M2"):
            deny(connection, RUNNING, customer, datetime(2026, 1, 1, tzinfo=UTC))
        connection.execute(
            "INSERT INTO meta.loads (report, customer, status, fetched_at_utc) "
            "SELECT report, customer, 'loaded', '2025-12-01' FROM meta.access"
        )
    key = dg.AssetCheckKey(dg.AssetKey(RUNNING), "is_read")
    [found] = report_check_results(made.project.store, [key])
    assert "No: customer M1, M2; state right lost" in (found.description or "")


def test_what_is_wrong_with_a_report_is_seen_at_its_check(tmp_path: Path) -> None:
    """A lost right, rows in quarantine, a column nobody knows, and a month of a strange volume."""
    made = harness(tmp_path)
    made.run(first="G1|2026-01", last="M30017|2026-11")
    lost_right = Fault("403", path="RunningCommissions", customer=M16)
    made.service.faults.switch([lost_right, Fault("wrong_types", path="RunningCommissions", share=0.5)])
    made.run(first="G1|2026-11", last="M30017|2026-11")
    with made.project.store.writing() as connection:
        connection.execute("UPDATE meta.columns SET first_seen_utc = now()::TIMESTAMP - INTERVAL 9 DAY")
        connection.execute(
            "UPDATE meta.columns SET first_seen_utc = now()::TIMESTAMP, documented = false "
            "WHERE table_name = 'running_commissions' AND position = 1"
        )
        connection.execute("UPDATE meta.months SET rows = 100 WHERE month < '2026-10-01'")
        connection.execute("UPDATE meta.months SET rows = 1, state = 'held' WHERE month = '2026-10-01'")
    keys = [key for key in check_keys(made.project) if key.asset_key == dg.AssetKey(RUNNING)]
    found = {one.check_name: one.passed for one in report_check_results(made.project.store, keys)}
    assert found == dict.fromkeys(CHECKS - {"documented_keys_are_unique"}, False)
