"""A golden master: what a checkout does from end to end, kept as hashes and counts.

It knows the command line, the sandbox's control addresses, the files that are published and
`assets.definitions:defs`, and nothing else of the project, so that one copy of it judges any checkout:

    python tests/tools/golden.py --write                     write golden.json beside this file
    python tests/tools/golden.py                             compare this checkout with it
    python tests/tools/golden.py --fast                      as far as the nights with faults, of shapes a
    python tests/tools/golden.py --checkout DIR --keep DUMP  of another checkout, with everything spelled out

To see which rows differ, keep the dumps of two checkouts and compare them with `diff -r`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

import duckdb

HERE = Path(__file__).resolve()
GOLDEN = HERE.with_name("golden.json")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "brokerbi-golden"
OLDER_DUCKDBS = ("1.1.3", "1.4.4")
SCHEMAS = ("bi", "marts", "meta")
SPELLED_OUT = "lasting"  # the stage of which golden.json tells single columns too
BROKERAGE = ZoneInfo("Europe/Stockholm")
FIRST, MOVED, HEALED = date(2024, 4, 12), date(2024, 5, 20), date(2024, 5, 21)
DAYS = frozenset((FIRST, MOVED, HEALED))

# Columns whose values differ between any two runs of the same code. `_row` and `load_number` are given in
# the order in which answers happen to come; a nested row is told by the content of its parent instead.
# `first_load_id` hangs on which loads happen to be written together: within one such group a load with a
# value goes before one with nulls only, between two groups the earlier one counts.
# `day` is a day of UTC and so hangs on the hour of the run. Sizes, times and checksums speak for themselves.
LEFT_OUT = re.compile(
    "_row|load_number|first_load_id|day|seconds|bytes|sha256|header_sha256|run_id|fingerprint|has_traces"
)
# Moments of ours become their day on the brokerage's clock when that is a day of the scenario, because
# BROKERBI_TODAY fixes it; these are reckoned from such moments and may fall on the next day.
SOME_DAY = frozenset(("due_utc",))
# What is different every time in values of JSON, by the name of the value.
VOLATILE_KEYS = re.compile(r"(.*_)?(seconds|bytes|sha256|run_id|at|bytes_before|bytes_after|fingerprint)")

# Some of the rows that a check found, in no order: only how many there are is the same every time.
EXAMPLES = "sample"

LOAD_ID = re.compile(r"\d{8}T\d{12}-[0-9a-f]{8}")
IDS = (
    (LOAD_ID, "LOAD"),
    (re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}\b"), "RUN"),
    (re.compile(r"\b\d{8}T\d{6}\d*Z?(-\w+)?"), "VERSION"),
    (re.compile(r"127\.0\.0\.1(:|%3A| port )\d+"), "ADDRESS"),
    (re.compile(r"\b[0-9a-f]{40,64}\b"), "HASH"),
    (re.compile(r"erased-[0-9a-f]{16}"), "erased-PERSON"),
)
# What `sync` and the database tell in between, when something takes long enough.
PROGRESS = re.compile(r"^\s*[\d \u00a0\u202f]+ of [\d \u00a0\u202f]+ windows\b|▕.*▏")
NOISE = (
    (re.compile(r"(?<!From=)(?<!To=)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+\d\d:\d\d|Z)?"), "MOMENT"),
    (re.compile(r"\d[\d ,.\u00a0\u202f]*[ \u00a0\u202f](bytes|B|kB|KB|MB|GB|TB)\b"), "SIZE"),
    (re.compile(r"\d[\d.]*[ \u00a0](s|ms|min|h|seconds|minutes)\b( \d+ s\b)?"), "DURATION"),
    (re.compile(r"\b_row \d.*"), "ROWS"),
    (re.compile(r"─+"), "─"),
    (re.compile(r"[ \t]+"), " "),
)

DAGSTER_FACTS = """
import json, warnings
warnings.simplefilter("ignore")
from assets.definitions import defs
import dagster as dg
found = defs if isinstance(defs, dg.Definitions) else defs()
repository = found.get_repository_def()
graph = repository.asset_graph
def partitions(one):
    if one is None:
        return None
    parts = getattr(one, "partitions_defs", None)
    if parts:
        return {part.name: partitions(part.partitions_def) for part in parts}
    return [type(one).__name__, str(one)[:400], list(one.get_partition_keys())]
def asset(node):
    return {
        "group": node.group_name, "kinds": sorted(node.kinds), "description": node.description,
        "partitions": partitions(node.partitions_def), "parents": sorted(map(str, node.parent_keys)),
        "tags": dict(node.tags), "owners": list(node.owners), "executable": node.is_executable,
        "backfill": str(node.backfill_policy),
        "automation": str(node.automation_condition and node.automation_condition.get_label()),
        "metadata": sorted(node.metadata),
    }
