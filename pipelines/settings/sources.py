"""Where do the settings stand? In the environment and in one TOML file, read into one plain mapping."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.settings.values import nearest

PREFIX = "BROKERBI_"
CONFIG = "BROKERBI_CONFIG"
DEFAULT_FILE = "brokerbi.toml"
OF_A_CUSTOMER = "customer__"  # BROKERBI_CUSTOMER__M30011__PASSWORD: a key of one customer
SECRETS = ("password", "alert_webhook", "alert_smtp_password", "pseudonym_key")
PATHS = ("data_dir", *(f"{secret}_file" for secret in SECRETS))
LARGEST_SECRET = 4096


@dataclass
class Found:
    """What was found, not yet checked, with a sentence for everything that is wrong or odd."""

    values: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unreadable: bool = False  # something could not be read at all: the rest would be told as missing


def gather(
    environment: Mapping[str, str], directory: Path, known: Sequence[str], known_of_customer: Sequence[str]
) -> Found:
    """The file's values under those of the environment; an empty variable counts as not set."""
    found = Found()
    written = _from_file(environment, directory, known, known_of_customer, found)
    spoken = _from_environment(environment, known, found)
    _anchor(spoken, directory)
    for secret in SECRETS:
        if {secret, f"{secret}_file"} & spoken.keys():
            written.pop(f"{secret}_file", None)
    of_file = _customers(written.pop("customers", None), found)
    of_environment = _customers(spoken.pop("customers", None), found)
    found.values = {"data_dir": str(directory / "data")} | written | spoken
    customers = of_file if of_environment is None else _with_details(of_environment, of_file)
    if customers is not None:
        _speak_for_customers(environment, customers, known_of_customer, found)
        found.values["customers"] = customers
    _read_secrets(found, directory)
    return found


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def _from_environment(
    environment: Mapping[str, str], known: Sequence[str], found: Found
) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in sorted(environment.items()):
        key = name.removeprefix(PREFIX).lower()
        if not name.startswith(PREFIX) or name == CONFIG or key.startswith(OF_A_CUSTOMER) or value == "":
            continue
        if name == variable(key) and key in known:
            values[key] = value
        else:
            _say_unknown(name, variable(nearest(key, [*known, "config"]) or ""), found)
    return values


def _say_unknown(name: str, meant: str, found: Found) -> None:
    """A likely slip of the pen stops everything; a name that is like none of ours may be another's."""
    if meant == PREFIX:
        found.warnings.append(f"{name} is set, but is no setting and was not used.")
    else:
        found.problems.append(f"{name} is no setting; did you mean {meant}?")


def _from_file(
    environment: Mapping[str, str],
    directory: Path,
    known: Sequence[str],
    known_of_customer: Sequence[str],
    found: Found,
) -> dict[str, object]:
    path = directory / Path(environment.get(CONFIG) or DEFAULT_FILE).expanduser()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if environment.get(CONFIG):
            found.problems.append(f"{CONFIG} names {path}, but there is no such file.")
            found.unreadable = True
        return {}
    except (OSError, ValueError) as error:
        # A parse error tells line and column; it never quotes the line.
        found.problems.append(f"{path} cannot be read as TOML: {error}.")
        found.unreadable = True
        return {}
    _refuse_keys(table, known, f"{path}", found)
    customers = table.get("customers")
    for customer in customers if isinstance(customers, list) else ():
        if isinstance(customer, dict):
            name = f"{path}, customer {customer.get('id', 'without id')}"
            _refuse_keys(customer, known_of_customer, name, found)
            _anchor(customer, path.parent)
    _anchor(table, path.parent)
    return table


def _refuse_keys(table: dict[str, object], known: Sequence[str], place: str, found: Found) -> None:
    if table.pop("password", None) is not None:
        found.problems.append(
            f"{place} holds a password; take it out, and set BROKERBI_PASSWORD "
            "(for one customer BROKERBI_CUSTOMER__<ID>__PASSWORD) or name a file in password_file."
        )
    for secret in SECRETS[1:]:
        if table.pop(secret, None) is not None:
            found.problems.append(
                f"{place} holds {secret}, which is a secret; take it out, and set {variable(secret)} "
                f"or name a file in {secret}_file."
            )
    for key in [key for key in table if key not in known]:
        meant = nearest(key, [name for name in known if name != "password"])
        table.pop(key)
        found.problems.append(
            f"{place} has a key {key!r} that is no setting"
            + (f"; did you mean {meant!r}?" if meant else "; take it out.")
        )


