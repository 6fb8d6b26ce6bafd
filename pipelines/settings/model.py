"""What has the operator decided? The settings, built once at the start and passed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
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

from pipelines.connect.models import MEGABYTE, Limits, Login, checked_address, is_unencrypted
from pipelines.connect.retry import RetryPolicy
from pipelines.months import Month
from pipelines.settings import values
from pipelines.settings.alerts import AlertSettings
from pipelines.settings.messages import Models, SettingsError, sentences
from pipelines.settings.sources import gather

if TYPE_CHECKING:
    from pipelines.connect.clock import Clock

__all__ = ["Customer", "Settings", "SettingsError", "load_settings"]

_FROZEN = ConfigDict(
    frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=False, defer_build=False
)
_OwnPath = Annotated[Path, BeforeValidator(values.own_path)]
_Username = Annotated[str, AfterValidator(values.checked_username)]


def _checked_secret(secret: SecretStr) -> SecretStr:
    values.checked_password(secret.get_secret_value())
    return secret


_Secret = Annotated[SecretStr, AfterValidator(_checked_secret)]


class Customer(BaseModel):
    """One office or group to ask for; it may bring its own password, or a whole login of its own.

    An own username needs an own password. An inactive customer is no longer asked for, but what is
    held of it stays.
    """

    model_config = _FROZEN

    id: Annotated[str, AfterValidator(values.checked_customer_id)]
    name: str = Field(default="", max_length=200, description="a name of at most 200 signs")
    username: _Username | None = Field(default=None, repr=False)
    password: _Secret | None = None
    password_file: _OwnPath | None = None
    active: bool = Field(default=True, description="true or false")


class Settings(AlertSettings):
    """Everything that can be set; each is BROKERBI_ and its name, or the same key in brokerbi.toml."""

    model_config = _FROZEN

    base_url: Annotated[str, AfterValidator(checked_address)] = Field(
        default="", description="the address of the Connect service, like https://host/path"
    )
    allow_http: bool = Field(default=False, description="true or false")
    username: _Username = Field(default="", repr=False, description="the username of the login")
    password: _Secret = Field(default=SecretStr(""), description="the password of the login")
    password_file: _OwnPath | None = Field(default=None, description="a file that holds the password")
    customers: tuple[Customer, ...] = Field(description="customer ids with commas, like M30011,G2")
    start: Annotated[Month, BeforeValidator(values.checked_start)] = Field(
        description="the first month to keep, like 2024-01"
    )
    data_dir: _OwnPath = Field(default=Path("data"), description="a directory")
    timezone: Annotated[str, AfterValidator(values.checked_timezone)] = Field(
        default="Europe/Stockholm", description="the brokerage's time zone, like Europe/Stockholm"
    )
    concurrency: int = Field(default=5, ge=1, le=50, description="a whole number from 1 to 50")
    requests_per_second: float = Field(default=10, ge=0.1, le=1000, description="a number from 0.1 to 1000")
    page_size: int = Field(default=1000, ge=1, le=100_000, description="a whole number from 1 to 100000")
    reports: Annotated[tuple[str, ...] | None, BeforeValidator(values.words)] = Field(
        default=None, description="names of reports with commas, or +name and -name"
    )
    timeout_seconds: float = Field(
        default=30, gt=0, le=3600, description="seconds, more than 0, at most 3600"
    )
    try_seconds: float = Field(default=120, gt=0, le=7200, description="seconds, more than 0, at most 7200")
    tries: int = Field(default=5, ge=1, le=20, description="a whole number from 1 to 20")
    retry_seconds: float = Field(default=300, ge=0, le=86_400, description="seconds from 0 to 86400")
    largest_answer_mb: int = Field(default=24, ge=1, le=8192, description="megabytes from 1 to 8192")
    due_months: int = Field(default=3, ge=1, le=120, description="a number of months from 1 to 120")
    due_months_monthly: int = Field(default=13, ge=1, le=120, description="a number of months from 1 to 120")
    changed_months: int = Field(default=12, ge=0, le=120, description="a number of months from 0 to 120")
    budget_months_ahead: int = Field(default=12, ge=0, le=60, description="a number of months from 0 to 60")
    pseudonym_key: _Secret = Field(default=SecretStr(""), description="a secret key of any length")
    pseudonym_key_file: _OwnPath | None = Field(default=None, description="a file that holds the key")
    keep_published: int = Field(default=5, ge=1, le=1000, description="a whole number from 1 to 1000")
    published_url: Annotated[str, AfterValidator(values.checked_link)] = Field(
        default="", description="the address at which people open the published file and its page"
    )
    landing_days: int | None = Field(default=None, ge=1, description="a number of days, at least 1")
    today: date | None = Field(default=None, description="a day for rehearsals, like 2026-03-31")
    nightly: Annotated[str, AfterValidator(values.checked_nightly)] = Field(
        default="0 5 * * *", description="a schedule in cron's five fields"
    )
    warnings: tuple[str, ...] = Field(default=(), exclude=True, repr=False, description="what looked odd")

    @field_validator("customers")
    @classmethod
    def _each_once(cls, customers: tuple[Customer, ...]) -> tuple[Customer, ...]:
        ids = [customer.id for customer in customers]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"names {', '.join(twice)} more than once; keep one of each")
        if not any(customer.active for customer in customers):
            raise ValueError("names no active customer; write ids with commas, like M30011,G2")
        return customers

    @model_validator(mode="after")
    def _safe_to_ask(self) -> Settings:
        if self.base_url and is_unencrypted(self.base_url) and not self.allow_http:
            raise ValueError(
                "BROKERBI_BASE_URL begins with http, so the login would cross the network readable by all; "
                "write https, or set BROKERBI_ALLOW_HTTP=true if that is truly meant."
            )
        for customer in self.customers:
            if customer.username is not None and customer.password is None:
                raise ValueError(
                    f"Customer {customer.id} has its own username but no password; "
                    "set its password_file, or take its username out."
                )
        return self

    @property
    def active_customers(self) -> tuple[Customer, ...]:
        return tuple(customer for customer in self.customers if customer.active)

    def login_of(self, customer: Customer) -> Login:
        """The login to ask for this customer with; equal logins are equal values."""
        username = customer.username or self.username
        password = customer.password or self.password
        if not username or not password.get_secret_value():
            raise SettingsError(
                [f"Customer {customer.id} has no login; set BROKERBI_USERNAME and a password."]
            )
        return Login(username, password)

    @property
    def retry(self) -> RetryPolicy:
        """How patiently the client repeats a request."""
        return RetryPolicy(tries=self.tries, total_seconds=self.retry_seconds)

    @property
    def limits(self) -> Limits:
        """How long one try may take, and how large its answer may be."""
        return Limits(self.timeout_seconds, self.try_seconds, self.largest_answer_mb * MEGABYTE)

    def today_local(self, clock: Clock) -> date:
        """Which day it is for the brokerage, or is said to be for a rehearsal."""
        return self.today or clock.utc_now().astimezone(ZoneInfo(self.timezone)).date()

    def chosen_reports(self, default: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
        """The reports to ask for, in the order they are known; refuses a name that is not known."""
        return _chosen(self.reports, default, known)


_FIELDS = tuple(name for name in Settings.model_fields if name != "warnings")
_CUSTOMER_FIELDS = tuple(Customer.model_fields)


def load_settings(
    environment: Mapping[str, str], *, directory: Path | None = None, offline: bool = False
) -> Settings:
    """The settings of this environment and of the TOML file it names (else ./brokerbi.toml, if any).

    Refuses everything that is wrong at once, a sentence for each. `offline` is for work that never
    asks the service: the address and the login may then be missing.
    """
    found = gather(environment, directory or Path.cwd(), _FIELDS, _CUSTOMER_FIELDS)
    if found.unreadable:
        raise SettingsError(found.problems)
    try:
        settings = Settings.model_validate({**found.values, "warnings": tuple(found.warnings)})
    except ValidationError as error:
        wrong = sentences(error, found.values, Models(Settings, Customer))
        raise SettingsError([*found.problems, *wrong]) from None
    problems = found.problems + ([] if offline else _missing(settings, found.problems))
    if problems:
        raise SettingsError(problems)
    return settings


def _missing(settings: Settings, already: Sequence[str]) -> list[str]:
    problems = []
    if not settings.base_url:
        problems.append("BROKERBI_BASE_URL is not set; set it to the address of the Connect service.")
    if not all(customer.username or settings.username for customer in settings.active_customers):
        problems.append("BROKERBI_USERNAME is not set; set it to the username of the login.")
    has_password = settings.password.get_secret_value() or any("PASSWORD" in text for text in already)
    if not has_password and not all(customer.password for customer in settings.active_customers):
        problems.append("BROKERBI_PASSWORD is not set; set it, or BROKERBI_PASSWORD_FILE to a file with it.")
    return problems


def _chosen(written: tuple[str, ...] | None, default: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if not written:
        return tuple(default)
    changes = [word[0] in "+-" for word in written]
    if any(changes) and not all(changes):
        raise SettingsError(
            ["BROKERBI_REPORTS mixes plain names with +name and -name; write only one of the two kinds."]
        )
    for name in (word.lstrip("+-") for word in written):
        if name not in known:
            meant = values.nearest(name, known)
            remedy = f"did you mean {meant}?" if meant else "`brokerbi reports` lists them all."
            raise SettingsError([f"BROKERBI_REPORTS names {name!r}, which is no report; {remedy}"])
    chosen = set(default) if all(changes) else set()
    chosen |= {word.lstrip("+") for word in written if not word.startswith("-")}
    chosen -= {word.lstrip("-") for word in written if word.startswith("-")}
    return tuple(name for name in known if name in chosen)
