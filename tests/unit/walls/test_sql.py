"""Does SQL flow one way too? Staging reads what was landed, marts read staging, and nothing reads back."""

from __future__ import annotations

import re

from tests.unit.walls.files import named, our_files, read

# Folder of sql/ -> the schemas its queries may read.
MAY_READ = {
    "staging": {"bi", "meta", "staging"},
    "marts": {"marts", "staging"},
    "meta": {"meta"},
    "checks": {"bi", "marts", "meta", "staging"},
    "analysis": {"bi", "marts", "meta"},
}
SCHEMAS = set().union(*MAY_READ.values())
READ = re.compile(r"\b(?:from|join)\s+([a-z]+)\.[a-z_]+", re.IGNORECASE)
COMMENT = re.compile(r"--.*")


def test_sql_reads_only_what_lies_before_it() -> None:
    backwards = [
        f"{named(path)} reads {schema}"
        for path in our_files(".sql")
        for schema in READ.findall(COMMENT.sub("", read(path)))
        if schema in SCHEMAS - MAY_READ.get(path.parent.name, set())
    ]
    assert backwards == []


def test_every_sql_file_lies_in_a_folder_that_says_what_it_is_for() -> None:
    assert [named(path) for path in our_files(".sql") if path.parent.name not in MAY_READ] == []


def test_every_check_says_how_grave_its_findings_are() -> None:
    graded = re.compile(r"^-- Severity: (error|warning)$", re.MULTILINE)
    checks = [path for path in our_files(".sql") if path.parent.name == "checks"]
    assert [named(path) for path in checks if not graded.search(read(path))] == []


def test_every_mart_is_named_in_a_test() -> None:
    tests = "\n".join(read(path) for path in our_files(".py") if named(path).startswith("tests/"))
    marts = [path.stem for path in our_files(".sql") if path.parent.name == "marts"]
    assert [mart for mart in marts if not re.search(rf"\b{mart}\b", tests)] == []
