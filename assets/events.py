"""How does a verdict show in Dagster? A materialization for each finished square, with what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from assets.describing import column_schema, words_of
from assets.judging import Look, Verdict
from assets.partitions import key_of
from warehouse.window_result import WindowResult

ROWS = "dagster/partition_row_count"
ROWS_OF_ALL = "dagster/row_count"


def materializations(verdicts: Sequence[Verdict]) -> Iterator[dg.AssetMaterialization]:
    """An event for every square, and one for all customers of a report without months."""
    whole: dict[str, list[Verdict]] = {}
    for one in verdicts:
        if one.square.month is None:
            whole.setdefault(one.square.report.name, []).append(one)
        else:
            yield of_square(one)
    yield from map(of_report, whole.values())


def of_square(verdict: Verdict) -> dg.AssetMaterialization:
    """The event that turns a square green."""
    square = verdict.square
    return dg.AssetMaterialization(
        asset_key=square.report.name,
        partition=key_of(square.customer, square.month) if square.month else None,
        description=verdict.reason or None,
        metadata=_metadata(verdict),
    )


def of_report(verdicts: Sequence[Verdict]) -> dg.AssetMaterialization:
    """The event of a report without months: all its customers together."""
    report = verdicts[0].square.report
    looks = [one.look for one in verdicts if one.look]
    return dg.AssetMaterialization(
        asset_key=report.name,
        metadata={
            ROWS_OF_ALL: sum(one.rows or 0 for one in verdicts),
            "customers": len(verdicts),
            "by_customer": dg.MetadataValue.md(_table(verdicts)),
            **(of_look(looks[-1], words_of(report.tables[0])) if looks else {}),
        },
    )


def of_look(look: Look, words: Mapping[str, str]) -> dict[str, Any]:
    """Columns as they are now, with what is known of them, and some rows."""
    columns = {name: (kind, words.get(name, "")) for name, kind in look.columns.items()}
    return {
        "dagster/column_schema": column_schema(columns),
        "preview": dg.MetadataValue.md(look.preview or "no rows"),
    }


def _metadata(verdict: Verdict) -> dict[str, Any]:
    metadata: dict[str, Any] = {"state": verdict.state.value}
    if verdict.rows is not None:
        metadata[ROWS] = verdict.rows
        if verdict.rows_before is not None:
            metadata["rows_changed"] = verdict.rows - verdict.rows_before
    if verdict.rows_ahead is not None:
        metadata["rows_of_months_ahead"] = verdict.rows_ahead
    if verdict.held:
        metadata["fetched_at"] = dg.MetadataValue.timestamp(verdict.held.fetched_at_utc)
        metadata["load_id"] = verdict.held.load_id
        metadata["is_open"] = dg.MetadataValue.bool(verdict.held.state == "open")
    if verdict.outcome:
        metadata |= _measured(verdict.outcome)
    if verdict.look:
        metadata |= of_look(verdict.look, words_of(verdict.square.report.tables[0]))
    return metadata


def _measured(outcome: WindowResult) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "window": outcome.when,
        "window_requests": outcome.requests,
        "window_seconds": round(outcome.seconds, 3),
        "window_bytes": outcome.bytes,
    }
    if outcome.rejected_count:
        metadata["window_rows_in_quarantine"] = outcome.rejected_count
    if outcome.warnings:
        metadata["warnings"] = dg.MetadataValue.md("\n".join(f"- {one}" for one in outcome.warnings))
    return metadata


def _table(verdicts: Sequence[Verdict]) -> str:
    lines = ["| customer | rows | before | state |", "|---|---:|---:|---|"]
    for one in verdicts:
        rows = "" if one.rows is None else f"{one.rows:,}"
        before = "" if one.rows_before is None else f"{one.rows_before:,}"
        words = f"{one.state.value}: {one.reason}" if one.reason else one.state.value
        lines.append(f"| {one.square.customer} | {rows} | {before} | {words} |")
    return "\n".join(lines)
