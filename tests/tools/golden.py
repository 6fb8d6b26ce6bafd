"""Golden master: everything that a checkout produces, as texts by which two checkouts are compared.

It imports nothing of the project, so one copy of it can run any checkout:

    python tests/tools/golden.py after                         every text of this checkout, into a new folder
    python tests/tools/golden.py before --checkout ../before   every text of another one
    diff -r before after

With `--fast` it leaves out shapes b and, in shapes a, all that follows the syncs with faults.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import CompletedProcess
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

import duckdb

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ("bi", "marts", "meta")
BROKERAGE = ZoneInfo("Europe/Stockholm")
FIRST, MOVED, HEALED = date(2024, 4, 12), date(2024, 5, 20), date(2024, 5, 21)
DAYS = frozenset((FIRST, MOVED, HEALED))

# Columns that differ between two runs of the same code, such as numbers given in the order of answers.
LEFT_OUT = re.compile(
    "_row|_parent_row|load_number|first_load_id|day|hours_at_(least|most)|seconds|bytes|sha256|header_sha256|"
    "run_id|fingerprint|has_traces"
)
# Our times are shown as their day if it is in DAYS, except in this column, where it may be the next day.
UNSTABLE_TIME = "due_utc"
# Names of the values in JSON that differ every time.
VOLATILE_KEYS = re.compile(r"(.*_)?(seconds|bytes|sha256|run_id|at|bytes_before|bytes_after|fingerprint)")

# The column with some of the rows that a check found; only their number is the same every time.
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
# Progress lines of slow steps.
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
repository = (defs if isinstance(defs, dg.Definitions) else defs()).get_repository_def()
graph = repository.asset_graph
def partitions(d):
    return d and [str(d)[:400], list(d.get_partition_keys())]
def asset(d):
    return [d.group_name, sorted(d.kinds), d.description, partitions(d.partitions_def),
            sorted(map(str, d.parent_keys)), d.tags, d.owners, d.is_executable, d.backfill_policy,
            d.automation_condition and d.automation_condition.get_label(), sorted(d.metadata)]
def check(d):
    return [d.blocking, d.description]
def job(d):
    keys = sorted(key.to_user_string() for key in d.asset_layer.executable_asset_keys)
    return [d.description, d.executor_def.name, keys]
def schedule(d):
    return [d.cron_schedule, d.execution_timezone, d.job_name, d.description, d.default_status]
def sensor(d):
    return [type(d).__name__, d.default_status, d.minimum_interval_seconds, d.description]
facts = {
    "assets": {key.to_user_string(): asset(graph.get(key)) for key in graph.get_all_asset_keys()},
    "checks": {key.to_user_string(): check(graph.get_check_spec(key)) for key in graph.asset_check_keys},
    "jobs": {d.name: job(d) for d in repository.get_all_jobs()},
    "schedules": {d.name: schedule(d) for d in repository.schedule_defs},
    "sensors": {d.name: sensor(d) for d in repository.sensor_defs},
}
print(json.dumps(facts, default=str, sort_keys=True))
"""

ENVIRONMENT = {
    "COLUMNS": "160", "LANG": "C.UTF-8", "NO_COLOR": "1", "HOME": "/nonexistent",
    "DAGSTER_DISABLE_TELEMETRY": "yes", "PYTHONDONTWRITEBYTECODE": "1",
}  # fmt: skip


@dataclass(frozen=True)
class Checkout:
    """The folder of a checkout, and the folder for its texts."""

    root: Path
    texts: Path

    def command(self) -> list[str]:
        """The command that runs `brokerbi`, as the checkout's pyproject.toml defines it."""
        scripts = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
        module, _, attribute = scripts["brokerbi"].partition(":")
        code = (
            f"import sys; from {module} import {attribute} as run; sys.argv[0] = 'brokerbi'; sys.exit(run())"
        )
        return [sys.executable, "-c", code]

    def environment(self, **settings: str) -> dict[str, str]:
        """The environment of a command: from the shell come only the time zone and the search paths."""
        kept = {name: os.environ[name] for name in ("PATH", "TZ", "LD_LIBRARY_PATH") if name in os.environ}
        ours = {f"BROKERBI_{name.upper()}": text for name, text in settings.items()}
        return {**kept, **ENVIRONMENT, "PYTHONPATH": str(self.root), **ours}

    def note(self, place: str, lines: Iterable[str]) -> None:
        path = self.texts / f"{place}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


