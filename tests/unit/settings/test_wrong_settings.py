"""Wrong settings: each is rejected with a sentence that names it and quotes no secret."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.planning.selection import Selection, chosen_reports
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import Settings, load_settings
from tests.unit.settings.test_settings import CATALOGUE, ENOUGH

NOWHERE = Path("/nowhere")

# Variable without its prefix, value, and what the only problem says; what is secret says hush.
WRONG = [
    ("BASE_URL", "", "is not set; set it to the address of the Connect service, like"),
    ("BASE_URL", "https://partner:hush@service.example", "contains a username or password; remove it"),
    ("BASE_URL", "https://service.example/?key=hush", "must end with a plain path, without a query, an @, a"),
    ("BASE_URL", "http://service.example/hush", "begins with http, so anyone on the network could"),
    ("USERNAME", "", "is not set; set it to the username of the login."),
    ("PASSWORD", "", "is not set; set it to the password, or set BROKERBI_PASSWORD_FILE to"),
    ("CUSTOMERS", "", "is not set; set it to a list of ids, like M30011,G2."),
    ("CUSTOMERS", "M1,M1", "names M1 more than once; keep one of each."),
    ("START", "", "is not set; set it to the first month to keep, like 2024-01."),
    ("START", "2024", "('2024') is not a month; write it as YYYY-MM, for example 2024-01."),
    ("START", "0024-01", "is too early; no customer has reports from before 1990-01."),
    ("CONCURRENCY", "0", "('0') is not a whole number from 1 to 50."),
    ("TODAY", "2026-03-31", "is set, but the service is not on this machine; remove it, or point"),
    ("NIGHTLY", "0 5 0 * *", "('0 5 0 * *') is not a schedule in cron's five fields, like 0 5 * * *"),
    ("PASSWORD", "hush\n", "contains a line break or another control character; remove it"),
    ("USERNAME", "hush:hush", "contains a colon or a control character, which Basic"),
    ("PASSWORD_FILE", "x", "are both set; set only one of them."),
    ("CONFIG", "no.toml", "names /nowhere/no.toml, but there is no such file; correct the path."),
    ("CUSTOMER__M9__PASSWORD", "hush", "name of a setting; write BROKERBI_CUSTOMER__<ID>__PASSWORD"),
    ("CUSTOMER__G2__PASWORD", "hush", "S: customer 'G2' has a key 'pasword', which is not one of username,"),
    ("CUSTOMER__G2__ACTIVE", "nej", "S: the active of customer 'G2' is not true or false."),
    ("PSEUDONYMKEY", "hush", "is not a setting; did you mean BROKERBI_PSEUDONYM_KEY?"),
    ("LOGIN__CRM__PASSWRD", "hush", "is not a table for each function, like crm, with its password_file."),
    ("LOGIN__CRM__PASSWORD_FILE", "no", "_FILE names /nowhere/no, which cannot be read"),
    ("CUSTOMER__G2__USERNAME", "x", "__G2__PASSWORD is not set; set it or BROKERBI_CUSTOMER__G2__PASSWORD"),
    ("ALERT_EMAIL_TO", "nobody", "('nobody') is not a list of mailboxes separated by commas, like bi@"),
    ("ALERT_SMTP_USERNAME", "u", "PASSWORD is not set; set it or BROKERBI_ALERT_SMTP_PASSWORD_FILE"),
    ("COMMISSION_VAT", "included", "is included, but BROKERBI_VAT_RATE is not set; set it to the rate"),
    ("DATA_DIR", "a?b", "contains a ?, after which DuckDB reads options; name a directory without one."),
    ("ALERT_WEBHOOK", "hush", "is not an address to post to; begin it with https://"),
]  # fmt: skip
ACKNOWLEDGE = '[[acknowledge]]\nkind = "check"\nreason = "asked"\n'


def problems_of(environment: dict[str, str], directory: Path = NOWHERE) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment, directory=directory)
    return caught.value.problems


@pytest.mark.parametrize(("name", "value", "sentence"), WRONG)
def test_a_wrong_setting_is_rejected_with_a_sentence(name: str, value: str, sentence: str) -> None:
    [problem] = problems_of({**ENOUGH, f"BROKERBI_{name}": value})
    assert (sentence in problem, "hush" in problem) == (True, False)
    assert problem.startswith(
        (f"BROKERBI_{name.partition('__')[0]}", "BROKERBI_PASSWORD and", "BROKERBI_ALERT")
    )


@pytest.mark.parametrize(
    "customer",
    ["M|1", "M,,1", "M;1", "M]1", "..", ".", "M...1", "M 1", "M\u00a01", "M\x001", "M'1", "M" * 101],
)
def test_a_customer_id_that_fits_no_partition_or_path_is_rejected(customer: str) -> None:
    problems = problems_of({**ENOUGH, "BROKERBI_CUSTOMERS": customer})
    assert all(problem.startswith("BROKERBI_CUSTOMERS: ") for problem in problems)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"CONCURRENCY": "x", "CUSTOMERZ": "M1", "START": "x"}, ["CUSTOMERZ", "CONCURRENCY", "START"]),
        ({"CUSTOMERZ": "M1", "CUSTOMERS": ""}, ["CUSTOMERZ"]),
        ({"ALERT_EMAIL_TO": "a@x.se", "BASE_URL": "http://x.se"}, ["BASE_URL", *["ALERT_EMAIL_TO"] * 2]),
    ],
    ids=["after the warnings", "a mistyped name once", "settings that do not fit together"],
)
def test_all_problems_are_reported_together(variables: dict[str, str], named: list[str]) -> None:
    problems = problems_of({**ENOUGH, **{f"BROKERBI_{name}": value for name, value in variables.items()}})
    assert [problem.split()[0] for problem in problems] == [f"BROKERBI_{name}" for name in named]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('password = "hush-hush"', "holds a secret (password); remove it, and set BROKERBI_PASSWORD, or"),
        ('customers = [{id = "G2", password = "hush-hush"}]', "and set BROKERBI_CUSTOMER__G2__PASSWORD, or"),
        ('alert_webhook = "hush-hush"', "holds a secret (alert_webhook); remove it, and set BROKERBI_AL"),
        ('logins.crm = {password = "hush-hush", password_file = "brokerbi.toml"}', "BROKERBI_LOGIN__CRM__PA"),
        ('[logins.crm]\nusername = "x"', "BROKERBI_LOGIN__CRM__PASSWORD is not set; set it or BROKERBI_LO"),
        ('logins = ["crm"]', "BROKERBI_LOGINS is not a table for each function, like crm"),
        ('customers = [{id = "G2", pasword_file = "x"}]', "'G2' has a key 'pasword_file', which is not"),
        ("a = = 1", "cannot be read as TOML: "),
        ("concurrency = [5]", "BROKERBI_CONCURRENCY ([5]) is not a whole number from 1 to 50."),
        ('alert_smtp_username = ["hush"]', "BROKERBI_ALERT_SMTP_USERNAME is not the username at the mail"),
        ('[acknowledge]\nkind = "x"', "BROKERBI_ACKNOWLEDGE is not a list of tables [[ackn"),
        (f'{ACKNOWLEDGE}until = "1 may"', "until ('1 may') of acknowledgement number 1 is not a day without"),
        (f'{ACKNOWLEDGE}untill = 2026-05-01', "acknowledgement number 1 has a key 'untill', which is not "),
        (ACKNOWLEDGE, "acknowledgement number 1 has no until; write a day without quotes, like 2026-12-31."),
    ],
)  # fmt: skip
def test_a_wrong_file_is_rejected_with_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "brokerbi.toml").write_text(text, encoding="utf-8")
    [problem] = problems_of(ENOUGH, tmp_path)
    assert (sentence in problem, "hush" in problem) == (True, False)


@pytest.mark.parametrize(
    ("customers", "sentence"),
    [
        ("5", "is not a list of ids, like M30011,G2."),
        ('[{name = "x"}]', ": customer number 1 has no id; write an id, like M30011."),
        ('[{idd = "x"}]', "id, name, logins, active, region."),
        ("[{id = [1]}]", ": the id of customer [1] is not an id, like M30011."),
        ('[{id = "M1", active = false}]', "names no active customer; name at least one, like M30011."),
    ],
)
def test_invalid_customers_of_the_file_are_rejected(tmp_path: Path, customers: str, sentence: str) -> None:
    (tmp_path / "brokerbi.toml").write_text(f"customers = {customers}")
    [problem] = problems_of({**ENOUGH, "BROKERBI_CUSTOMERS": ""}, tmp_path)
    assert problem.endswith(sentence)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "which cannot be read: No such file or directory."),
        (b"\n", "which is empty."),
        (b"\xff\xfe", "which cannot be read: it is not text in UTF-8."),
    ],
)
def test_an_unusable_password_file_is_rejected(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    problems = problems_of({**ENOUGH, "BROKERBI_PASSWORD": "", "BROKERBI_PASSWORD_FILE": "secret"}, tmp_path)
    assert problems == (f"BROKERBI_PASSWORD_FILE names {tmp_path / 'secret'}, {sentence}",)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("sale", "names 'sale', which is not a report; did you mean sales?"),
        ("weather", "names 'weather', which is not a report; `brokerbi reports` lists them all."),
        ("sales,+tips", "mixes plain names with +name and -name; write only one of the two kinds."),
    ],
)
def test_an_unknown_report_is_rejected(written: str, sentence: str) -> None:
    settings = load_settings({**ENOUGH, "BROKERBI_REPORTS": written}, directory=NOWHERE)
    with pytest.raises(SettingsError) as caught:
        chosen_reports(settings, Selection(), CATALOGUE)
    assert caught.value.problems == (f"BROKERBI_REPORTS {sentence}",)


def test_a_login_for_a_function_without_reports_is_rejected() -> None:
    given = {**ENOUGH, "BROKERBI_LOGIN__BUSINES_INTELLIGENCE__PASSWORD": "hush"}
    with pytest.raises(SettingsError, match=r"'busines_intelligence', but .* like business_intelligence"):
        chosen_reports(load_settings(given, directory=NOWHERE), Selection())


def test_a_customer_without_a_login_is_rejected() -> None:
    environment = {"BROKERBI_CUSTOMERS": "M1", "BROKERBI_START": "2024-01"}
    settings = load_settings(environment, directory=NOWHERE, offline=True)
    with pytest.raises(SettingsError, match="Customer M1 has no login"):
        settings.login_of(settings.customers[0])


@given(
    name=st.sampled_from([*(f"BROKERBI_{field.upper()}" for field in Settings.model_fields), "BROKERBI_X"]),
    value=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
)
def test_every_value_gives_settings_or_sentences(name: str, value: str) -> None:
    with suppress(SettingsError):
        assert load_settings({**ENOUGH, name: value}, directory=NOWHERE).customers
