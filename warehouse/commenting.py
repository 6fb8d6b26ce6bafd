"""How do a thousand comments get into a file? One statement each, as there is no other way, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection


def comment(connection: DuckDBPyConnection, statements: Sequence[str]) -> None:
    """Run statements that only define or describe something.

    The optimizer has nothing to improve on these, and takes a quarter of their time.
    """
    if statements:
        connection.execute(";".join(["PRAGMA disable_optimizer", *statements, "PRAGMA enable_optimizer"]))
