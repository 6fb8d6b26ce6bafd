"""Settings: each with its type, default and rule; read once at the start, and passed to functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipelines.address import checked_address, is_loopback
from pipelines.catalogue.model import functions_of
from pipelines.clock import Clock, RehearsalClock
from pipelines.foreign_text import tidy
from pipelines.months import Month
from pipelines.settings.messages import PREFIX, SettingsError, sentences, variable
from pipelines.settings.sources import Sources

CUSTOMER_ID = re.compile(r"""[^|,\[\]\\"';\s]{1,100}""")
"""The id is part of a partition key, in which Dagster does not allow `|`, `,`, `[` or `]`."""
EARLIEST_START = Month(1990, 1)
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff"
NO_CONTROL = re.compile(f"[^{CONTROL}]*")
NO_CONTROL_OR_COLON = re.compile(f"[^:{CONTROL}]*")
LINK = re.compile(r"((https?://|file:///)[^\s@?#]+)?")
WEBHOOK = re.compile(r"(https?://[^\s/]+(/\S*)?)?")
TextOrSecret = TypeVar("TextOrSecret", bound=str | SecretStr)


def _checked_id(text: str) -> str:
    text = tidy(text)
    is_id = CUSTOMER_ID.fullmatch(text) and text.isprintable()
    # "..." cannot be in a partition key of Dagster; "." and ".." would change the path of a request
    if not is_id or "..." in text or text in {".", ".."}:
        raise ValueError("cannot be a customer id; separate ids with commas, like M30011,G2")
    return text


def _matching(form: re.Pattern[str], error: str, value: TextOrSecret) -> TextOrSecret:
    if not form.fullmatch(value.get_secret_value() if isinstance(value, SecretStr) else value):
        raise ValueError(error)
    return value


def _checked_timezone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError):  # an unknown zone, an invalid name, or a folder (Europe)
        raise ValueError("is not a known time zone; write it like Europe/Stockholm") from None


def _checked_start(value: object) -> Month:
    try:
        if not isinstance(value, Month):
            value = Month.of(value) if isinstance(value, date) else Month.parse(str(value))
    except ValueError:
        raise ValueError("is not a month; write it as YYYY-MM, for example 2024-01") from None
    if value < EARLIEST_START:
        raise ValueError(f"is too early; no customer has reports from before {EARLIEST_START}")
    return value


def _checked_folder(path: Path) -> Path:
    if "?" in str(path):
        raise ValueError("contains a ?, after which DuckDB reads options; name a directory without one")
    return path


def _split_at_commas(value: object) -> object:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


NOT_CARRIED = "contains a colon or a control character, which Basic authentication cannot send; remove it"
HAS_CONTROL = "contains a line break or another control character; remove it"
NOT_A_LINK = "is not an address for a browser; write it like https://files.example.com/bi"
NOT_A_WEBHOOK = "is not an address to post to; begin it with https:// and use no spaces"
Name = Annotated[str, AfterValidator(tidy)]
Username = Annotated[str, AfterValidator(partial(_matching, NO_CONTROL_OR_COLON, NOT_CARRIED))]
Secret = Annotated[SecretStr, AfterValidator(partial(_matching, NO_CONTROL, HAS_CONTROL))]
Webhook = Annotated[SecretStr, AfterValidator(partial(_matching, WEBHOOK, NOT_A_WEBHOOK))]
Link = Annotated[
    str,
    AfterValidator(lambda text: text.strip().rstrip("/")),
    AfterValidator(partial(_matching, LINK, NOT_A_LINK)),
]
CRON = r"(?i)^\s*" + r"\s+".join(
    rf"(\*|{value}(-{value})?)(/[1-9]\d*)?(,{value}(-{value})?(/[1-9]\d*)?)*"
    for value in (r"[0-5]?\d", r"(1?\d|2[0-3])", r"([1-9]|[12]\d|3[01])",
                  r"([1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
                  r"([0-7]|sun|mon|tue|wed|thu|fri|sat)")
) + r"\s*$"  # fmt: skip
"""The five fields of cron. Months and weekdays may be numbers or three letters, like jan and mon."""
Mailbox = Annotated[str, Field(pattern=r"^[^\s@,;<>\"]+@[^\s@,;<>\"]+$")]
FILE_DESCRIPTION = "the path of a file with a secret"

NO_SECRET = SecretStr("")
FROZEN = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class FunctionLogin(BaseModel):
    """A login for one function (an area of the service): the login for crm is sent to paths below /CRM."""

    model_config = FROZEN

    username: Username | None = Field(default=None, repr=False)  # None: the customer's, else the shared one
    password: Secret | None = None
    password_file: Path | None = None


LOGINS = "a table for each function, like crm, with its password_file"


