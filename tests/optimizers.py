"""Which of DuckDB's optimizers tests do without: for a few rows most of them cost more than they gain."""

from functools import cache

import duckdb


@cache
def optimizers_to_leave_out() -> str:
    """All but two, as `disabled_optimizers` takes them."""
    with duckdb.connect() as connection:
        [(names,)] = connection.execute(
            "SELECT string_agg(name) FROM duckdb_optimizers() "
            "WHERE name NOT IN ('expression_rewriter', 'common_subexpressions')"
        ).fetchall()
    return str(names)
