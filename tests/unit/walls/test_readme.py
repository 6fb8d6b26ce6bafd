"""Does the README tell of everything that can be said, set and made?"""

from __future__ import annotations

import argparse
import re

from pipelines.cli.arguments import COMMANDS, parser
from pipelines.settings.model import Customer, Settings
from tests.unit.walls.files import ROOMS, ROOT, python_files

README = (ROOT / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
OF_PYTHON_ITSELF = {"warnings"}  # fields of the settings that nobody sets


def test_every_command_has_its_line() -> None:
    assert [command for command in COMMANDS if f"| `brokerbi {command}` |" not in README] == []


def test_every_option_is_told_of() -> None:
    options = {
        word for command in _commands() for action in command._actions for word in action.option_strings
    }
    assert {word for word in options if word.startswith("--") and word not in README} == {"--help"}


def test_every_setting_has_its_line() -> None:
    settings = {f"`BROKERBI_{name.upper()}`" for name in set(Settings.model_fields) - OF_PYTHON_ITSELF}
    assert {name for name in settings if f"| {name} |" not in README} == set()


def test_every_key_of_a_customer_is_told_of() -> None:
    assert {key for key in Customer.model_fields if key not in README} == set()


def test_every_variable_the_code_reads_is_told_of() -> None:
    read = {name for path in python_files(*ROOMS) for name in _variables(path.read_text("utf-8"))}
    assert {name for name in read if name not in README} == set()


def test_every_variable_the_readme_tells_of_exists() -> None:
    known = {f"BROKERBI_{name.upper()}" for name in Settings.model_fields}
    known |= {name for path in python_files(*ROOMS) for name in _variables(path.read_text("utf-8"))}
    assert _variables(README) - known == set()


def test_every_make_target_the_readme_tells_of_exists() -> None:
    told = {"".join(pair) for pair in re.findall(r"`make ([a-z]+)`|^    make ([a-z]+)", README, re.MULTILINE)}
    assert {target for target in told if f"\n{target}:" not in MAKEFILE} == set()


def test_every_file_the_readme_points_at_is_there() -> None:
    pointed = re.findall(r"`((?:sql|pipelines|assets|warehouse|tests|docs|deploy)/[\w/.]*)`", README)
    assert [name for name in pointed if not (ROOT / name).exists()] == []


def _commands() -> list[argparse.ArgumentParser]:
    groups = [one for one in parser()._actions if isinstance(one, argparse._SubParsersAction)]
    return [command for group in groups for command in group.choices.values()]


def _variables(text: str) -> set[str]:
    return set(re.findall(r"\bBROKERBI_[A-Z]+(?:_[A-Z]+)*\b(?!_)", text))