class Customer(FunctionLogin):
    """An office or group whose reports are requested.

    It may have a password of its own, or a username and password. `logins` are its logins for functions. An
    inactive customer is not requested, but its rows stay. The region of a group applies to its offices,
    except those that are customers with a region of their own.
    """

    id: Annotated[str, AfterValidator(_checked_id), Field(description="an id, like M30011")]
    name: Name = Field(default="", max_length=200, description="a name of at most 200 characters")
    logins: Mapping[str, FunctionLogin] = Field(default={}, description=LOGINS)
    active: bool = Field(default=True, description="true or false")
    region: Name = Field(default="", max_length=200, description="a name of at most 200 characters")


class Acknowledgement(BaseModel):
    """Known conditions that raise no alarm up to and including `until`. An empty field matches any value."""

    model_config = FROZEN

    kind: str
    report: str = ""
    customer: str = ""
    check_name: str = ""
    reason: str = Field(min_length=1, description="a text that says why")
    until: date = Field(description="a day without quotes, like 2026-12-31")


class Settings(BaseModel):
    """All settings. Example: `page_size` is set by page_size in brokerbi.toml or by BROKERBI_PAGE_SIZE."""

    model_config = FROZEN

    # The service and its requests.
    base_url: Annotated[str, AfterValidator(checked_address)] = Field(
        default="", description="the address of the Connect service, like https://host/path"
    )
    allow_http: bool = Field(default=False, description="true or false")
    username: Username = Field(default="", repr=False, description="the username of the login")
    password: Secret = Field(
        default=NO_SECRET, description="the password, or set BROKERBI_PASSWORD_FILE to a file with it"
    )
    password_file: Path | None = Field(default=None, description=FILE_DESCRIPTION)
    logins: Mapping[str, FunctionLogin] = Field(default={}, description=LOGINS)
    customers: tuple[Customer, ...] = Field(default=(), description="a list of ids, like M30011,G2")
    concurrency: int = Field(default=5, ge=1, le=50, description="a whole number from 1 to 50")
    requests_per_second: float = Field(default=10, ge=0.1, le=1000, description="a number from 0.1 to 1000")
    page_size: int = Field(default=1000, ge=1, le=100_000, description="a whole number from 1 to 100000")
    timeout_seconds: float = Field(default=30, gt=0, le=3600, description="a number above 0, at most 3600")
    retry_seconds: float = Field(default=300, ge=0, le=86_400, description="a number from 0 to 86400")
    largest_answer_mb: int = Field(default=24, ge=1, le=8192, description="a whole number from 1 to 8192")

    # Reports and times.
    start: Annotated[Month, BeforeValidator(_checked_start)] = Field(
        default=EARLIEST_START, description="the first month to keep, like 2024-01"
    )
    timezone: Annotated[str, AfterValidator(_checked_timezone)] = Field(
        default="Europe/Stockholm", description="the brokerage's time zone, like Europe/Stockholm"
    )
    reports: Annotated[tuple[str, ...] | None, BeforeValidator(_split_at_commas)] = Field(
        default=None, description="a list of report names separated by commas, or of +name and -name"
    )
    due_months: int = Field(default=3, ge=1, le=120, description="a number of months from 1 to 120")
    changed_months: int = Field(default=12, ge=0, le=120, description="a number of months from 0 to 120")
    budget_months_ahead: int = Field(default=12, ge=0, le=60, description="a number of months from 0 to 60")
    ids_a_night: int = Field(default=200, ge=1, le=100_000, description="a whole number from 1 to 100000")
    today: date | None = Field(default=None, description="a day for rehearsals, like 2026-03-31")
    nightly: str = Field(
        default="0 5 * * *", pattern=CRON, description="a schedule in cron's five fields, like 0 5 * * *"
    )

    # Tax basis of the amounts.
    commission_vat: Literal["excluded", "included", "unknown"] = Field(
        default="unknown", description="excluded, included or unknown"
    )
    vat_rate: Annotated[Decimal, AfterValidator(lambda rate: rate if rate < 1 else rate / 100)] | None = (
        Field(default=None, gt=0, lt=100, description="a rate of VAT, like 0.25 for 25 %")
    )

    # Retention and publication.
    data_dir: Annotated[Path, AfterValidator(_checked_folder)] = Field(
        default=Path("data"), description="a directory"
    )
    shapes: Path | None = Field(default=None, description="a file like shapes.toml")
    landing_days: int | None = Field(default=None, ge=1, description="a number of days, at least 1")
    pseudonym_key: Secret = Field(default=NO_SECRET, description="a secret key of any length")
    pseudonym_key_file: Path | None = Field(default=None, description=FILE_DESCRIPTION)
    keep_published: int = Field(default=5, ge=1, le=1000, description="a whole number from 1 to 1000")
    allow_budget_writes: bool = Field(default=False, description="true or false")
    published_url: Link = Field(default="", description="the address of the published file and its page")
    pages: bool = Field(default=True, description="true or false")
    chain_name: str = Field(default="", max_length=200, description="a name of at most 200 characters")
    language: Literal["en", "sv"] = Field(default="en", description="en or sv")
    export_formats: Annotated[
        tuple[Literal["parquet", "csv", "xlsx"], ...], BeforeValidator(_split_at_commas)
    ] = Field(default=(), description="a list of formats separated by commas: parquet, csv, xlsx")
    export_to: str = Field(default="", pattern=r"^[^:]*$", description="a directory")

    # `shard` names this installation, if several share one Dagster. `lake` is where Delta tables are written.
    shard: str = Field(default="", pattern=r"^([a-z][a-z0-9_]{0,29})?$", description="a name like north_1")
    lake: str = Field(default="", pattern=r"^[^@]*$", description="a directory or an address without a login")

    # Channels for messages about failures; without a channel, no message is sent.
    alert_webhook: Webhook = Field(default=NO_SECRET, description="the address of a webhook")
    alert_webhook_file: Path | None = Field(default=None, description=FILE_DESCRIPTION)
    alert_email_to: Annotated[tuple[Mailbox, ...], BeforeValidator(_split_at_commas)] = Field(
        default=(), description="a list of mailboxes separated by commas, like bi@example.com"
    )
    alert_email_from: Mailbox = Field(default="", description="a mailbox, like bi@example.com")
    alert_smtp_host: str = Field(default="", max_length=255, description="the name of a mail server")
    alert_smtp_port: int = Field(default=587, ge=1, le=65535, description="a port from 1 to 65535")
    alert_smtp_username: str = Field(default="", repr=False, description="the username at the mail server")
    alert_smtp_password: Secret = Field(default=NO_SECRET, description="the password at the mail server")
    alert_smtp_password_file: Path | None = Field(default=None, description=FILE_DESCRIPTION)
    ping_url: Webhook = Field(default=NO_SECRET, description="the address to call after each publication")
    ping_url_file: Path | None = Field(default=None, description=FILE_DESCRIPTION)
    acknowledge: tuple[Acknowledgement, ...] = Field(
        default=(), description="a list of tables [[acknowledge]] with kind, reason and until (a day)"
    )
    ui_url: Link = Field(default="", description="the address at which people open the Dagster UI")

    warnings: tuple[str, ...] = Field(default=(), exclude=True, repr=False)  # about ignored values

    @field_validator("customers")
    @classmethod
    def _check_customers(cls, customers: tuple[Customer, ...]) -> tuple[Customer, ...]:
        ids = [customer.id for customer in customers]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"names {', '.join(twice)} more than once; keep one of each")
        if not any(customer.active for customer in customers):
            raise ValueError("names no active customer; name at least one, like M30011")
        return customers

    @model_validator(mode="after")
    def _check_combinations(self) -> Settings:
        logins = [(f"LOGIN__{function}__", login) for function, login in self.logins.items()]
        for customer in self.customers:
            own = f"CUSTOMER__{customer.id}__"
            logins += [(own, customer)] if customer.username is not None else []
            logins += [(f"{own}LOGIN__{function}__", login) for function, login in customer.logins.items()]
        has_password = {variable(name): login.password or login.password_file for name, login in logins}
        if self.alert_smtp_username:
            has_password[variable("alert_smtp_")] = self.alert_smtp_password or self.alert_smtp_password_file
        problems = [
            f"{name}PASSWORD is not set; set it or {name}PASSWORD_FILE, or remove the login."
            for name, is_set in has_password.items()
            if not is_set
        ]
        is_local = is_loopback(self.base_url)
        if self.base_url.startswith("http:") and not is_local and not self.allow_http:
            problems.append(
                "BROKERBI_BASE_URL begins with http, so anyone on the network could read the login; "
                "write https, or allow http with BROKERBI_ALLOW_HTTP=true."
            )
        if self.today and not is_local:
            problems.append(
                "BROKERBI_TODAY is set, but the service is not on this machine; remove it, or point "
                "BROKERBI_BASE_URL at a sandbox here, like http://127.0.0.1:8080."
            )
        problems += [
            f"BROKERBI_ALERT_EMAIL_TO is set, but {variable(name)} is not; set both or neither."
            for name in ("alert_smtp_host", "alert_email_from")
            if self.alert_email_to and not getattr(self, name)
        ]
        if self.commission_vat == "included" and self.vat_rate is None:
            problems.append(
                "BROKERBI_COMMISSION_VAT is included, but BROKERBI_VAT_RATE is not set; set it to the rate, "
                "like 0.25, so that commission can be compared with budgets without VAT."
            )
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def shapes_file(self) -> Path:
        """The file with the operator's shapes."""
        return self.shapes or self.data_dir / "shapes.toml"

    @property
    def active_customers(self) -> tuple[Customer, ...]:
        return tuple(customer for customer in self.customers if customer.active)

    def login_entry(
        self, customer: Customer, path: str = ""
    ) -> tuple[Settings | Customer | FunctionLogin, str]:
        """The object with the login for requests of this customer to this path, and the login's function.

        The first login that is set counts, in this order: the customer's for a function of the path, the
        customer's for all paths, the shared one for a function, and the shared one for all paths. A narrower
        function comes before a wider one (crm_bids before crm). A login for all paths has an empty function.
        """
        for owner in (customer, self):
            for function in functions_of(path):
                if function in owner.logins:
                    return owner.logins[function], function
            if owner.username or owner.password or owner.password_file:
                return owner, ""
        return self, ""

    def login_of(self, customer: Customer, path: str = "") -> tuple[str, SecretStr]:
        """The username and password for this customer and path; raises SettingsError if either is not set."""
        entry, _ = self.login_entry(customer, path)
        username = entry.username or customer.username or self.username
        password = entry.password or self.password
        if not username or not password.get_secret_value():
            raise SettingsError(
                [f"Customer {customer.id} has no login; set BROKERBI_USERNAME and BROKERBI_PASSWORD."]
            )
        return username, password

    def run_clock(self, real: Clock) -> Clock:
        """The clock of a run: the real one, or one that shows the day in the setting `today`."""
        return RehearsalClock(real, self.today, ZoneInfo(self.timezone)) if self.today else real

    def today_local(self, clock: Clock) -> date:
        """Today in the brokerage's time zone, or the day in the setting `today`."""
        return self.today or clock.utc_now().astimezone(ZoneInfo(self.timezone)).date()


