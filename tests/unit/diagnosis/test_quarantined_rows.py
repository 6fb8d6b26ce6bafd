"""Rows in quarantine: found where the landing file has them, or a sentence that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.diagnosis.quarantined_rows import raw_rows
from warehouse.load.landing import Landing
from warehouse.load.quarantine import fingerprint
from warehouse.store.database import Store

PAGES = (b'[{"x": 1.50}]', b'{"sales": {"S1": {"x": 0.10000000000000000001}}, "Sale_Rows": [[2]]}')


def found(data_dir: Path, place: str, raw: str, landing: str = "") -> tuple[str, str]:
    """What is shown of a row that was set aside at this place of a load, and what is said of it."""
    writer = Landing(data_dir / "landing").open("sales", "M1", None, None, "a")
    for page in PAGES:
        writer.add({"path": "/"}, page)
    path = writer.close({"used": [0, 1]}).path
    load = "SELECT 'a' AS load_id, 'sales' AS report, 'M1' AS customer"
    with Store(data_dir).writing() as file:
        file.execute(f"INSERT INTO meta.loads BY NAME {load}, $1 AS landing", [landing or path])
        file.execute(
            f"INSERT INTO meta.quarantine_rows BY NAME {load}, $1 AS place, $2 AS fingerprint, "
            "'sales' AS table_name, 'x is no number' AS reason",
            [place, fingerprint(raw)],
        )
    [row] = raw_rows(Store(data_dir))
    return row.raw, row.trouble


@pytest.mark.parametrize(
    ("place", "raw"),
    [
        ("page 1: $[0]", '{"x": 1.5}'),
        ("$[0]", '{"x": 1.5}'),
        ("page 2: $.sales.S1", '{"x": 0.10000000000000000001}'),
        ("page 2: $.sales.S1", '{"x": 0.1}'),
        ("page 2: $.saleRows[0][0]", "2"),
    ],
)
def test_a_row_is_found_as_it_came(tmp_path: Path, place: str, raw: str) -> None:
    assert found(tmp_path, place, raw) == (raw, "")


@pytest.mark.parametrize("place", ["$[0]", "$[1]", "$.a", "page 3: $[0]", "page 2: $[0]", "[0]"])
def test_no_other_row_is_shown_in_its_stead(tmp_path: Path, place: str) -> None:
    raw, trouble = found(tmp_path, place, '{"x": 1.6}')
    assert (raw, trouble.split(";")[0]) == ("", "another row stands there now")


def test_a_row_whose_landing_file_is_gone_is_told_of(tmp_path: Path) -> None:
    raw, trouble = found(tmp_path, "$[0]", '{"x": 1.50}', landing="gone.tar.zst")
    assert (raw, "gone.tar.zst is gone" in trouble) == ("", True)
