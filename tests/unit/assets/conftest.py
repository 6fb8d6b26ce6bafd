"""In which quiet does each of these tests begin? Dagster forgets the instance of the test before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dagster._core.storage.defs_state.base import set_defs_state_storage


@pytest.fixture(autouse=True)
def _no_instance_of_another_test() -> Iterator[None]:
    """An instance that has ended may still be looked up when definitions are resolved."""
    with set_defs_state_storage(None):
        yield
