"""The shapes by which rows were read, and the ids by which shapes are proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LOADED_SHAPES = """
SELECT report, list(DISTINCT coalesce(shape, ''))
FROM meta.loads
WHERE status = 'loaded' AND "rows" > 0 AND landing IS NOT NULL
    AND (history OR load_id IN (SELECT load_id FROM meta.months))
GROUP BY report
"""
_KNOWN_IDS = """
SELECT
    coalesce(list(DISTINCT id) FILTER (kind = 'office'), []),
    coalesce(list(DISTINCT id) FILTER (kind = 'user'), [])
FROM (
    SELECT 'office' AS kind, office_customer_id AS id FROM bi.commission_office
    UNION ALL SELECT 'user', user_id FROM bi.commission_user
    UNION ALL SELECT 'user', id FROM bi.users_history
)
WHERE id IS NOT NULL
"""


def loaded_shapes(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """The fingerprints of the shapes that loaded the rows in force, by report."""
    return {report: set(shapes) for report, shapes in connection.execute(_LOADED_SHAPES).fetchall()}


def remember_shape(connection: DuckDBPyConnection, report: str, shape: str) -> None:
    """Write down that the loads of a report are those of a shape, as far as it can read them."""
    connection.execute(
        "UPDATE meta.loads SET shape = $1 WHERE report = $2 AND status = 'loaded'", [shape, report]
    )


def known_ids(connection: DuckDBPyConnection) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of offices and of users that documented reports have stated."""
    [(offices, users)] = connection.execute(_KNOWN_IDS).fetchall()
    return frozenset(offices), frozenset(users)