@dataclass
class World:
    """A running sandbox and a data directory; the output of each command is noted as a text."""

    checkout: Checkout
    name: str
    url: str
    directory: Path
    settings: dict[str, str]

    @property
    def data(self) -> Path:
        return Path(self.settings["data_dir"])

    @property
    def published(self) -> Path:
        return self.data / "warehouse.duckdb"

    def run(self, name: str, *words: str, **settings: str) -> str:
        """Run a command, and note its output; returns its stdout."""
        environment = self.checkout.environment(**{**self.settings, **settings})
        done = completed([*self.checkout.command(), *words], environment, self.directory)
        output = _output_lines(done.stdout, done.stderr, words, str(self.data))
        self.checkout.note(f"{self.name}/commands/{name}", [f"exit code {done.returncode}", *output])
        return done.stdout

    def run_each(self, *commands: str) -> None:
        """Run commands, each named by its own words."""
        for command in commands:
            self.run(command, *command.split())

    def control(self, path: str, body: object) -> None:
        """Post to a control address of the sandbox."""
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{self.url}/_sandbox/{path}", data, headers), timeout=30) as answer:
            answer.read()

    def move(self, day: date) -> None:
        """Move the sandbox and the commands to another day."""
        self.control("as-of", {"asOf": day.isoformat()})
        self.settings["today"] = day.isoformat()

    def look(self, stage: str) -> None:
        """Note everything in the published file, under the name of a stage."""
        note_contents(self.published, self.checkout, f"{self.name}/{stage}")

    def value(self, query: str) -> str:
        """The single value that a query on the published file answers, as text."""
        with duckdb.connect(str(self.published), read_only=True) as file:
            row = file.execute(query).fetchone()
        return str(row[0]) if row else ""


def completed(words: list[str], environment: Mapping[str, str], directory: Path) -> CompletedProcess[str]:
    return subprocess.run(
        words, env=environment, cwd=directory, capture_output=True, text=True, timeout=600, check=False
    )


