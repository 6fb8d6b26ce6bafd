"""The warehouse of every test of marts."""

from __future__ import annotations

import pytest

from tests.marts.given import Given, warehouse


@pytest.fixture
def given() -> Given:
    """A warehouse without rows."""
    return warehouse()
