"""SQL: staging reads loaded tables and marts, marts read staging, nothing reads back; no mart is untested."""

from __future__ import annotations

import re

from tests.unit.repository.files import files_below, named, read

# Folder of sql/ -> the schemas its queries may read; the others read only meta.
MAY_READ: dict[str, set[str]] = {
    "staging": {"bi", "marts", "meta", "staging"},
    "marts": {"marts", "meta", "staging"},
    "checks": {"bi", "marts", "meta", "staging"},
    "analysis": {"marts", "meta"},
    "page": {"marts", "meta"},
    "budgets": {"bi", "marts"},
    "changes": {"marts", "meta"},
    "explain": {"marts", "meta"},
}
SCHEMAS = set().union(*MAY_READ.values())
SOURCE = re.compile(r"\b(?:from|join)\s+([a-z]+)\.[a-z_]+", re.IGNORECASE)
COMMENT = re.compile(r"--.*")
QUERIES = files_below("sql", ending=".sql")
ON_A_CONNECTION = re.compile(r"\.(execute(many)?\(|(begin|commit|rollback|fetchone|fetchall)\(\))")


def test_sql_reads_only_what_is_made_before_it() -> None:
    backwards = [
        f"{named(path)} reads {schema}"
        for path in QUERIES
        for schema in SOURCE.findall(COMMENT.sub("", read(path)))
        if schema in SCHEMAS - MAY_READ.get(path.parent.name, {"meta"})
    ]
    assert backwards == []


def test_an_analysis_of_commissions_states_their_tax_basis() -> None:
    analyses = {path.stem: COMMENT.sub("", read(path)) for path in QUERIES if path.parent.name == "analysis"}
    assert [name for name, sql in analyses.items() if "commission" in sql and "basis" not in sql] == []


def test_views_of_the_published_file_keep_to_what_older_duckdbs_know() -> None:
    """None of 1.x has a function `if`, and 1.1 opens no file with an ordered aggregate as a window."""
    unknown = re.compile(r"\bif\(|ORDER BY [\w., ]+\) OVER", re.IGNORECASE)
    views = [path for path in QUERIES if "meta" in path.parts or "\n-- Kind: view\n" in read(path)]
    assert [named(path) for path in views if unknown.search(COMMENT.sub("", read(path)))] == []


def test_only_the_warehouse_runs_sql_and_ends_transactions() -> None:
    others = [
        path for path in files_below("assets", "pipelines", ending=".py") if "sandbox" not in path.parts
    ]
    assert [named(path) for path in others if ON_A_CONNECTION.search(read(path))] == []


def test_every_check_says_how_severe_its_findings_are_and_which_figures_they_concern() -> None:
    severity = r"(?m)^-- Severity: (error\n(-- Blocks: nothing\n)?|warning\n)-- Concerns: "
    line = re.compile(rf"{severity}(agents|budgets|commission|leads|sales|nothing)$")
    checks = [path for path in QUERIES if path.parent.name == "checks"]
    assert [named(path) for path in checks if not line.search(read(path))] == []


def test_every_mart_is_named_in_a_test_or_what_views_of_it_show() -> None:
    tests = "\n".join(map(read, files_below("tests", ending=".py")))
    marts = {path.stem: read(path) for path in QUERIES if path.parent.name == "marts"}
    shown = "\n".join(sql for sql in marts.values() if "\n-- Kind: view\n" in sql)
    assert [
        one for one in marts if not re.search(rf"\b{one}\b", tests) and f"marts.{one}\n" not in shown
    ] == []