facts = {
    "assets": {key.to_user_string(): asset(graph.get(key)) for key in graph.get_all_asset_keys()},
    "checks": {
        str(key.to_user_string()): [graph.get_check_spec(key).blocking, graph.get_check_spec(key).description]
        for key in graph.asset_check_keys
    },
    "jobs": {
        one.name: [one.description, one.executor_def.name,
                   sorted(key.to_user_string() for key in one.asset_layer.executable_asset_keys)]
        for one in repository.get_all_jobs()
    },
    "schedules": {
        one.name: [one.cron_schedule, one.execution_timezone, one.job_name, one.description,
                   one.default_status.value]
        for one in repository.schedule_defs
    },
    "sensors": {
        one.name: [type(one).__name__, one.default_status.value, one.minimum_interval_seconds,
                   one.description]
        for one in repository.sensor_defs
    },
}
print(json.dumps(facts, default=str, sort_keys=True))
"""

OLDER_COUNTS = """
import duckdb, json, sys
with duckdb.connect(sys.argv[1], read_only=True) as file:
    counts = {}
    for schema, name in json.loads(sys.argv[2]):
        counts[schema + "." + name] = file.execute(f'SELECT count(*) FROM "{schema}"."{name}"').fetchone()[0]
print(json.dumps([duckdb.__version__, counts]))
"""

SURROUNDINGS = {
    "COLUMNS": "160", "LANG": "C.UTF-8", "NO_COLOR": "1", "HOME": "/nonexistent",
    "DAGSTER_DISABLE_TELEMETRY": "yes", "PYTHONDONTWRITEBYTECODE": "1",
}  # fmt: skip
Facts = dict[str, Any]


@dataclass(frozen=True)
class Checkout:
    """A folder with the project in it, and where the details of a run are kept."""

    root: Path
    keep: Path | None

    def command(self) -> list[str]:
        """The program behind `brokerbi`, as pyproject.toml of the checkout names it."""
        scripts = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
        module, _, attribute = scripts["brokerbi"].partition(":")
        code = (
            f"import sys; from {module} import {attribute} as run; sys.argv[0] = 'brokerbi'; sys.exit(run())"
        )
        return [sys.executable, "-c", code]

    def environment(self, **settings: str) -> dict[str, str]:
        """The bare surroundings of a command: nothing of the shell but the path and the time zone."""
        kept = {name: os.environ[name] for name in ("PATH", "TZ", "LD_LIBRARY_PATH") if name in os.environ}
        ours = {f"BROKERBI_{name.upper()}": text for name, text in settings.items()}
        return {**kept, **SURROUNDINGS, "PYTHONPATH": str(self.root), **ours}

    def note(self, path: str, text: str) -> None:
        """Details under a name, where they are kept at all."""
        if self.keep is not None:
            target = self.keep / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")


@dataclass
class World:
    """A sandbox that serves, a data directory, and what commands did there."""

    checkout: Checkout
    name: str
    url: str
    directory: Path
    settings: dict[str, str]
    facts: Facts = field(default_factory=lambda: {"commands": {}, "files": {}})

    @property
    def data(self) -> Path:
        return Path(self.settings["data_dir"])

    @property
    def published(self) -> Path:
        return self.data / "warehouse.duckdb"

    def run(self, name: str, *words: str, **settings: str) -> str:
        """The output of a command; its code and the hash of what it said become facts."""
        environment = self.checkout.environment(**{**self.settings, **settings})
        done = ended([*self.checkout.command(), *words], environment, self.directory)
        said = _said(done.stdout, done.stderr, words, str(self.data))
        self.checkout.note(f"{self.name}/commands/{name}.txt", f"exit code {done.returncode}\n{said}")
        self.facts["commands"][name] = f"{done.returncode} {digest(said)}"
        return done.stdout

    def run_each(self, *commands: str) -> None:
        """Commands that go by their own words."""
        for command in commands:
            self.run(command, *command.split())

    def control(self, path: str, body: object) -> None:
        """A switch of the sandbox."""
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{self.url}/_sandbox/{path}", data, headers), timeout=30) as answer:
            answer.read()

    def move(self, day: date) -> None:
        """The sandbox and the calendar of the settings on another day."""
        self.control("as-of", {"asOf": day.isoformat()})
        self.settings["today"] = day.isoformat()

    def look(self, stage: str) -> None:
        """Everything in the published file, as facts under the name of a stage."""
        self.facts["files"][stage] = contents(self.published, self.checkout, f"{self.name}/{stage}")

    def value(self, query: str) -> str:
        """The single value that a query on the published file answers, as text."""
        with duckdb.connect(str(self.published), read_only=True) as file:
            row = file.execute(query).fetchone()
        return str(row[0]) if row else ""


def ended(words: list[str], environment: Mapping[str, str], directory: Path) -> CompletedProcess[str]:
    return subprocess.run(
        words, env=environment, cwd=directory, capture_output=True, text=True, timeout=600, check=False
    )


def digest(text: str, length: int = 8) -> str:
    """The beginning of a checksum: long enough to notice, short enough to keep."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def together(rows: Iterable[str], length: int = 8) -> str:
    return digest("\n".join(rows), length)


