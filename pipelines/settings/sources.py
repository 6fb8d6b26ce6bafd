"""Sources of the settings: one TOML file, environment variables that override it, and files with secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, TomlConfigSettingsSource

from pipelines.settings.messages import PREFIX, SettingsError, nearest, variable

CONFIG, TRACEBACK = "BROKERBI_CONFIG", "BROKERBI_TRACEBACK"
EXPORT_FORMATS = "BROKERBI_EXPORT_FORMATS"
CUSTOMER = "BROKERBI_CUSTOMER__"
LOGIN = "BROKERBI_LOGIN__"
PRIVACY_PREFIXES = ("pseudonym", "landing")
PATHS = ("data_dir", "shapes", "export_to")
NO = ("false", "no", "off", "0")

Table = dict[str, Any]


class Sources:
    """The values of all sources, not yet validated; `problems` and `warnings` are sentences.

    Files with secrets are read only if `with_secrets` is true, and never those of inactive customers. Raises
    SettingsError if the TOML file cannot be read.
    """

    def __init__(
        self,
        model: type[BaseSettings],
        environment: Mapping[str, str],
        directory: Path,
        *,
        with_secrets: bool,
    ) -> None:
        # An empty variable counts as unset, but an empty list of formats overrides the list in the file.
        self.environment = {
            name: value for name, value in sorted(environment.items()) if value or name == EXPORT_FORMATS
        }
        self.names = sorted(model.model_fields.keys() - {"customer", "login", "warnings"})
        self.mistyped: dict[str, str] = {}
        self.problems: list[str] = []
        self.warnings: list[str] = []
        file, variables = self._read_file(model, directory), self._read_variables(model)
        customers, logins = (_as_table(variables.pop(key, None)) for key in ("customer", "login"))
        self.values = overlay({"data_dir": "data"} | file, variables)
        if "customers" in variables:
            by_id = {str(entry.get("id")): entry for entry in _tables(file.get("customers"))}
            named = variables["customers"]
            self.values["customers"] = [overlay(by_id.pop(entry["id"], {}), entry) for entry in named]
            if by_id:
                self.warnings.append(f"BROKERBI_CUSTOMERS overrides the file; not used: {', '.join(by_id)}.")
        if logins:
            self.values["logins"] = overlay(_as_table(self.values.get("logins")), logins)
        self._add_variables_of_customers(customers)
        tables = list(tables_in(self.values))
        inactive = tuple(prefix for prefix, table in tables if str(table.get("active")).lower() in NO)
        for prefix, table in tables:
            make_paths_absolute(table, directory)
            if with_secrets and not prefix.startswith(inactive):
                self._read_secrets(table, prefix)

    def _read_variables(self, model: type[BaseSettings]) -> Table:
        source = EnvSettingsSource(model)
        source.env_vars = {name.lower(): value for name, value in self.environment.items()}
        for name in self.environment:
            key = name.removeprefix(PREFIX).lower()
            is_nested = name.startswith((CUSTOMER, LOGIN)) or name in (CONFIG, TRACEBACK)
            if name.startswith(PREFIX) and key not in self.names and not is_nested:
                self._note_unknown(name, nearest(key, [*self.names, "config"]), variable)
        return _with_customer_tables(source())

    def _read_file(self, model: type[BaseSettings], directory: Path) -> Table:
        path = directory / Path(self.environment.get(CONFIG, "brokerbi.toml")).expanduser()
        if CONFIG in self.environment and not path.exists():
            raise SettingsError([f"{CONFIG} names {path}, but there is no such file; correct the path."])
        try:
            table = _with_customer_tables(TomlConfigSettingsSource(model, path)())
        except (OSError, ValueError) as error:
            # A parse error never quotes the line, which may hold a secret.
            raise SettingsError([f"{path} cannot be read as TOML: {error}."]) from None
        for key in [key for key in table if key not in self.names]:
            del table[key]
            self._note_unknown(f"{key} in {path}", nearest(key.removeprefix(PREFIX), self.names), str)
        for prefix, part in tables_in(table):
            make_paths_absolute(part, path.parent)
            for key in [key for key in part if f"{key}_file" in self.names]:
                del part[key]
                self.problems.append(
                    f"{path} holds a secret ({key}); remove it, and set {prefix}{key.upper()}, "
                    f"or name a file in {key}_file."
                )
        return table

    def _note_unknown(self, name: str, similar: str | None, spelled: Callable[[str], str]) -> None:
        if similar and similar.startswith(PRIVACY_PREFIXES):  # a typo must not turn a privacy setting off
            self.problems.append(f"{name} is not a setting; did you mean {spelled(similar)}?")
        else:
            hint = f"; did you mean {spelled(similar)}?" if similar else "."
            self.mistyped[similar or name] = f"{name} is not a setting and was ignored{hint}"
            self.warnings.append(self.mistyped[similar or name])

    def _add_variables_of_customers(self, customers: Mapping[str, object]) -> None:
        by_id = {str(entry.get("id")).lower(): entry for entry in _tables(self.values.get("customers"))}
        for customer, own in customers.items():
            if isinstance(own, dict) and (entry := by_id.get(customer)):
                values = overlay(entry, {"logins" if key == "login" else key: own[key] for key in own})
                entry.clear()
                entry.update(values)
            else:
                part = next(iter(own)).upper() if isinstance(own, dict) else "PASSWORD"
                self.problems.append(
                    f"{CUSTOMER}{customer.upper()} names an unknown customer or lacks the name of a setting; "
                    f"write {CUSTOMER}<ID>__{part} with the id of a customer."
                )

    def _read_secrets(self, table: Table, prefix: str) -> None:
        for key in [key for key in table if key.endswith("_file") and key in self.names and table[key]]:
            secret, name, file = key.removesuffix("_file"), f"{prefix}{key.upper()}", Path(str(table[key]))
            if table.get(secret):
                self.problems.append(
                    f"{prefix}{secret.upper()} and {name} are both set; set only one of them."
                )
                continue
            try:
                table[secret] = file.read_text("utf-8-sig").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", "it is not text in UTF-8")
                self.problems.append(f"{name} names {file}, which cannot be read: {reason}.")
            else:
                if not table[secret]:
                    self.problems.append(f"{name} names {file}, which is empty.")


def overlay(base: Table, overrides: Table) -> Table:
    """`base` updated with `overrides`; a `password` in `overrides` replaces a `password_file` in `base`."""
    values = {key: value for key, value in base.items() if key.removesuffix("_file") not in overrides}
    for key, value in overrides.items():
        inner = base.get(key)
        values[key] = overlay(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return values


def tables_in(values: Table) -> Iterator[tuple[str, Table]]:
    """Each table that may have paths and secrets, with the prefix of its environment variables."""
    customers = [(f"{CUSTOMER}{entry.get('id')}__", entry) for entry in _tables(values.get("customers"))]
    for prefix, owner in [(PREFIX, values), *customers]:
        yield prefix, owner
        for function, login in _as_table(owner.get("logins")).items():
            if isinstance(login, dict):
                yield f"{prefix}LOGIN__{function.upper()}__", login


def make_paths_absolute(table: Table, directory: Path) -> None:
    """Make the paths in a table absolute, in place; relative ones begin at `directory`."""
    for key, value in table.items():
        is_path = key in PATHS or key.endswith("_file") or (key == "lake" and "://" not in str(value))
        if is_path and isinstance(value, str) and value:
            table[key] = str(directory / Path(value).expanduser())


def _with_customer_tables(values: Table) -> Table:
    """The values with a table for each customer, made from text like `M1,G2` or `M1=Office one,G2`."""
    customers = values.get("customers")
    if isinstance(customers, str):
        # A trailing comma is ignored; a missing id between two commas is an error.
        customers = customers.strip().removesuffix(",").split(",")
    if isinstance(customers, list):
        values["customers"] = [_customer_table(entry) for entry in customers]
    return values


def _customer_table(entry: object) -> object:
    if not isinstance(entry, str):
        return entry
    customer, _, name = (part.strip() for part in entry.partition("="))
    return {"id": customer, "name": name} if name else {"id": customer}


def _tables(value: object) -> list[Table]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _as_table(value: object) -> Table:
    return value if isinstance(value, dict) else {}
