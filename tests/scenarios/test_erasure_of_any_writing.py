"""A person is erased from answers in every writing a service may choose, and from nothing else."""

from __future__ import annotations

import html
import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import duckdb
import pytest
import zstandard

from pipelines.diagnosis.health import open_erasures
from pipelines.diagnosis.quarantined_rows import raw_rows
from pipelines.upkeep.erase import ErasureReceipt, erase
from tests.scenarios.processes import NO_ROOM, Job, Step, is_killed, run
from tests.scenarios.scenario import Scenario, scenario
from warehouse.load.landing import Landing
from warehouse.store.database import Store

ID, MAIL, FIRST, LAST, PHONE = (
    "K+47/11-Ü\U0001f600",
    "ünal+öz@example.se",
    "Ünal",
    "Özdemir",
    "+46 70 765 43 21",
)
NAME = f"{FIRST} {LAST}"
NEEDLES = [ID, MAIL, NAME, f"{LAST}, {FIRST}", PHONE]
OTHERS = '"exact":[123456789012345678901234567890,1.50,1E+2,-0.0,0.1234567890123456789],"half":"\\ud83d"'
MONTH = date(2026, 10, 1)


def lead(number: int, *, text: str = "kök", contact: str = "", more: str = "", created: str = "") -> str:
    """A lead as JSON; only the contact and the texts are about anybody."""
    created = created or f"2026-10-{number:02}T10:00:00"
    return (
        f'{{"createdAt":"{created}","lead":{{"id":"L{number}","title":{json.dumps(text)}}},'
        f'"contact":{contact or other(number)},{OTHERS},"price":{number}.10{more}}}'
    )


def other(number: int) -> str:
    return f'{{"id":"OTHER-{number}","firstName":"Bo","lastName":"Ek","email":"bo{number}@example.se"}}'


def contact() -> str:
    said = {"id": ID, "firstName": FIRST, "lastName": LAST, "email": MAIL, "phone": PHONE}
    return json.dumps(said, ensure_ascii=False)


def document(*more: str) -> str:
    leads = [lead(1, contact=contact()), lead(2, text=f"ring {NAME.upper()} eller {MAIL}!"), lead(3), *more]
    return f'{{"incomingLeads":[{",".join(leads)}],"outgoingLeads":[],"tips":[]}}'


def as_dotnet(text: str) -> str:
    r"""Strings as System.Text.Json writes them: `\u00FC`, `\u002B`."""
    return re.sub(r"[^\x00-\x7f]|\+(?=[^0-9])|[&'<>]", lambda sign: escaped(sign[0]), text)


