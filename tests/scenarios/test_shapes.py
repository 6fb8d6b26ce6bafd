"""Does a report that nobody has documented land whatever it turns into?"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from tests.scenarios.rehearsal import Rehearsal, rehearsal

LIVE = Selection(reports=("live_activity",), customers=("M30016",), refresh=True)


def live_world(data_dir: Path) -> Rehearsal:
    return rehearsal(data_dir, start=Month(2026, 11), as_of=date(2026, 11, 21))


def column_types(world: Rehearsal) -> dict[str, str]:
    return dict(
        world.rows(
            "SELECT column_name, type FROM meta.columns WHERE table_name = 'live_activity__users' "
            "AND column_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY position"
        )
    )


def spoil(world: Rehearsal, *kinds: str) -> None:
    world.service.faults.switch([Fault(kind, path="LiveData/Report", share=0.5) for kind in kinds])
    summary = world.sync(LIVE)
    assert summary.complaints() == []


def test_an_integer_that_turns_fractional_and_then_text_widens_in_place(tmp_path: Path) -> None:
    world = live_world(tmp_path)
    spoil(world)
    whole = column_types(world)
    spoil(world, "fractional")
    fractional = column_types(world)
    spoil(world, "text")
    text = column_types(world)
    changed = [name for name in whole if whole[name] != fractional[name]]
    assert changed
    assert all((whole[name], fractional[name]) == ("BIGINT", "DOUBLE") for name in changed)
    assert "VARCHAR" in [text[name] for name in changed]
    assert list(whole) == [name for name in text if name in whole]
    told = world.rows("SELECT from_type, to_type FROM meta.column_changes ORDER BY changed_at_utc, from_type")
    assert ("BIGINT", "DOUBLE") in told
    assert any(to_type == "VARCHAR" for _, to_type in told)


def test_no_row_is_lost_while_a_column_widens(tmp_path: Path) -> None:
    world = live_world(tmp_path)
    spoil(world)
    before = world.value("SELECT count(*) FROM bi.live_activity__users")
    spoil(world, "fractional", "text")
    assert world.value("SELECT count(*) FROM bi.live_activity__users") == before
    assert world.value("SELECT count(*) FROM meta.quarantine_rows") == 0


def test_a_new_nested_list_becomes_a_child_table_that_joins_its_parent(tmp_path: Path) -> None:
    world = live_world(tmp_path)
    spoil(world)
    tables = {
        name for (name,) in world.rows("SELECT table_name FROM meta.tables WHERE report = 'live_activity'")
    }
    spoil(world, "nested_list")
    now = {
        name for (name,) in world.rows("SELECT table_name FROM meta.tables WHERE report = 'live_activity'")
    }
    (child,) = now - tables
    parent = child.rpartition("__")[0]
    orphans = world.value(
        f"SELECT count(*) FROM bi.{child} AS child "
        f"ANTI JOIN bi.{parent} AS parent ON child._parent_row = parent._row"
    )
    assert (world.value(f"SELECT count(*) > 0 FROM bi.{child}"), orphans) == (True, 0)


def test_a_row_that_breaks_a_documented_type_waits_in_quarantine_and_the_rest_loads(tmp_path: Path) -> None:
    world = live_world(tmp_path)
    selection = Selection(reports=("sales",), refresh=True)
    world.sync(selection)
    whole = world.value("SELECT count(*) FROM bi.sales_estates")
    world.service.faults.switch([Fault("wrong_types", path="GetSalesReport", share=0.2)])
    assert world.sync(selection).is_well
    loaded = world.value("SELECT count(*) FROM bi.sales_estates")
    held = world.value("SELECT count(*) FROM meta.quarantine_rows WHERE table_name = 'sales_estates'")
    assert held > 0
    assert loaded + held == whole