def _anchor(table: dict[str, object], directory: Path) -> None:
    """Paths written in the file start where the file stands, others where the command was given."""
    for key in PATHS:
        value = table.get(key)
        if isinstance(value, str) and value:
            table[key] = str(directory / Path(value).expanduser())


def _customers(value: object, found: Found) -> list[object] | None:
    """Customers as a list of tables: `M1,G2`, `M1=Office one,G2`, a list of ids and JSON mean the same."""
    if isinstance(value, str):
        value = _from_json(value, found) if value.strip().startswith("[") else _words(value)
    if not isinstance(value, list):
        return None if value is None else [value]
    return [_customer(entry) if isinstance(entry, str) else entry for entry in value]


def _words(text: str) -> list[object]:
    """A comma at the end is forgiven; an id missing between two commas is not."""
    return [*text.strip().removesuffix(",").split(",")]


def _from_json(text: str, found: Found) -> object:
    try:
        return json.loads(text)
    except ValueError:
        found.problems.append(
            "BROKERBI_CUSTOMERS begins like JSON but is none; write ids with commas, like M30011,G2."
        )
        found.unreadable = True
        return None


def _customer(word: str) -> dict[str, object]:
    name, _, label = word.partition("=")
    return {"id": name.strip(), "name": label.strip()} if label.strip() else {"id": name.strip()}


def _with_details(wanted: list[object], described: list[object] | None) -> list[object]:
    """The environment says which customers; what the file knows of them stays known."""
    details = {entry.get("id"): entry for entry in described or () if isinstance(entry, dict)}
    return [
        {**details.get(entry.get("id"), {}), **entry} if isinstance(entry, dict) else entry
        for entry in wanted
    ]


def _speak_for_customers(
    environment: Mapping[str, str], customers: list[object], known: Sequence[str], found: Found
) -> None:
    by_id = {str(entry.get("id")): entry for entry in customers if isinstance(entry, dict)}
    start = variable(OF_A_CUSTOMER)
    for name in sorted(name for name in environment if name.startswith(start) and environment[name]):
        customer, _, key = name.removeprefix(start).rpartition("__")
        entry = by_id.get(customer)
        if entry is None or key.lower() not in known:
            found.problems.append(
                f"{name} speaks of no customer or key that is known; "
                "write BROKERBI_CUSTOMER__<ID>__PASSWORD with an id from BROKERBI_CUSTOMERS."
            )
            continue
        if key == "PASSWORD":
            entry.pop("password_file", None)
        entry[key.lower()] = environment[name]


def _read_secrets(found: Found, directory: Path) -> None:
    for secret in SECRETS:
        _read_secret(found.values, variable(secret), directory, found, secret)
    for entry in _tables(found.values.get("customers")):
        _read_secret(entry, f"{variable(OF_A_CUSTOMER)}{entry.get('id')}__PASSWORD", directory, found)


def _read_secret(
    values: dict[str, object], name: str, directory: Path, found: Found, key: str = "password"
) -> None:
    path = values.get(f"{key}_file")
    if not isinstance(path, (str, Path)) or not str(path):
        return
    if values.get(key):
        found.problems.append(f"{name} and {name}_FILE are both set; set only one of them.")
        return
    file = directory / Path(path).expanduser()
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(LARGEST_SECRET).removeprefix("\ufeff").rstrip("\r\n")
    except OSError as error:
        found.problems.append(f"{name}_FILE names {file}, which cannot be read: {error.strerror}.")
        return
    except UnicodeDecodeError:
        found.problems.append(f"{name}_FILE names {file}, which is not text in UTF-8.")
        return
    if not text:
        found.problems.append(f"{name}_FILE names {file}, which is empty.")
    values[key] = text


def _tables(value: object) -> Iterable[dict[str, object]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