def escaped(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def all_escaped(text: str) -> str:
    """Every sign of every string as an escape."""
    return re.sub(r'"((?:[^"\\]|\\.)*)"', lambda one: f'"{escaped(json.loads(one[0]))}"', text)


def with_slashes(text: str) -> str:
    return text.replace("/", "\\/")


IN_JSON = json.dumps(json.dumps({"a": [f"{MAIL}", {"contactId": ID, "contactName": "Ü"}]}))
MAILS = f"mail={quote(MAIL)}&mail={quote(quote(MAIL))}"
ADDRESS = f"https://x.example/{quote(ID, safe='')}?{MAILS}&n={NAME.replace(' ', '+')}"
SCORES = f',"scores":{{{json.dumps(ID)}:5,"OTHER-9":6}},"notes of":{{"{MAIL}":[{{"n":1}}],"all":[{{"n":2}}]}}'
ROWS = (
    f',"byPerson":{{"OTHER-8":{{"name":"Bo","age":1}},{json.dumps(ID)}:{{"name":"Ünal","age":2}},'
    '"OTHER-9":{"name":"Li","age":3}}'
)
TWICE = f',"twice":"{MAIL}","twice":"nobody"'
BODIES: dict[str, bytes] = {
    "plain": document().encode(),
    "dotnet": as_dotnet(document()).encode(),
    "slashes": with_slashes(document()).encode(),
    "escaped": all_escaped(document()).encode(),
    "decomposed": unicodedata.normalize("NFD", document()).encode(),
    "mark": document().encode("utf-8-sig"),
    "utf16": document().encode("utf-16"),
    "utf16le": as_dotnet(document()).encode("utf-16-le"),
    "utf16be": document().encode("utf-16-be"),
    "utf16bemark": b"\xfe\xff" + document().encode("utf-16-be"),
    "utf32": document().encode("utf-32"),
    "injson": document(lead(4, text=IN_JSON), lead(5, text=as_dotnet(IN_JSON))).encode(),
    "address": document(lead(4, text=ADDRESS), lead(5, more=f',"link":"{ADDRESS}"')).encode(),
    "keys": document(lead(4, more=SCORES)).encode(),
    "keysdotnet": as_dotnet(document(lead(4, more=SCORES))).encode(),
    "rows": document(lead(4, more=ROWS)).encode(),
    "twice": document(lead(4, more=TWICE)).encode(),
    "wrong": document(lead(4, text=f"för {NAME}", created="yesterday", contact=contact())).encode(),
}
FEW = ("plain", "utf16le", "keysdotnet", "wrong")
"""Writings enough for what is true of an erasure whatever the writing."""
UNREADABLE = [
    document()[:-100].encode(),
    as_dotnet(document())[:-100].encode("utf-16-le")[:-1],
    all_escaped(document())[:-7].encode(),
    f"<p>{html.escape(NAME)} {MAIL} &Uuml;nal &#214;zdemir {ID}</p>".encode("cp1252", "xmlcharrefreplace"),
    f"{NAME}: ".encode() + b"\xff\xfe" + f"{MAIL} {PHONE}".encode(),
    f"<p>{NAME}</p>".encode("utf-16"),
    b"[" * 3000 + as_dotnet(f'"{MAIL} {NAME}"').encode() + b"]" * 3000,
]


@dataclass(frozen=True)
class Erased:
    """What was held before and after, and the receipt."""

    here: Scenario
    before: dict[str, list[Any]]
    totals: list[tuple[object, ...]]
    receipt: ErasureReceipt


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Answers in every writing, published; only copied."""
    here = answered(tmp_path_factory.mktemp("whole"), *BODIES)
    assert here.publish().publication.published
    return here


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Answers in a few writings; only copied."""
    return answered(tmp_path_factory.mktemp("few"), *FEW)


def answered(directory: Path, *customers: str) -> Scenario:
    """The answers of these customers, replayed, with all that may be left beside them."""
    here = scenario(directory, ["tips_and_leads"], whole=True)
    for customer in customers:
        land(here, customer, BODIES[customer])
    assert here.replay().failures == []
    logged = json.dumps({"url": f"/x/{quote(ID, safe='')}", "who": [NAME, MAIL, PHONE]})
    (here.data_dir / "work" / "requests.log").write_text(logged + "\n", "utf-8")
    shutil.copy(here.landing_files[0], here.landing_files[0].with_name("killed.tar.zst.part"))
    (here.data_dir / ".report.html.99999999.new").write_text(NAME)
    return here


def land(here: Scenario, customer: str, body: bytes) -> None:
    header = {"run_id": "r", "months": [str(MONTH)], "history": False, "kept": True, "asked": None}
    writer = Landing(here.data_dir / "landing").open(
        "tips_and_leads", customer, MONTH, date(2026, 10, 31), f"load-of-{customer}", header
    )
    said = {
        "path": f"/contacts/{quote(ID, safe='')}",
        "query": {"activeStatusTipLead": "Active", "mail": MAIL, "next": ADDRESS},
        "content_type": f"application/json; for={quote(MAIL)}",
        "asked": ID,
    }
    for refused in UNREADABLE:
        writer.add({**said, "status": 500}, refused)
    writer.add({**said, "status": 200}, body)
    trailer = {
        "used": [len(UNREADABLE)],
        "note": f"said {NAME}",
        "fetched_at_utc": "2026-11-01T00:00:00+00:00",
    }
    writer.close(trailer)


def erase_contact(here: Scenario) -> ErasureReceipt:
    return erase(here.settings, "contact", ID, clock=here.clock)


@pytest.fixture(scope="module")
def erased(whole: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Erased:
    here = whole.copied_to(tmp_path_factory.mktemp("erased") / "data")
    before, totals = documents(here), here.rows(TOTALS)
    return Erased(here, before, totals, erase_contact(here))


TOTALS = "SELECT _customer, count(*), sum(price) FROM bi.incoming_leads GROUP BY ALL ORDER BY ALL"


def documents(here: Scenario) -> dict[str, list[Any]]:
    """The leads of every customer, numbers as they are written."""
    landing = Landing(here.data_dir / "landing")
    found = {}
    for path in landing.paths():
        *_, (_, body) = landing.read(path)
        encoding = json.detect_encoding(body)
        text = body.decode("utf-16-be" if body.startswith(b"\xfe\xff") else encoding).removeprefix("\ufeff")
        tree = json.loads(text, parse_int=str, parse_float=lambda digits: f"number {digits}")
        found[landing.landed(path).header["customer"]] = tree["incomingLeads"]
    return found


def places(directory: Path) -> list[str]:
    """Every place below a directory that tells of the person, however it is written."""
    return sorted({f"{place}: {word}" for place, text in texts(directory) for word in words_in(text)})


def texts(directory: Path) -> Iterator[tuple[str, str]]:
    """All there is below a directory as texts: files in every encoding, DuckDB's also as rows and names."""
    for path in filter(Path.is_file, directory.rglob("*")):
        yield path.name, str(path.relative_to(directory))
        content = path.read_bytes()
        if path.suffix == ".duckdb":
            rows, runs = {*texts_of_file(path)} - CLEAN, {*re.findall(rb"[\x20-\xff]{6,}", content)} - CLEAN
            content = b"\n".join(["\n".join(rows).encode(), *runs])
            if not any(words_in(content.decode(encoding, "replace")) for encoding in ENCODINGS):
                CLEAN.update(rows, runs)
        if ".zst" in path.name:
            content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
        for encoding in ENCODINGS:
            yield path.name, content.decode(encoding, "replace")
        if b"\0" in content:
            for encoding in ("utf-16-le", "utf-16-be", "utf-32-le"):
                yield path.name, content.decode(encoding, "replace")
                yield path.name, content[1:].decode(encoding, "replace")


def texts_of_file(path: Path) -> Iterator[str]:
    with duckdb.connect(str(path), read_only=True) as file:
        for view in ("duckdb_columns()", "duckdb_tables()", "duckdb_views()", "duckdb_functions()"):
            yield from map(str, file.execute(f"FROM {view} WHERE NOT internal").fetchall())
        named = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
        for schema, table in file.execute(named).fetchall():
            for (row,) in file.execute(
                f'SELECT its_row::VARCHAR FROM "{schema}"."{table}" its_row'
            ).fetchall():
                yield row


PATTERNS = {
    word: re.compile(r"[\W_]+".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFC", word).casefold())))
    for word in NEEDLES
}
"""The words, whatever signs are between their letters and digits, as in columns named after them."""
ENCODINGS = ("utf-8", "latin-1")
CLEAN: set[str | bytes] = set()
"""Rows and runs of signs of DuckDB's files in which nothing was found: copies hold the same ones."""
KNOWN: dict[int, list[str]] = {}
"""What was found in a text, by its hash: most files are looked through again and again."""


def words_in(text: str) -> list[str]:
    """The words of the person in a text, with all escapes resolved, and as names of columns."""
    if (key := hash(text)) not in KNOWN:
        KNOWN[key] = [*_words_in(text)]
    return KNOWN[key]


def _words_in(text: str) -> Iterator[str]:
    before = ""
    for _ in range(4):
        if text == before:
            break
        before = text
        text = re.sub(r"\\\\*u([0-9a-fA-F]{4})", lambda one: chr(int(one[1], 16)), text)
        text = re.sub(
            r"%[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*", lambda one: unquote(one[0]), text.replace("\\/", "/")
        )
        text = html.unescape(text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    known = unicodedata.normalize("NFC", text).casefold()
    yield from (word for word, pattern in PATTERNS.items() if pattern.search(known))


def test_the_person_is_in_all_those_places_before(whole: Scenario) -> None:
    held = places(whole.data_dir)
    assert {place.partition(": ")[0] for place in held} >= {
        "warehouse.duckdb", "requests.log", "killed.tar.zst.part", ".report.html.99999999.new",
        *(f"load-of-{customer}.tar.zst" for customer in BODIES),
    }  # fmt: skip


def test_no_file_tells_of_the_person_in_any_writing(erased: Erased) -> None:
    assert places(erased.here.data_dir) == []


def test_a_replay_does_not_bring_the_person_back(erased: Erased, tmp_path: Path) -> None:
    here = erased.here.copied_to(tmp_path / "data")
    here.lose_working_file()
    assert here.replay().failures == []
    assert places(here.data_dir / "work") == []


def test_a_row_in_quarantine_stays_there_without_the_person(erased: Erased) -> None:
    [row] = raw_rows(Store(erased.here.data_dir))
    assert (row.trouble, row.row.customer, words_in(row.raw)) == ("", "wrong", [])
    assert '"lead": {"id": "L4"' in row.raw


def test_rows_and_amounts_stay(erased: Erased) -> None:
    assert erased.here.rows(TOTALS) == erased.totals


def test_leads_of_others_are_the_same_to_the_last_digit(erased: Erased) -> None:
    after = documents(erased.here)
    kept = {
        customer: [one for one in leads if not has_person(one)] for customer, leads in erased.before.items()
    }
    assert {
        customer: [one for one in after[customer] if one in leads] for customer, leads in kept.items()
    } == kept
    assert all(len(leads) >= 1 for leads in kept.values())


def test_of_a_lead_of_the_person_all_else_stays(erased: Erased) -> None:
    before, after = erased.before["plain"][0], documents(erased.here)["plain"][0]
    alias = after["contact"]["id"]
    assert alias.startswith("erased-")
    assert after == {**before, "contact": {**dict.fromkeys(before["contact"]), "id": alias}}


def test_members_under_keys_stay_and_the_key_goes(erased: Erased) -> None:
    after = documents(erased.here)
    alias = after["plain"][0]["contact"]["id"]
    assert after["keys"][3]["scores"] == {alias: "5", "OTHER-9": "6"}
    assert after["keys"][3]["notes of"] == {alias: [{"n": "1"}], "all": [{"n": "2"}]}
    assert after["rows"][3]["byPerson"][alias] == {"name": None, "age": "2"}


def test_columns_named_after_the_person_keep_their_values_under_another_name(erased: Erased) -> None:
    query = "SELECT column_name FROM meta.columns WHERE contains(source, 'scores.') ORDER BY ALL"
    named, [other] = erased.here.rows(query)
    assert named[0].startswith("scores_erased_")
    sums = f'SELECT sum("{named[0]}"), sum("{other}") FROM bi.incoming_leads'
    assert erased.here.rows(sums) == [(10, 12)]
    assert (
        len(erased.here.rows("SELECT 1 FROM meta.tables WHERE contains(table_name, '__notes_of_erased_')"))
        == 1
    )


def test_erasing_again_finds_nothing_but_points_out_a_file_being_written_and_the_history_of_runs(
    erased: Erased, tmp_path: Path
) -> None:
    here, runs = erased.here.copied_to(tmp_path / "data"), tmp_path / "runs"
    runs.mkdir()
    (runs / "runs.db").write_text(json.dumps({"contact": ID}))
    writer = Landing(here.data_dir / "landing").open("users", "M1", None, None, "of another process")
    again = erase(here.settings, "contact", ID, clock=here.clock, runs=runs)
    writer.discard()
    assert (again.found, again.rebuilt, again.versions_removed) == (False, [], [])
    assert [problem.split(";")[0][:30] for problem in again.problems] == [
        "1 landing files are being writ",
        "the history of runs still tell",
    ]


@pytest.mark.parametrize("step", [Step("landing_closed", 3), NO_ROOM])
def test_one_that_was_cut_short_is_told_without_naming_anybody_until_it_is_run_again(
    few: Scenario, tmp_path: Path, step: Step | int
) -> None:
    here = few.copied_to(tmp_path / "data")
    job = Job.of("erase", here, person=("contact", ID))
    if isinstance(step, Step):
        assert is_killed(job, step)
    else:
        assert run(replace(job, largest_file=600_000)) == NO_ROOM
    [told] = open_erasures(here.data_dir)
    assert (told.is_error, "is not finished" in told.error) == (True, True)
    assert places(here.data_dir / "work" / "erasures") == []
    assert run(job) == 0
    assert (open_erasures(here.data_dir), places(here.data_dir)) == ([], [])


def test_an_id_too_short_to_be_looked_for_in_texts_is_told(few: Scenario, tmp_path: Path) -> None:
    here = few.copied_to(tmp_path / "data")
    receipt = erase(here.settings, "user", "7", clock=here.clock)
    [told] = open_erasures(here.data_dir)
    assert [problem[:31] for problem in receipt.problems] == ["the id has fewer than 6 signs: "]
    assert (told.is_error, receipt.problems[0] in told.error) == (False, True)


def has_person(value: Any) -> bool:
    return any(words_in(json.dumps(value)))