class Variables(BaseSettings, Settings):
    """All environment variables: BROKERBI_*, including BROKERBI_CUSTOMER__* and BROKERBI_LOGIN__*."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", enable_decoding=False)

    customer: dict[str, dict[str, object]] = {}
    login: dict[str, dict[str, object]] = {}


def load_settings(
    environment: Mapping[str, str],
    *,
    directory: Path | None = None,
    offline: bool = False,
    reading: bool = False,
) -> Settings:
    """Read the settings from the environment and a TOML file; raises SettingsError if they have problems.

    The file is the one that BROKERBI_CONFIG names, or else brokerbi.toml in `directory`, if it exists. With
    `offline`, the address and login may be missing. With `reading`, any setting may be missing, and files
    with secrets are not opened.
    """
    sources = Sources(Variables, environment, directory or Path.cwd(), with_secrets=not reading)
    problems = [*sources.warnings, *sources.problems]
    try:
        settings = Settings.model_validate({**sources.values, "warnings": tuple(sources.warnings)})
    except ValidationError as error:
        entries = {"customers": Customer, "acknowledge": Acknowledgement}
        raise SettingsError([*problems, *sentences(error, sources.values, Settings, entries)]) from None
    missing = [] if reading else list(_missing(settings, sources.mistyped, offline=offline))
    if sources.problems or missing:
        raise SettingsError(list(dict.fromkeys((*problems, *missing))))
    return settings


def _missing(settings: Settings, mistyped: Mapping[str, str], *, offline: bool) -> Iterator[str]:
    needed = {"customers": bool(settings.customers), "start": "start" in settings.model_fields_set}
    if not offline:
        customers = settings.active_customers
        has_password = bool(settings.password or settings.password_file)
        needed |= {
            "base_url": bool(settings.base_url),
            "username": all(settings.username or customer.username for customer in customers),
            "password": has_password or all(owner.password or owner.password_file for owner in customers),
        }
    for name, is_given in needed.items():
        if not is_given:
            description = Settings.model_fields[name].description
            yield mistyped.get(name) or f"{variable(name)} is not set; set it to {description}."


def sync_settings_error(environment: Mapping[str, str], settings: Settings) -> SettingsError | None:
    """The error with which a sync would reject the settings; None if a sync would accept them.

    Also None if neither an address nor any part of the shared login is set, because no sync is then intended.
    """
    if settings.model_fields_set.isdisjoint({"base_url", "username", "password", "password_file"}):
        return None
    try:
        load_settings(environment)
    except SettingsError as error:
        return error
    return None


def login_in_words(settings: Settings, customer: Customer, path: str = "") -> str:
    """How messages name the login for a customer and path."""
    entry, function = settings.login_entry(customer, path)
    purpose = f" for {function}" if function else ""
    if entry is settings:
        return "BROKERBI_USERNAME or the password that goes with it"
    if entry is settings.logins.get(function):
        return f"the username or password of the login{purpose}"
    return f"the username or password of {customer.id}'s own login{purpose}"
