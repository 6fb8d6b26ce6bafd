"""Which of DuckDB's optimizers tests do without: for a few rows most of them cost more than they gain."""

from functools import cache

import duckdb


@cache
def optimizers_to_leave_out() -> str:
    """All but three, as `disabled_optimizers` takes them.

    Without the one of unused columns DuckDB stumbles over a column of polars that has nothing but nulls.
    """
    with duckdb.connect() as connection:
        [(names,)] = connection.execute(
            "SELECT string_agg(name) FROM duckdb_optimizers() "
            "WHERE name NOT IN ('expression_rewriter', 'common_subexpressions', 'unused_columns')"
        ).fetchall()
    return str(names)
