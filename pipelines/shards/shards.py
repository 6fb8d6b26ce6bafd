"""The file that names the shards: who is in which, under which limits, and what is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipelines.settings.messages import SettingsError, nearest
from pipelines.settings.model import Settings
from pipelines.settings.sources import SECRETS

MOST_CUSTOMERS = 200
"""Dagster's lists of partitions stay quick to some 100,000 keys an asset; this is 24,000 in ten years."""
NAME = r"^[a-z][a-z0-9_]{0,29}$"
LIMITS = ("requests_per_second", "concurrency")
OF_A_SHARD = frozenset(
    {
        "shard",
        "customers",
        "data_dir",
        "username",
        "password_file",
        "logins",
        "coordination_url_file",
        *LIMITS,
        *SECRETS,
    }
)
"""Settings that the tables of a shard and of a login say, and those that are secrets."""
FROZEN = ConfigDict(frozen=True, extra="forbid")


class ShardLogin(BaseModel):
    """A login of the service, and how much all shards together may ask under it."""

    model_config = FROZEN

    username: str = Field(min_length=1)
    requests_per_second: float = Field(ge=0.1, le=1000)
    concurrency: int = Field(ge=1, le=50)


class ShardCustomer(BaseModel):
    """A customer of a shard; its login, if it is not that of the shard."""

    model_config = FROZEN

    id: str = Field(min_length=1)
    name: str = ""
    region: str = ""
    login: str = ""


def _as_customer(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


class Shard(BaseModel):
    """A list of customers with a data directory of its own, and where its code is reached.

    `login` is what it asks under, but for the functions of the service in `login_for`.
    """

    model_config = FROZEN

    name: str = Field(pattern=NAME)
    host: str = Field(default="localhost", min_length=1)
    port: int = Field(default=4000, ge=1, le=65535)
    login: str = ""
    login_for: Mapping[str, str] = {}
    requests_per_second: float = Field(ge=0.1, le=1000)
    concurrency: int = Field(ge=1, le=50)
    data_dir: Path
    volume: str = Field(default="50Gi", pattern=r"^[1-9][0-9]*(Mi|Gi|Ti)$")
    customers: tuple[Annotated[ShardCustomer, BeforeValidator(_as_customer)], ...]

    def logins(self) -> set[str]:
        """The logins that it asks under."""
        return {one.login or self.login for one in self.customers} | set(self.login_for.values())


class Shards(BaseModel):
    """All shards, in the order of the file; `settings` are for each of them."""

    model_config = FROZEN

    shard: tuple[Shard, ...] = Field(min_length=1)
    login: Mapping[str, ShardLogin] = {}
    customers: tuple[str, ...] = ()
    coordination: bool = False
    settings: Mapping[str, str | int | float | bool] = {}
    image: str = "brokerbi:latest"
    postgres_image: str = "postgres:17"

    def named(self, name: str) -> Shard:
        """The shard of this name; raises SettingsError when there is none."""
        for one in self.shard:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in self.shard)
        raise SettingsError([f"There is no shard {name!r}; the file has {names}."])


def read_shards(file: Path, customers: Iterable[str] = (), *, left: str = "") -> Shards:
    """The shards of a file; raises SettingsError with a sentence for everything that is wrong.

    `customers` are all that must be in one of them, unless the file itself lists them. The shard that
    somebody has `left` may be without any.
    """
    try:
        text = file.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except FileNotFoundError:
        raise SettingsError([f"There is no file {file}; docs/scale.md shows one."]) from None
    except (OSError, ValueError) as error:
        raise SettingsError([f"{file} cannot be read as TOML: {error}."]) from None
    try:
        shards = Shards.model_validate(table)
    except ValidationError as error:
        raise SettingsError([_sentence(file, table, one) for one in error.errors()]) from None
    wanted = set(shards.customers or customers)
    problems = list(
        chain(
            _twice(shards), _missing(shards, wanted), _logins(shards), _sizes(shards, left), _unknown(shards)
        )
    )
    if problems:
        raise SettingsError([f"{_place(file, text, one)}: {one.said}" for one in problems])
    return shards


class Problem(NamedTuple):
    """What is wrong and how to mend it, and the word of the file that it is about, where it stands again."""

    word: str
    said: str
    occurrence: int = 1


