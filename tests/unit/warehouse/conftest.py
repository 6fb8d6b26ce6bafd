"""The store of every test of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.warehouse.given import Given


@pytest.fixture
def given(tmp_path: Path) -> Given:
    return Given(tmp_path)