def masked(text: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, word in patterns:
        text = pattern.sub(word, text)
    return text


def _said(stdout: str, stderr: str, words: Sequence[str], data: str) -> str:
    """What a command said, normalised; the order of lines counts only where nothing runs at once."""
    if "--json" in words or words[:1] == ("erase",):
        with contextlib.suppress(json.JSONDecodeError):
            stdout = json.dumps(_walked(json.loads(stdout)), indent=1, ensure_ascii=False)
    plain = words[:1] == ("plan",)  # its moments and seconds are reckoned, not measured
    patterns = (*IDS, *NOISE[4:]) if plain else (*IDS, *NOISE)
    text = f"{stdout}\n-- stderr\n{stderr}".replace(data, "DATA")
    spoken = (line for line in text.splitlines() if line.strip() and not PROGRESS.search(line))
    lines = [masked(line, patterns).strip() for line in spoken]
    return "\n".join(sorted(lines) if words[:1] in (("sync",), ("replay",)) else lines)


def _walked(tree: object) -> object:
    if isinstance(tree, dict):
        return {
            name: "measured" if VOLATILE_KEYS.fullmatch(name) and value is not None else _walked(value)
            for name, value in tree.items()
        }
    return [_walked(one) for one in tree] if isinstance(tree, list) else tree


@contextlib.contextmanager
def world(checkout: Checkout, name: str, *options: str, **settings: str) -> Iterator[World]:
    """A sandbox on a free port, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        words = [*checkout.command(), "sandbox", "--port", "0", "--as-of", str(FIRST), *options]
        surroundings = checkout.environment()
        serving = subprocess.Popen(words, cwd=directory, env=surroundings, stdout=subprocess.PIPE, text=True)
        try:
            assert serving.stdout is not None
            url = serving.stdout.readline().split()[-1]
            login = {"base_url": url, "username": "sandbox", "password": "sandbox"}
            given = {"data_dir": f"{directory}/data", "requests_per_second": "1000", "today": str(FIRST)}
            yield World(checkout, name, url, Path(directory), {**login, **given, **settings})
        finally:
            serving.terminate()
            serving.communicate(timeout=30)


def contents(path: Path, checkout: Checkout, where: str) -> Facts:
    """What stands in a published file: structure, comments, macros, and every row of every table and view."""
    with duckdb.connect(str(path), read_only=True) as file:
        file.execute("SET TimeZone = 'UTC'")
        tables = _tables(file)
        reader = Reader(file, tables)
        found: Facts = {"tables": {}, "columns": {}}
        for name, columns in tables.items():
            header, rows = reader.columns_kept(name), reader.rows(name)
            checkout.note(f"{where}/{name}.txt", "\n".join(["\t".join(header), *rows]) + "\n")
            structure = digest(json.dumps(columns), 4)
            found["tables"][name] = f"{len(rows)} {structure} {together(rows, 6)}"
            by_column = zip(*(row.split("\t") for row in rows), strict=True)
            hashes = (together(sorted(values), 2) for values in by_column)
            found["columns"][name] = dict(zip(header, hashes, strict=False))
        for kind, query in DESCRIBED.items():
            told = "\n".join(sorted(str(row) for row in file.execute(query).fetchall()))
            checkout.note(f"{where}/{kind}.txt", told + "\n")
            found[kind] = digest(told)
        found["macros asked"] = _questions(file, checkout, where)
    told = "\n".join(f"{name} {columns}" for name, columns in tables.items())
    checkout.note(f"{where}/structure.txt", told + "\n")
    return found


_OURS = f"schema_name IN {SCHEMAS}"
DESCRIBED = {
    "comments": f"""
        SELECT schema_name, table_name, '', comment FROM duckdb_tables() WHERE {_OURS}
        UNION ALL SELECT schema_name, view_name, '', comment FROM duckdb_views() WHERE {_OURS}
        UNION ALL SELECT schema_name, table_name, column_name, comment FROM duckdb_columns() WHERE {_OURS}
    """,
    "macros": f"""
        SELECT schema_name, function_name, parameters, function_type, comment
        FROM duckdb_functions() WHERE {_OURS}
    """,
    "kinds": f"""
        SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE {_OURS}
        UNION ALL SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE {_OURS}
    """,
}


def _tables(file: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, str]]]:
    """Every table and view of our schemas with the names and types of its columns, in their order."""
    found: dict[str, list[tuple[str, str]]] = {}
    named = "schema_name || '.' || table_name, column_name, data_type"
    query = f"SELECT {named} FROM duckdb_columns() WHERE {_OURS} ORDER BY 1, column_index"
    for name, column, kind in file.execute(query).fetchall():
        found.setdefault(name, []).append((column, kind))
    return found


def _questions(file: duckdb.DuckDBPyConnection, checkout: Checkout, where: str) -> str:
    """The answers to the macros that can be asked anything: rows as of now, and where numbers come from."""
    query = f"SELECT DISTINCT schema_name, function_name, parameters FROM duckdb_functions() WHERE {_OURS}"
    offices = "SELECT office_id, user_id, month FROM marts.user_month ORDER BY ALL LIMIT 1"
    office, user, month = file.execute(offices).fetchall()[0]
    given = {"moment": datetime(2024, 5, 1), "office": office, "of_user": user, "of_month": month}
    found: list[str] = []
    for schema, name, parameters in sorted(file.execute(query).fetchall()):
        asked = f'SELECT * FROM "{schema}"."{name}"({", ".join("?" for _ in parameters)})'
        answer = file.execute(asked, [given[parameter] for parameter in parameters])
        names = [column[0] for column in answer.description or ()]
        kept = [n for n, column in enumerate(names) if _is_kept(column) and column != "_parent_row"]
        rows = sorted("\t".join(cell(names[n], row[n], {}) for n in kept) for row in answer.fetchall())
        checkout.note(f"{where}/{schema}.{name}().txt", "\n".join(rows) + "\n")
        found.append(f"{schema}.{name} {len(rows)} {together(rows)}")
    return together(found)


@dataclass
class Reader:
    """Rows as text that two runs of the same code write alike."""

    file: duckdb.DuckDBPyConnection
    tables: Mapping[str, Sequence[tuple[str, str]]]
    loads: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    above: dict[str, dict[object, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        query = "SELECT load_id, report, customer, window_start, window_end, asked FROM meta.loads"
        for load, *told in self.file.execute(query).fetchall():
            self.loads[load] = "/".join(str(one) for one in told)
        query = "SELECT table_name, parent_name FROM meta.tables WHERE nested"
        for name, parent in self.file.execute(query).fetchall():
            self.parents[f"bi.{name}"] = f"bi.{parent}"
            self.parents[f"bi.{name}_history"] = f"bi.{parent}_history"

    def columns_kept(self, table: str) -> list[str]:
        """The columns whose values count."""
        return [name for name, _ in self.tables[table] if _is_kept(name)]

    def rows(self, table: str) -> list[str]:
        """Every row, sorted."""
        return sorted(text for _, text in self._told(table))

    def _told(self, table: str) -> Iterator[tuple[object, str]]:
        columns = [name for name, _ in self.tables[table]]
        number = columns.index("_row") if "_row" in columns else None
        parent = self.parents.get(table, "")
        schema, _, name = table.partition(".")
        for row in self.file.execute(f'SELECT * FROM "{schema}"."{name}"').fetchall():
            parts = []
            for column, value in zip(columns, row, strict=True):
                if column == "_parent_row":
                    parts.append(self._contents(parent).get(value, "nobody"))
                elif _is_kept(column):
                    parts.append(cell(column, value, self.loads, noisy=schema == "meta"))
            yield (None if number is None else row[number]), "\t".join(parts)

    def _contents(self, table: str) -> dict[object, str]:
        """The hash of every row of a table, by its number."""
        if table not in self.tables:
            return {}
        if table not in self.above:
            self.above[table] = {number: digest(text) for number, text in self._told(table)}
        return self.above[table]


def _is_kept(column: str) -> bool:
    return not LEFT_OUT.fullmatch(column)


def cell(column: str, value: object, loads: Mapping[str, str], *, noisy: bool = False) -> str:
    """A value as text: a load by what it asked, a moment of ours by its day, a number without its tail."""
    if value is None:
        return "∅"
    if isinstance(value, str) and LOAD_ID.fullmatch(value):
        return f"load of {loads.get(value, 'something')}"
    if isinstance(value, datetime) and column.endswith("_utc"):
        day = value.replace(tzinfo=value.tzinfo or UTC).astimezone(BROKERAGE).date()
        return str(day) if day in DAYS and column not in SOME_DAY else "moment"
    if isinstance(value, float):
        return f"{value:.9g}"
    if column == EXAMPLES:
        value = f"{len(json.loads(str(value)))} examples"
    text = masked(str(value), IDS)
    text = masked(text, NOISE[:3]) if noisy and isinstance(value, (str, list)) else text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


# Each strikes a report of a customer for itself, and leaves the same behind every time: the lots of the
# sandbox hang on the request and its try, and where only the first requests are struck, they come one by one.
HEALING = (
    {"kind": "429", "tries": 1, "retry_after": "none", "path": "CommissionUserReport", "customer": "G1"},
    {"kind": "500", "tries": 2, "path": "External/Users", "customer": "M30016"},
    {"kind": "html", "tries": 1, "path": "RunningCommissions", "customer": "G1"},
    {"kind": "half", "tries": 1, "path": "RunningCommissions", "customer": "M30016"},
    {"kind": "reset", "tries": 1, "path": "Trademarks", "customer": "G1"},
    {"kind": "gzip", "path": "LiveData/Report", "customer": "G1"},
    {"kind": "moving_rows", "rows": 2, "path": "TipsAndLeads", "customer": "M30016"},
)
LASTING = (
    {"kind": "403", "path": "LiveData/Commission", "customer": "M30016"},
    {"kind": "400", "count": 1, "path": "GetSalesReport", "customer": "M30016"},
    {"kind": "404", "path": "Budget/Crm", "customer": "M30016"},
    {"kind": "empty", "path": "BusinessIntelligence/Estates", "customer": "M30016"},
    {"kind": "wrong_types", "share": 0.2, "path": "GetSalesReport", "customer": "G1"},
    {"kind": "wrong_types", "share": 0.2, "path": "TipsAndLeads", "customer": "G1"},
    {"kind": "wrong_rows", "path": "LiveData/Report", "customer": "M30016"},
    {"kind": "unknown_fields", "path": "GetEstatesReport", "customer": "M30016"},
    {"kind": "nested_list", "path": "CommissionOfficeReport/", "customer": "M30016"},
    {"kind": "fractional", "path": "CommissionUserReport", "customer": "M30016"},
    {"kind": "text", "path": "GetEstateReportProdDb", "customer": "M30016"},
    {"kind": "empty_report", "path": "GetEstatesReport", "customer": "G1"},
)
STRUCK = (
    "users trademarks commission_office commission_user running_commissions sales estates_report "
    "estates_report_prod sold_estates tips_and_leads live_activity live_commissions office_budget_crm"
).split()
OFF = (
    "commission_office_sale commission_office_valuation commission_user_sale "
    "commission_office_by_month_writing"
).split()


def whole_way(checkout: Checkout, *, fast: bool) -> Facts:
    """Shapes a: everything that happens to a data directory, from the first night to the erasing."""
    options = ("--seed", "3", "--offices", "6", "--from", "2023-09", "--activity", "0.3")
    settings = {
        "customers": "G1=The group,M30016",
        "start": "2024-02",
        "reports": ",".join(f"+{name}" for name in OFF),
        "budget_months_ahead": "2",
        "page_size": "10",
        "tries": "3",
    }
    with world(checkout, "a", *options, **settings) as here:
        _first_nights(here)
        _nights_with_faults(here)
        if fast:
            return here.facts
        _night_after(here)
        here.facts["older duckdb"] = older_readers(here.published, checkout)
        here.run_each("status", "status --json", "doctor", "doctor --offline", "report")
        _kept_files(here)
        _forgetting(here)
    return here.facts


def _first_nights(here: World) -> None:
    """Two nights some weeks apart, and the reports on demand."""
    here.run_each("reports", "reports --json")
    here.run("plan before", "plan")
    here.run("plan before --json", "plan", "--json")
    here.run("status before", "status")
    here.run("sync first", "sync")
    here.look("first")
    estate = here.value("SELECT min(id) FROM bi.sales_estates WHERE _customer = 'M30016'")
    here.run("sync on demand", "sync", "--report", "sales_for_estate", "--estate", estate, "--no-publish")
    month = ("--from", "2024-04", "--to", "2024-04", "--customer", "M30016")
    here.run("sync of users", "sync", "--report", "user_budget_commission", *month, "--no-publish")
    here.move(MOVED)
    here.run("plan moved --json", "plan", "--json")
    here.run("sync moved", "sync")
    here.look("moved")
    _explanations(here)
    here.run("sync again", "sync", "--report", "sales", "--customer", "M30016")


def _explanations(here: World) -> None:
    best = "FROM marts.{}_month WHERE month = DATE '2024-03-01' ORDER BY commission DESC, 1 LIMIT 1"
    office = here.value(f"SELECT office_id {best.format('office')}")
    user = here.value(f"SELECT user_id {best.format('user')}")
    measures = "commission sold_commission running_commission_sek_excl_vat incoming_lead_count".split()
    for measure in measures:
        of = ("--month", "2024-03", "--measure", measure)
        here.run(f"explain office {measure}", "explain", "--office", office, *of)
        here.run(f"explain user {measure}", "explain", "--user", user, *of)
    here.run("explain nonsense", *"explain --office M30016 --month 2024-03 --measure nonsense".split())


def _nights_with_faults(here: World) -> None:
    words = [word for name in STRUCK for word in ("--report", name)]
    here.control("faults", list(HEALING))
    here.run("sync healing", "sync", "--refresh", "--from", "2024-04", *words)
    here.look("healing")
    here.control("faults", list(LASTING))
    here.run("sync lasting", "sync", "--refresh", "--from", "2024-03", "--to", "2024-05", *words)
    here.look("lasting")
    here.run("status lasting", "status")
    here.run("status lasting --json", "status", "--json")
    here.run("status lasting --quarantine", "status", "--quarantine")


def _night_after(here: World) -> None:
    """What was left open is mended, first from landing and then by asking again."""
    here.run("doctor lasting", "doctor")
    here.control("faults", [])
    here.run("replay quarantine", "replay", "--quarantine")
    here.run("status caps", "status", "--forget-caps")
    here.move(HEALED)
    here.run("plan healed --json", "plan", "--json")
    here.run("sync healed", "sync", "--accept-shrink")
    here.run("sync accepted", *"sync --refresh --from 2024-03 --report sales --accept-shrink".split())
    here.look("healed")


def _kept_files(here: World) -> None:
    """Publishing, going back, and tables that are made again from landing."""
    here.run_each("publish", "rollback")
    here.look("rolled back")
    here.run("rollback nowhere", "rollback", "--to", "20000101T000000Z")
    here.run("replay one", "replay", "--report", "sales", "--customer", "M30016")
    fresh = here.directory / "fresh"
    fresh.mkdir()
    shutil.copytree(here.data / "landing", fresh / "landing")
    here.settings["data_dir"] = str(fresh)
    here.run("replay from landing", "replay")
    here.run("publish replayed", "publish")
    here.look("replayed")


def _forgetting(here: World) -> None:
    """Two people leave, and the file is made small."""
    contact = here.value("SELECT min(contact_id) FROM bi.incoming_leads")
    user = here.value("SELECT min(id) FROM bi.users WHERE _customer = 'M30016'")
    here.run("erase contact", "erase", "--contact", contact)
    here.run("erase user", "erase", "--user", user)
    here.run("erase nobody", "erase", "--user", "nobody-has-this-id")
    here.run("compact", "compact")
    here.run("publish erased", "publish")
    here.look("erased")


def other_shapes(checkout: Checkout) -> Facts:
    """Shapes b, smaller: two nights, an office beside its group, hashed contacts, and a replay."""
    options = ("--seed", "5", "--offices", "3", "--from", "2023-09", "--activity", "0.3", "--shapes", "b")
    settings = {
        "customers": "G1,M30011",
        "start": "2024-03",
        "budget_months_ahead": "1",
        "pseudonym_key": "a key of sixteen signs and more, for this only",
    }
    with world(checkout, "b", *options, "--date-to", "day", **settings) as here:
        here.run("sync first", "sync")
        here.look("first")
        here.move(MOVED)
        here.run("sync moved", "sync")
        here.run_each("status --json")
        for path in (here.data / "work").glob("warehouse.duckdb*"):
            path.unlink()
        here.run_each("replay", "publish")
        here.look("replayed")
    return here.facts


def command_line(checkout: Checkout) -> Facts:
    """Help texts, and how commands end that cannot go well."""
    narrow = {"concurrency": "1", "start": "2024-04", "reports": "users", "tries": "1"}
    options = ("--seed", "3", "--offices", "6", "--from", "2023-09", "--activity", "0.1")
    logins = ("--login", "sandbox:sandbox", "--login", "narrow:narrow:M30016")
    with world(checkout, "words", *options, *logins, customers="G1,M30016", **narrow) as here:
        top = here.run("help", "--help")
        for name in sorted(set(re.findall(r"^    (\w+) ", top, re.MULTILINE))):
            here.run(f"help {name}", name, "--help")
        here.run("no command")
        here.run("unknown command", "frobnicate")
        here.run("wrong usage", "sync", "--frobnicate")
        here.run("wrong month", "sync", "--from", "2024-13")
        here.run("months turned round", "plan", "--from", "2024-05", "--to", "2024-04")
        here.run("unknown report", "plan", "--report", "salse")
        here.run("customer not in settings", "plan", "--customer", "M1")
        here.run("explain without a month", "explain", "--office", "M30016")
        explain = "explain --office M1 --month 2024-04 --measure commission"
        here.run("explain without a file", *explain.split())
        for name in ("status", "publish", "rollback", "replay", "compact", "report"):
            here.run(f"{name} of nothing", name)
        here.run("bad start", "plan", start="soon")
        here.run("bad zone", "plan", timezone="Mars/Olympus")
        here.run("bad address", "plan", base_url="ftp://example.com")
        here.run("bad number", "plan", concurrency="0", page_size="many")
        here.run("unknown setting", "plan", pagesize="10")
        here.run("no customers", "plan", customers="")
        here.run("no tls", "plan", base_url="http://example.com")
        here.run("sandbox fault", "sandbox", "--port", "0", "--fault", "nonsense")
        here.run("sandbox host", "sandbox", "--port", "0", "--host", "0.0.0.0")
        here.run("unknown customer", "sync", customers="M99999")
        here.run("wrong password", "sync", password="wrong", customers="M30016")
        here.run("doctor wrong password", "doctor", password="wrong")
        here.run("refused connection", "sync", base_url="http://127.0.0.1:9", customers="M30016")
        here.run("good run", "sync")
        here.run("good run again", "sync")
        here.run("narrow login", "sync", username="narrow", password="narrow")
        here.run("doctor narrow login", "doctor", username="narrow", password="narrow")
    return {"commands": here.facts["commands"]}


def dagster(checkout: Checkout) -> Facts:
    settings = {"customers": "G1,M30016", "start": "2024-02", "alert_webhook": "http://127.0.0.1:9/hook"}
    with tempfile.TemporaryDirectory(prefix="golden-") as home:
        environment = checkout.environment(data_dir=f"{home}/data", today=str(FIRST), **settings)
        told = ended([sys.executable, "-c", DAGSTER_FACTS], environment, Path(home))
    if told.returncode:
        return {"failed": {"said": told.stderr[-2000:]}}
    facts: dict[str, dict[str, object]] = json.loads(told.stdout.splitlines()[-1].replace(home, "HOME"))
    checkout.note("dagster.json", json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False))
    return {
        kind: {name: digest(json.dumps(one, sort_keys=True)) for name, one in sorted(found.items())}
        for kind, found in facts.items()
    }


def older_readers(path: Path, checkout: Checkout) -> Facts:
    """Whether older DuckDBs count the same rows in every table and view."""
    with duckdb.connect(str(path), read_only=True) as file:
        names = [name.split(".", 1) for name in _tables(file)]
        ours = {".".join(name): _count(file, *name) for name in names}
    found: Facts = {}
    for version in OLDER_DUCKDBS:
        environment = {**checkout.environment(), "PYTHONPATH": str(_installed(version))}
        words = [sys.executable, "-c", OLDER_COUNTS, str(path), json.dumps(names)]
        told = ended(words, environment, path.parent)
        if told.returncode:
            found[version] = told.stderr.strip().splitlines()[-1]
            continue
        spoken, counts = json.loads(told.stdout)
        wrong = {name: [counts.get(name), number] for name, number in ours.items() if counts[name] != number}
        found[version] = {"version": spoken, "tables": len(counts), "counted otherwise": wrong}
    return found


def _count(file: duckdb.DuckDBPyConnection, schema: str, name: str) -> int:
    row = file.execute(f'SELECT count(*) FROM "{schema}"."{name}"').fetchone()
    return int(row[0]) if row else 0


def _installed(version: str) -> Path:
    """A folder with an older DuckDB in it, outside of every checkout."""
    target = CACHE / f"duckdb-{version}"
    if not (target / "duckdb").is_dir():
        words = f"-m pip install --quiet --no-deps duckdb=={version} --target".split()
        subprocess.run([sys.executable, *words, target], check=True, stderr=subprocess.DEVNULL)
    return target


def run(checkout: Checkout, *, fast: bool) -> Facts:
    """Everything that is known of a checkout; two parts at a time."""
    parts: dict[str, Callable[[], Facts]] = {
        "shapes a": lambda: whole_way(checkout, fast=fast),
        "command line": lambda: command_line(checkout),
        "dagster": lambda: dagster(checkout),
    }
    if not fast:
        parts["shapes b"] = lambda: other_shapes(checkout)
    with ThreadPoolExecutor(2) as pool:
        waiting = {name: pool.submit(part) for name, part in parts.items()}
        return {name: one.result() for name, one in waiting.items()}


def folded(facts: Facts) -> Facts:
    """Facts as they are kept: every table named once, with a line for each stage."""
    if "files" not in facts:
        return facts
    files: Facts = facts["files"]
    names = sorted({name for one in files.values() for name in one["tables"]})
    return {
        **{name: one for name, one in facts.items() if name != "files"},
        "stages": {
            stage: {kind: one[kind] for kind in one if kind not in ("tables", "columns")}
            for stage, one in files.items()
        },
        "tables": {name: [one["tables"].get(name, "") for one in files.values()] for name in names},
        "columns": files.get(SPELLED_OUT, {}).get("columns", {}),
    }


def by_place(kept: Facts) -> Facts:
    """Every single fact by where it is: the part, the stage or kind, the name."""
    found: Facts = {}
    for part, facts in kept.items():
        for kind, of_kind in facts.items():
            for name, one in of_kind.items():
                if kind == "stages":
                    found |= {f"{part} > {name} > {what}": told for what, told in one.items()}
                elif kind == "tables":
                    lines = zip(facts["stages"], one, strict=False)
                    found |= {f"{part} > {stage} > {name}": line for stage, line in lines if line}
                else:
                    found[f"{part} > {kind} > {name}"] = one
    return found


def differences(expected: Facts, found: Facts, *, fast: bool) -> Iterator[str]:
    """One line for everything that is missing, new or otherwise; a fast run comes to a part of it only."""
    come = {place.rsplit(" > ", 1)[0] for place in found} - {"shapes a > commands"}
    for place in sorted({*expected, *found}):
        if place not in expected:
            yield f"new: {place}"
        elif place in found:
            old, new = expected[place], found[place]
            if old != ("".join(new.values()) if " > columns > " in place else new):
                yield f"changed: {place}: {_explained(place, old, new)}"
        elif not fast or place.rsplit(" > ", 1)[0] in come or not place.startswith("shapes a"):
            yield f"missing: {place}"


def _explained(place: str, old: Any, new: Any) -> str:
    if " > columns > " in place:
        before = (old[n : n + 2] for n in range(0, len(old), 2))
        names = [name for was, (name, now) in zip(before, new.items(), strict=False) if was != now]
        return f"the values of {', '.join(names)}"
    if " > commands > " in place:
        names = ["exit code", "what is said:"]
    elif re.search(r" > (bi|marts|meta)\.", place):
        names = ["rows", "columns", "contents"]
    else:
        return f"{old} is now {new}"
    pairs = zip(names, old.split(), new.split(), strict=True)
    return ", ".join(f"{name} {was} is now {now}" for name, was, now in pairs if was != now)


def main() -> int:
    """Write the golden master, or compare with it: 0 when nothing differs, 1 when something does."""
    parser = argparse.ArgumentParser(description="Write the golden master, or compare a checkout with it.")
    parser.add_argument("--write", action="store_true", help="write golden.json instead of comparing with it")
    parser.add_argument("--fast", action="store_true", help="as far as the nights with faults, of shapes a")
    parser.add_argument("--checkout", type=Path, default=HERE.parents[2], help="the checkout that is run")
    parser.add_argument("--keep", type=Path, help="a directory for every row and every word, to compare")
    arguments = parser.parse_args()
    if arguments.write and arguments.fast:
        parser.error("a golden master is written whole, without --fast")
    keep: Path | None = arguments.keep
    if keep is not None:
        keep = keep.resolve()
        if keep.exists() and any(keep.iterdir()):
            parser.error(f"{keep} is not empty; name a directory of its own")
    checkout = Checkout(arguments.checkout.resolve(), keep)
    found = {part: folded(facts) for part, facts in run(checkout, fast=arguments.fast).items()}
    if arguments.write:
        for facts in found.values():
            if "columns" in facts:
                facts["columns"] = {name: "".join(one.values()) for name, one in facts["columns"].items()}
        GOLDEN.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", "utf-8")
        sys.stdout.write(f"{GOLDEN}: {GOLDEN.stat().st_size} bytes\n")
        return 0
    golden = {part: facts for part, facts in json.loads(GOLDEN.read_text("utf-8")).items() if part in found}
    told = list(differences(by_place(golden), by_place(found), fast=arguments.fast))
    sys.stdout.write("".join(f"{line}\n" for line in told) or "nothing differs\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
