"""Fixtures of the tests of the assets."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest
from dagster._core.storage.defs_state.base import set_defs_state_storage


@pytest.fixture(autouse=True)
def _no_instance_of_another_test() -> Iterator[None]:
    """Dagster looks up an instance that has ended when it resolves definitions; make it forget that one."""
    with set_defs_state_storage(None):
        yield


@pytest.fixture(autouse=True, scope="module")
def _no_instance_of_another_module() -> Iterator[None]:
    """The same for fixtures that the tests of a module share: they are made before those of a test."""
    with set_defs_state_storage(None):
        yield


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as found:
        yield found