def masked(text: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, word in patterns:
        text = pattern.sub(word, text)
    return text


def _output_lines(stdout: str, stderr: str, words: Sequence[str], data: str) -> list[str]:
    """The normalized output of a command; sorted if its windows or loads run in parallel."""
    if "--json" in words or words[:1] == ("erase",):
        with contextlib.suppress(json.JSONDecodeError):
            stdout = json.dumps(_stable(json.loads(stdout)), indent=1, ensure_ascii=False)
    plain = words[:1] == ("plan",)  # its times are computed, not measured
    patterns = (*IDS, *NOISE[4:]) if plain else (*IDS, *NOISE)
    text = f"{stdout}\n-- stderr\n{stderr}".replace(data, "DATA")
    kept = (line for line in text.splitlines() if line.strip() and not PROGRESS.search(line))
    lines = [masked(line, patterns).strip() for line in kept]
    return sorted(lines) if words[:1] in (("sync",), ("replay",)) else lines


def _stable(tree: object) -> object:
    if isinstance(tree, dict):
        return {
            name: "measured" if VOLATILE_KEYS.fullmatch(name) and value is not None else _stable(value)
            for name, value in tree.items()
        }
    return [_stable(item) for item in tree] if isinstance(tree, list) else tree


@contextlib.contextmanager
def world(checkout: Checkout, name: str, *options: str, **settings: str) -> Iterator[World]:
    """A sandbox on a free port, which serves while the body runs."""
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        words = [*checkout.command(), "sandbox", "--port", "0", "--as-of", str(FIRST), *options]
        environment = checkout.environment()
        serving = subprocess.Popen(words, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert serving.stdout is not None
            url = serving.stdout.readline().split()[-1]
            login = {"base_url": url, "username": "sandbox", "password": "sandbox"}
            basics = {"data_dir": f"{directory}/data", "requests_per_second": "1000", "today": str(FIRST)}
            yield World(checkout, name, url, Path(directory), {**login, **basics, **settings})
        finally:
            serving.terminate()
            serving.communicate(timeout=30)


def note_contents(path: Path, checkout: Checkout, where: str) -> None:
    """Note the structure, comments, macros, and every row of every table and view of a published file."""
    with duckdb.connect(str(path), read_only=True) as file:
        file.execute("SET TimeZone = 'UTC'")
        request = "concat_ws('/', report, customer, window_start, window_end, asked)"
        loads = dict(file.execute(f"SELECT load_id, {request} FROM meta.loads").fetchall())
        for name in _tables(file):
            rows = _rows(file.execute(f"FROM {name}"), loads, noisy=name.startswith("meta."))
            checkout.note(f"{where}/{name}", rows)
        for kind, query in DESCRIBED.items():
            checkout.note(f"{where}/{kind}", sorted(map(str, file.execute(query).fetchall())))
        _note_macros(file, checkout, where)


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
    "structure": f"""
        SELECT schema_name, table_name, column_index, column_name, data_type
        FROM duckdb_columns() WHERE {_OURS}
    """,
    "kinds": "SELECT table_schema, table_name, table_type FROM information_schema.tables",
}


def _tables(file: duckdb.DuckDBPyConnection) -> list[str]:
    """Every table and view of our schemas."""
    full_name = "schema_name || '.' || table_name"
    names = file.execute(f"SELECT DISTINCT {full_name} FROM duckdb_columns() WHERE {_OURS} ORDER BY ALL")
    return [name for (name,) in names.fetchall()]


def _note_macros(file: duckdb.DuckDBPyConnection, checkout: Checkout, where: str) -> None:
    """Note the answers of the macros, such as the rows as of a day and the sources of a user's numbers."""
    query = f"SELECT DISTINCT schema_name, function_name, parameters FROM duckdb_functions() WHERE {_OURS}"
    offices = "SELECT office_id, user_id, month FROM marts.user_month ORDER BY ALL LIMIT 1"
    office, user, month = file.execute(offices).fetchall()[0]
    arguments = {"moment": datetime(2024, 5, 1), "office": office, "of_user": user, "of_month": month}
    for schema, name, parameters in sorted(file.execute(query).fetchall()):
        call = f'SELECT * FROM "{schema}"."{name}"({", ".join("?" for _ in parameters)})'
        answer = file.execute(call, [arguments[parameter] for parameter in parameters])
        checkout.note(f"{where}/{schema}.{name}()", _rows(answer, {}))


def _rows(answer: duckdb.DuckDBPyConnection, loads: Mapping[str, str], *, noisy: bool = False) -> list[str]:
    """The names of the compared columns, and the rows of these columns as sorted texts."""
    names = [column[0] for column in answer.description or ()]
    kept = [n for n, name in enumerate(names) if not LEFT_OUT.fullmatch(name)]
    rows = ("\t".join(cell(names[n], row[n], loads, noisy=noisy) for n in kept) for row in answer.fetchall())
    return ["\t".join(names[n] for n in kept), *sorted(rows)]


def cell(column: str, value: object, loads: Mapping[str, str], *, noisy: bool) -> str:
    """A value as text: a load as its request, a time of ours as its day, a float with nine digits."""
    if value is None:
        return "∅"
    if isinstance(value, str) and LOAD_ID.fullmatch(value):
        return f"load of {loads.get(value, 'something')}"
    if isinstance(value, datetime) and column.endswith("_utc"):
        day = value.replace(tzinfo=value.tzinfo or UTC).astimezone(BROKERAGE).date()
        return str(day) if day in DAYS and column != UNSTABLE_TIME else "moment"
    if isinstance(value, float):
        return f"{value:.9g}"
    if column == EXAMPLES:
        value = f"{len(json.loads(str(value)))} examples"
    text = masked(str(value), (*IDS, *NOISE[:3]) if noisy and isinstance(value, (str, list)) else IDS)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


# Each fault concerns one report of one customer, so that its result is the same every time.
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
    {"kind": "404", "path": "Budget/Crm/M30016/2024/4"},
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


INVALID_COMMANDS = (
    "frobnicate", "sync --frobnicate", "sync --from 2024-13", "plan --from 2024-05 --to 2024-04",
    "plan --report salse", "plan --customer M1", "explain --office M30016",
    "explain --office M1 --month 2024-04 --measure commission",
    "status", "publish", "rollback", "replay",
    "sandbox --port 0 --fault nonsense", "sandbox --port 0 --host 0.0.0.0",
)  # fmt: skip
WRONG_SETTINGS = (
    ("start", "soon"), ("timezone", "Mars"), ("base_url", "ftp://example.com"), ("concurrency", "0"),
    ("pagesize", "10"), ("customers", ""), ("base_url", "http://example.com"),
)  # fmt: skip


def shapes_a(checkout: Checkout, *, fast: bool) -> None:
    """Shapes a: the whole life of a data directory, from the first sync to the erasure of persons."""
    options = ("--seed", "3", "--offices", "6", "--from", "2023-09", "--activity", "0.3")
    settings = {
        "customers": "G1=The group,M30016",
        "start": "2024-02",
        "reports": ",".join(f"+{name}" for name in OFF),
        "budget_months_ahead": "2",
        "page_size": "10",
    }
    with world(checkout, "a", *options, **settings) as here:
        _first_syncs(here)
        _syncs_with_faults(here)
        if fast:
            return
        _repairs(here)
        here.run_each("status", "status --json", "doctor", "doctor --offline")
        _rollback_and_replay(here)
        _erasures(here)


def _first_syncs(here: World) -> None:
    """Two syncs some weeks apart, and a report on demand."""
    here.run_each("reports", "reports --json")
    here.run("plan before", "plan")
    here.run("plan before --json", "plan", "--json")
    here.run("status before", "status")
    here.run("sync first", "sync")
    here.look("first")
    estate = here.value("SELECT min(id) FROM bi.sales_estates WHERE _customer = 'M30016'")
    here.run("sync on demand", "sync", "--report", "sales_for_estate", "--estate", estate, "--no-publish")
    here.move(MOVED)
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


def _syncs_with_faults(here: World) -> None:
    words = [word for name in STRUCK for word in ("--report", name)]
    here.control("faults", list(HEALING))
    here.run("sync healing", "sync", "--refresh", "--from", "2024-04", *words)
    here.look("healing")
    here.control("faults", list(LASTING))
    here.run("sync lasting", "sync", "--refresh", "--from", "2024-03", "--to", "2024-05", *words)
    here.look("lasting")
    here.run("status lasting", "status")
    here.run("status lasting --json", "status", "--json")


def _repairs(here: World) -> None:
    """Repair what the faults left open, first from landing and then with new requests."""
    here.run("doctor lasting", "doctor")
    here.control("faults", [])
    here.run("replay quarantine", "replay", "--quarantine")
    here.run("status caps", "status", "--forget-caps")
    here.move(HEALED)
    here.run("plan healed --json", "plan", "--json")
    here.run("sync healed", "sync", "--accept-shrink")
    here.run("sync accepted", *"sync --refresh --from 2024-03 --report sales --accept-shrink".split())
    here.look("healed")


def _rollback_and_replay(here: World) -> None:
    """Publish, roll back, and rebuild the tables from landing."""
    here.run_each("publish", "rollback")
    here.look("rolled back")
    fresh = here.directory / "fresh"
    fresh.mkdir()
    shutil.copytree(here.data / "landing", fresh / "landing")
    here.settings["data_dir"] = str(fresh)
    here.run("replay from landing", "replay")
    here.run("publish replayed", "publish")
    here.look("replayed")


def _erasures(here: World) -> None:
    """Erase a contact and a user."""
    contact = here.value("SELECT min(contact_id) FROM bi.incoming_leads")
    user = here.value("SELECT min(id) FROM bi.users WHERE _customer = 'M30016'")
    here.run("erase contact", "erase", "--contact", contact)
    here.run("erase user", "erase", "--user", user)
    here.run("publish erased", "publish")
    here.look("erased")


def shapes_b(checkout: Checkout) -> None:
    """Shapes b, smaller: two syncs, an office next to its group, hashed contacts, and a replay."""
    options = ("--seed", "5", "--offices", "3", "--from", "2023-09", "--activity", "0.3", "--shapes", "b")
    settings = {
        "customers": "G1,M30011",
        "start": "2024-03",
        "budget_months_ahead": "1",
        "pseudonym_key": "a key of more than sixteen characters",
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


def command_line(checkout: Checkout) -> None:
    """Help texts, and the errors of commands that cannot succeed."""
    narrow = {"concurrency": "1", "start": "2024-04", "reports": "users", "retry_seconds": "0"}
    options = ("--seed", "3", "--offices", "6", "--from", "2023-09", "--activity", "0.1")
    logins = ("--login", "sandbox:sandbox", "--login", "narrow:narrow:M30016")
    with world(checkout, "words", *options, *logins, customers="G1,M30016", **narrow) as here:
        top = here.run("--help", "--help")
        for name in sorted(set(re.findall(r"^  (\w+)  ", top, re.MULTILINE))):
            here.run_each(f"{name} --help")
        here.run_each(*INVALID_COMMANDS)
        for name, value in WRONG_SETTINGS:
            here.run(f"plan, {name} {value.replace('/', '')}", "plan", **{name: value})
        here.run("unknown customer", "sync", customers="M99999")
        here.run("wrong password", "sync", password="wrong", customers="M30016")
        here.run("refused connection", "sync", base_url="http://127.0.0.1:9", customers="M30016")
        here.run("good run", "sync")
        here.run("narrow login", "sync", username="narrow", password="narrow")


def dagster(checkout: Checkout) -> None:
    settings = {"customers": "G1,M30016", "start": "2024-02", "base_url": "http://127.0.0.1:9"}
    settings["alert_webhook"] = "http://127.0.0.1:9/hook"
    with tempfile.TemporaryDirectory(prefix="golden-") as home:
        environment = checkout.environment(data_dir=f"{home}/data", today=str(FIRST), **settings)
        done = completed([sys.executable, "-c", DAGSTER_FACTS], environment, Path(home))
    if done.returncode:
        checkout.note("dagster/failed", done.stderr.splitlines()[-5:])
        return
    facts: dict[str, dict[str, object]] = json.loads(done.stdout.splitlines()[-1].replace(home, "HOME"))
    for kind, definitions in facts.items():
        for name, definition in definitions.items():
            checkout.note(f"dagster/{kind}/{name}", [json.dumps(definition, ensure_ascii=False)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("texts", type=Path, help="a new folder for the texts")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the checkout that is run")
    parser.add_argument("--fast", action="store_true", help="without shapes b and what follows the faults")
    options = parser.parse_args()
    options.texts.mkdir(parents=True)
    checkout = Checkout(options.checkout.resolve(), options.texts.resolve())
    with ThreadPoolExecutor(2) as pool:
        parts = [pool.submit(shapes_a, checkout, fast=options.fast)]
        parts += [pool.submit(part, checkout) for part in (command_line, dagster)]
        parts += [] if options.fast else [pool.submit(shapes_b, checkout)]
        for part in parts:
            part.result()


if __name__ == "__main__":
    main()
