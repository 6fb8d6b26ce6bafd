"""Sources of the settings: the environment, one TOML file and files with secrets, as one plain mapping.

Not with pydantic-settings: its readers take `os.environ` itself and pass over a missing file, and it has no
keys of one customer, no value that takes another's place (a password that of a password_file), and no list
of all problems; as sources of its own for all that, this module would be longer.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.settings.messages import nearest, variable

CONFIG = "BROKERBI_CONFIG"
CUSTOMER = "BROKERBI_CUSTOMER__"  # and an id and a key of it: BROKERBI_CUSTOMER__M30011__PASSWORD
LOGIN = (
    "LOGIN__"  # and a function and a key of it: BROKERBI_LOGIN__CRM__PASSWORD, or after the id of a customer
)
LOGIN_KEYS = ("username", "password", "password_file")
SECRETS = (
    "password",
    "alert_webhook",
    "alert_smtp_password",
    "ping_url",
    "pseudonym_key",
)
PATHS = ("data_dir", *(f"{secret}_file" for secret in SECRETS))
LARGEST_SECRET = 4096

Table = dict[str, object]


class Sources:
    """Everything that was given, not yet checked: the file's values below those of the environment.

    `keys` and `customer_keys` are the names that may be given. `problems` and `warnings` hold a sentence
    for everything that is wrong or odd; `is_unreadable` says that a source could not be read at all, so
    that what is missing from `values` need not be missing. `meant` are the settings that were probably
    given under a wrong name, or in a place where they are not taken. Without `with_secrets` no file with a
    secret is read.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        directory: Path,
        keys: Sequence[str],
        customer_keys: Sequence[str],
        *,
        with_secrets: bool = True,
    ) -> None:
        # An empty variable counts as not set.
        self.environment = {name: value for name, value in sorted(environment.items()) if value}
        self.directory = directory
        self.keys, self.customer_keys, self.with_secrets = keys, customer_keys, with_secrets
        self.file = directory / Path(self.environment.get(CONFIG, "brokerbi.toml")).expanduser()
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.meant: set[str] = set()
        self.is_unreadable = False
        written, given = self._read_file(), self._read_variables()
        self.in_file = frozenset(written.keys() - given.keys())
        for secret in SECRETS:
            if secret in given or f"{secret}_file" in given:
                written.pop(f"{secret}_file", None)
        in_file = self._as_tables(written.pop("customers", None))
        customers = self._as_tables(given.pop("customers", None))
        if customers is None:
            customers = in_file
        elif in_file:  # those that the environment names, with what the file says of them besides
            described = {str(entry.get("id")): entry for entry in in_file if isinstance(entry, dict)}
            customers = [
                {**described.get(str(entry.get("id")), {}), **entry} if isinstance(entry, dict) else entry
                for entry in customers
            ]
        self.values: Table = {"data_dir": str(self.directory / "data")} | written | given
        if customers is not None:
            self.values["customers"] = customers
        listed = [entry for entry in customers or () if isinstance(entry, dict)]
        owners = {f"{CUSTOMER}{entry.get('id')}__": entry for entry in listed}
        self._read_nested_variables({variable(""): self.values} | owners)
        for owner, entry in owners.items():
            self._read_secret(entry, "password", f"{owner}PASSWORD")
        for owner, entry in ({variable(""): self.values} | owners).items():
            for function, login in _tables(entry.get("logins")):
                self._read_secret(login, "password", f"{owner}{LOGIN}{function.upper()}__PASSWORD")
        for secret in SECRETS:
            self._read_secret(self.values, secret, variable(secret))

    def name_of(self, key: str) -> str:
        """What a sentence calls a setting: its key and the file, or its variable."""
        return f"{key} in {self.file}" if key in self.in_file else variable(key)

    def _read_variables(self) -> Table:
        values: Table = {}
        for name, value in self.environment.items():
            nested = name.startswith((CUSTOMER, variable(LOGIN)))
            if not name.startswith(variable("")) or name == CONFIG or nested:
                continue
            key = name.removeprefix(variable("")).lower()
            if key in self.keys and name == variable(key):
                values[key] = value
            elif meant := nearest(key, [*self.keys, "config"]):
                self.meant.add(meant)
                self.problems.append(f"{name} is no setting; did you mean {variable(meant)}?")
            else:  # a name like none of ours may be another program's
                self.warnings.append(f"{name} is set, but is no setting and was not used.")
        _anchor(values, self.directory)
        return values

    def _read_file(self) -> Table:
        path = self.file
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if CONFIG in self.environment:
                self.problems.append(f"{CONFIG} names {path}, but there is no such file.")
                self.is_unreadable = True
            return {}
        except (OSError, ValueError) as error:
            # A parse error names line and column; it never quotes the line.
            self.problems.append(f"{path} cannot be read as TOML: {error}.")
            self.is_unreadable = True
            return {}
        self._remove_refused(table, self.keys, f"{path}")
        self._check_logins(table, f"{path}")
        _anchor(table, path.parent)
        customers = table.get("customers")
        for entry in customers if isinstance(customers, list) else ():
            if isinstance(entry, dict):
                place = f"{path}, customer {entry.get('id', 'without id')}"
                self._remove_refused(entry, self.customer_keys, place)
                self._check_logins(entry, place)
                if isinstance(active := entry.get("active"), str):  # "no" would be read, "nej" would not
                    del entry["active"]
                    self.problems.append(f"{place} has active = {active!r}; write true or false, unquoted.")
                _anchor(entry, path.parent)
        return table

    def _check_logins(self, table: Table, place: str) -> None:
        """See that logins for functions hold no secret and no unknown key; anchor their paths."""
        for function, login in _tables(table.get("logins")):
            self._remove_refused(login, LOGIN_KEYS, f"{place}, login {function}")
            _anchor(login, self.file.parent)

    def _remove_refused(self, table: Table, known: Sequence[str], place: str) -> None:
        """Take secrets and unknown keys out of a table of the file, with a problem for each."""
        for key in list(table):
            if key == "password":
                self.meant |= set() if known is LOGIN_KEYS else {key}
                problem = (
                    "holds a password; take it out, and set BROKERBI_PASSWORD "
                    "(for one customer BROKERBI_CUSTOMER__<ID>__PASSWORD, for a function of the service "
                    "BROKERBI_LOGIN__<FUNCTION>__PASSWORD) or name a file in password_file."
                )
            elif key in SECRETS:
                problem = (
                    f"holds {key}, which is a secret; take it out, and set {variable(key)} "
                    f"or name a file in {key}_file."
                )
            elif key not in known:
                meant = nearest(key, [name for name in known if name != "password"])
                self.meant |= {meant} if meant and known is self.keys else set()
                remedy = f"did you mean {meant!r}?" if meant else "take it out."
                problem = f"has a key {key!r} that is no setting; {remedy}"
            else:
                continue
            del table[key]
            self.problems.append(f"{place} {problem}")

    def _as_tables(self, value: object) -> list[object] | None:
        """Customers as tables: from text like `M1,G2` or `M1=Office one,G2`, a list of ids, or JSON."""
        if isinstance(value, str) and value.strip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                self.problems.append(
                    "BROKERBI_CUSTOMERS begins like JSON but is none; write ids with commas, like M30011,G2."
                )
                self.is_unreadable = True
                return None
        elif isinstance(value, str):
            # A comma at the end is forgiven; an id missing between two commas is not.
            value = value.strip().removesuffix(",").split(",")
        if not isinstance(value, list):
            return None if value is None else [value]
        tables: list[object] = []
        for entry in value:
            if isinstance(entry, str):
                customer, _, label = (part.strip() for part in entry.partition("="))
                entry = {"id": customer, "name": label} if label else {"id": customer}
            tables.append(entry)
        return tables

    def _read_nested_variables(self, owners: Mapping[str, Table]) -> None:
        """Put variables of one customer, or of the login for a function, into the tables they are about."""
        for name, value in self.environment.items():
            if not name.startswith((CUSTOMER, variable(LOGIN))):
                continue
            place, _, key = name.rpartition("__")
            before, is_login, function = place.rpartition(LOGIN)
            entry = owners.get(before if is_login else f"{place}__")
            known = LOGIN_KEYS if is_login else self.customer_keys
            if entry is None or key.lower() not in known or key == "LOGINS":
                self.problems.append(
                    f"{name} speaks of no customer or key that is known; "
                    "write BROKERBI_CUSTOMER__<ID>__PASSWORD with an id from BROKERBI_CUSTOMERS, or "
                    "BROKERBI_LOGIN__<FUNCTION>__PASSWORD."
                )
                continue
            if is_login:
                logins = dict(_tables(entry.get("logins")))
                entry["logins"] = logins
                entry = logins.setdefault(function.lower(), {})
            if key == "PASSWORD":
                entry.pop("password_file", None)
            entry[key.lower()] = value

    def _read_secret(self, table: Table, key: str, name: str) -> None:
        """Put the content of the file that a table names for a secret in its place."""
        path = table.get(f"{key}_file")
        if not isinstance(path, str) or not path or not self.with_secrets:
            return
        if table.get(key):
            self.problems.append(f"{name} and {name}_FILE are both set; set only one of them.")
            return
        file = self.directory / Path(path).expanduser()
        try:
            text = secret_in(file)
        except OSError as error:
            self.problems.append(f"{name}_FILE names {file}, which cannot be read: {error.strerror}.")
            return
        except UnicodeDecodeError:
            self.problems.append(f"{name}_FILE names {file}, which is not text in UTF-8.")
            return
        if not text:
            self.problems.append(f"{name}_FILE names {file}, which is empty.")
        table[key] = text


def secret_in(file: Path) -> str:
    """The secret that a file holds, without the end of its line."""
    with file.open(encoding="utf-8") as opened:
        return opened.read(LARGEST_SECRET).removeprefix("\ufeff").rstrip("\r\n")


def _tables(value: object) -> list[tuple[str, Table]]:
    """The tables of a table, by their keys."""
    entries = value.items() if isinstance(value, dict) else ()
    return [(name, entry) for name, entry in entries if isinstance(entry, dict)]


def _anchor(table: Table, directory: Path) -> None:
    """Paths in the file start at its folder, those of the environment where the command was given."""
    for key in PATHS:
        value = table.get(key)
        if isinstance(value, str) and value:
            table[key] = str(directory / Path(value).expanduser())