def _twice(shards: Shards) -> Iterator[Problem]:
    """What only one shard may have: a name, a customer, a data directory and a port of its host."""
    of_customer: dict[str, list[str]] = {}
    for one in shards.shard:
        for customer in one.customers:
            of_customer.setdefault(customer.id, []).append(one.name)
    for id_, names in of_customer.items():
        if len(names) > 1:
            said = f"the customer {id_} is in {' and in '.join(names)}; keep it in one."
            yield Problem(id_, said, 3 if shards.customers else 2)
    for what, values in (
        ("called", [one.name for one in shards.shard]),
        ("reached at", [f"{one.host}:{one.port}" for one in shards.shard]),
        ("kept in", [f"{one.data_dir} on {one.host}" for one in shards.shard]),
    ):
        for place, value in enumerate(values):
            first = values.index(value)
            if first < place:
                both = shards.shard[first].name, shards.shard[place].name
                said = f"the shards {' and '.join(both)} are both {what} {value}; change one."
                yield Problem(both[1], said, 2 if both[0] == both[1] else 1)


def _missing(shards: Shards, wanted: set[str]) -> Iterator[Problem]:
    given = {customer.id for one in shards.shard for customer in one.customers}
    for id_ in sorted(wanted - given):
        yield Problem(id_, f"the customer {id_} is in no shard; add it to one.")
    for id_ in sorted(given - wanted) if wanted else ():
        meant = nearest(id_, sorted(wanted - given))
        remedy = f"did you mean {meant}?" if meant else "add it to them, or take it out."
        yield Problem(id_, f"the customer {id_} is none of all customers; {remedy}")


def _logins(shards: Shards) -> Iterator[Problem]:
    """Logins that nobody described, and shards that together may ask more than a login allows."""
    for one in shards.shard:
        for name in sorted(one.logins() - shards.login.keys()):
            remedy = f"add [login.{name or 'NAME'}]{'' if name else ' and name it in the shard'}."
            yield Problem(one.name, f"the shard {one.name} asks under the login {name!r}; {remedy}")
    for name, login in shards.login.items():
        using = [one for one in shards.shard if name in one.logins()]
        for limit in LIMITS if not shards.coordination else ():
            total, allowed = sum(getattr(one, limit) for one in using), getattr(login, limit)
            if total > allowed:
                parts = " + ".join(f"{getattr(one, limit):g} ({one.name})" for one in using)
                said = f"{limit} of the login {name} is {allowed:g}, but its shards have {parts} = {total:g}"
                remedy = "lower theirs, or set coordination = true"
                yield Problem(f"login.{name}", f"{said}; {remedy}.")


def _sizes(shards: Shards, left: str) -> Iterator[Problem]:
    for one in shards.shard:
        number = len(one.customers)
        if number > MOST_CUSTOMERS:
            why = f"more than {MOST_CUSTOMERS} make Dagster's pages slow"
            yield Problem(one.name, f"the shard {one.name} has {number} customers; {why}: make two of it.")
        if not number and one.name != left:
            yield Problem(one.name, f"the shard {one.name} has no customer; give it one, or take it out.")


def _unknown(shards: Shards) -> Iterator[Problem]:
    for key in shards.settings:
        meant = nearest(key, sorted(Settings.model_fields))
        if key in OF_A_SHARD:
            yield Problem(key, f"settings may not have {key}: it is a shard's or a login's own, or a secret.")
        elif key not in Settings.model_fields:
            yield Problem(
                key, f"{key} is no setting; {f'did you mean {meant}?' if meant else 'take it out.'}"
            )


def _place(file: Path, text: str, problem: Problem) -> str:
    """The file and the line in which a word stands, or stands again; the file alone where it does not."""
    word = problem.word
    lines = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        for _ in range(line.count(f'"{word}"') or line.count(f"[{word}]") or line.startswith(f"{word} ="))
    ]
    return f"{file}, line {lines[min(problem.occurrence, len(lines)) - 1]}" if lines else f"{file}"


def _sentence(file: Path, table: Mapping[str, object], error: Mapping[str, object]) -> str:
    """What pydantic found, at the place that people see; no value is quoted."""
    path = list(error["loc"])  # type: ignore[call-overload]
    place = ".".join(str(one) for one in path)
    if path[:1] == ["shard"] and len(path) > 1:
        entries = table.get("shard")
        entry = entries[int(path[1])] if isinstance(entries, list) else {}
        named = entry.get("name", path[1]) if isinstance(entry, dict) else path[1]
        place = f"shard {named}, {'.'.join(str(one) for one in path[2:]) or 'table'}"
    said = {
        "missing": "is not set; set it.",
        "extra_forbidden": "is not known here; take it out.",
        "string_pattern_mismatch": "is no name: small letters, digits and _, at most 30, a letter first.",
    }.get(str(error["type"]), f"{str(error['msg'])[:1].lower()}{str(error['msg'])[1:]}; correct it.")
    return f"{file}: {place} {said}"
