"""Columns of the service whose names our SQL uses too: histories and erasures still work."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.warehouse.given import USERS, Given, hours, load, table, undocumented
from warehouse.ledger.window_result import WindowResult
from warehouse.load import history, incoming, profile, schema_evolution
from warehouse.load import load as loading
from warehouse.persons import suppression
from warehouse.persons.erased_list import ErasedList, ErasedPerson
from warehouse.persons.suppression import suppress_tables
from warehouse.store import schema

MODULES = (suppression, history, incoming, loading, profile, schema, schema_evolution)
TEXTS = [
    node.value
    for module in MODULES
    for above in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))
    if not isinstance(above, ast.Expr)  # a docstring is no SQL
    for node in ast.iter_child_nodes(above)
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
]
NAMES = sorted(
    {name for text in TEXTS for name in re.findall(r"[a-z][a-z0-9_]*", text)}
    - {*USERS.columns, *schema.VALIDITY_COLUMNS, "asked_user_id"}
)
"""Every word in the texts of the modules that write SQL about tables of the service, `rowid` among them."""
KINDS: dict[str, Any] = {"BIGINT": 7, "VARCHAR": "seven"}
ROWS = "SELECT id, name, valid_from_utc, valid_to_utc FROM bi.users_history ORDER BY ALL"


def snapshot(load_id: str, names: dict[str, str], number: float, kind: str = "") -> WindowResult:
    """A snapshot of users by id, each with a column of every name, if it has a kind."""
    value = dict.fromkeys(NAMES, KINDS[kind]) if kind else {}
    more = [undocumented(name, kind) for name in value]
    found = table(USERS, [{"id": id_, "name": name, **value} for id_, name in names.items()], *more)
    return load(load_id, [found], report="users", history=True, months=(), fetched=hours(number))


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_is_the_same_whatever_columns_of_the_service_are_called(given: Given, kind: str) -> None:
    names = {"1": "Ann", "2": "Bo", "3": "Cia"}
    given.load([snapshot("a", names, 0, kind)])
    given.load([snapshot("b", {**names, "2": "Bob"}, 1, kind)])
    assert given.rows("SELECT opened, closed FROM meta.loads WHERE load_id = 'b'") == [(1, 1)]
    found = [(id_, name, ended is None) for id_, name, _, ended in given.rows(ROWS)]
    assert found == [("1", "Ann", True), ("2", "Bo", False), ("2", "Bob", True), ("3", "Cia", True)]


def test_a_history_goes_on_when_the_columns_are_gone_again(given: Given) -> None:
    given.load([snapshot("a", {"1": "Ann", "2": "Bo"}, 0, "BIGINT")])
    given.load([snapshot("b", {"1": "Ann", "2": "Bob"}, 1)])
    assert given.rows("SELECT id, name FROM bi.users ORDER BY ALL") == [("1", "Ann"), ("2", "Bob")]


def test_a_suppression_changes_the_rows_of_one_person_whatever_columns_are_called(given: Given) -> None:
    given.load([snapshot("a", {"100001": "Ann", "100002": "Bo", "100003": "Cia"}, 0, "BIGINT")])
    given.load([snapshot("b", {"100001": "Ann", "100002": "Bob", "100003": "Cia"}, 1, "BIGINT")])
    person = ErasedPerson("user", ErasedList(b"key").hash_of("user", "100002"), "gone", "")
    given.write(suppress_tables, ErasedList(b"key", (person,)), {})
    left = [("100001", "Ann"), ("100003", "Cia"), ("gone", None), ("gone", None)]
    assert [(id_, name) for id_, name, *_ in given.rows(ROWS)] == left
