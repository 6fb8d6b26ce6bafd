"""The file of shards: all that is wrong with it is said at once, with line, name and remedy."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
import yaml

from assets.run_coordinator import SHARD, ShardRunCoordinator
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import load_settings
from pipelines.shards.move import settings_of, shards_of_move
from pipelines.shards.render import environment, render, rendered
from pipelines.shards.shards import MOST_CUSTOMERS, read_shards
from tests.unit.repository.files import ROOT

EXAMPLE = ROOT / "deploy" / "shards" / "shards.toml"


def written(directory: Path, *changes: tuple[str, str]) -> Path:
    """The example with these words in place of others."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    file = directory / "shards.toml"
    file.write_text(text, encoding="utf-8")
    return file


def problems(directory: Path, *changes: tuple[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as found:
        read_shards(written(directory, *changes))
    return tuple(one[len(f"{directory}/shards.toml: ") :] for one in found.value.problems)


WRONG = {
    "a customer in two shards": (
        ('["M30013", "G2"]', '["M30013", "G2", "M30012"]'),
        "line 40: the customer M30012 is in north and in south; keep it in one.",
    ),
    "a customer in none": (
        ('["M30013", "G2"]', '["M30013"]'),
        "line 5: the customer G2 is in no shard; add it to one.",
    ),
    "a customer that nobody knows": (
        ('["M30013", "G2"]', '["M30013", "G2", "M3OO14"]'),
        "line 40: the customer M3OO14 is none of all customers; add it to them, or take it out.",
    ),
    "limits whose sum exceeds a login's": (
        ("concurrency = 3", "concurrency = 4"),
        (
            "line 18: concurrency of the login chain is 5, but its shards have 4 (north) + 2 (south) = 6; "
            "lower theirs, or set coordination = true."
        ),
    ),
    "a name for two": (
        ('name = "south"', 'name = "north"'),
        "line 34: the shards north and north are both called north; change one.",
    ),
    "a login that nobody described": (
        ('login = "chain"', 'login = "chian"'),
        "line 24: the shard north asks under the login 'chian'; add [login.chian].",
    ),
    "a wrong name": (
        ('name = "south"', 'name = "South 1"'),
        "shard South 1, name is no name: small letters, digits and _, at most 30, a letter first.",
    ),
    "an unknown key": (
        ('volume = "100Gi"', 'volumes = "100Gi"'),
        "shard north, volumes is not known here; take it out.",
    ),
    "a setting that is a secret": (
        ('start = "2024-01"', 'start = "2024-01"\npassword = "x"'),
        "line 15: settings may not have password: it is a shard's or a login's own, or a secret.",
    ),
    "a setting that is none": (
        ('start = "2024-01"', 'strat = "2024-01"'),
        "line 14: strat is no setting; did you mean start?",
    ),
}
# fmt: on


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_with_its_line_and_its_remedy(tmp_path: Path, what: str) -> None:
    change, sentence = WRONG[what]
    assert sentence in problems(tmp_path, change)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    found = problems(
        tmp_path, ('["M30013", "G2"]', '["M30013", "M30012"]'), ("concurrency = 3", "concurrency = 4")
    )
    assert [one.partition(": ")[2].partition(";")[0] for one in found] == [
        "the customer M30012 is in north and in south",
        "the customer G2 is in no shard",
        "concurrency of the login chain is 5, but its shards have 4 (north) + 2 (south) = 6",
    ]


def test_a_data_directory_or_a_port_belongs_to_one_shard(tmp_path: Path) -> None:
    found = problems(
        tmp_path, ("south.example", "north.example"), ("/var/lib/brokerbi/south", "/var/lib/brokerbi/north")
    )
    assert [one.partition(" are both ")[2].split()[0] for one in found] == ["reached", "kept"]


def test_with_coordination_the_sum_of_limits_is_not_looked_at(tmp_path: Path) -> None:
    changes = ("coordination = false", "coordination = true"), ("concurrency = 3", "concurrency = 5")
    assert len(read_shards(written(tmp_path, *changes)).shard) == 2


def test_a_shard_has_at_most_two_hundred_customers(tmp_path: Path) -> None:
    many = [f"M{number}" for number in range(MOST_CUSTOMERS + 1)]
    change = ('["M30013", "G2"]', str(many).replace("'", '"'))
    assert any("has 201 customers" in one for one in problems(tmp_path, change))


def test_without_a_list_in_the_file_the_customers_of_the_settings_must_all_be_there(tmp_path: Path) -> None:
    file = written(tmp_path, ('customers = ["M30011", "M30012", "M30013", "G2"]', ""))
    with pytest.raises(SettingsError, match="M9 is in no shard"):
        read_shards(file, ["M30011", "M30012", "M30013", "G2", "M9"])


def test_a_file_that_is_not_there_or_no_toml_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="There is no file"):
        read_shards(tmp_path / "none.toml")
    (tmp_path / "shards.toml").write_text("[[shard")
    with pytest.raises(SettingsError, match="cannot be read as TOML"):
        read_shards(tmp_path / "shards.toml")


def test_what_is_made_is_what_the_checkout_holds() -> None:
    made = rendered(read_shards(EXAMPLE))
    folder = EXAMPLE.parent
    held = {str(path.relative_to(folder)): path.read_text() for path in folder.glob("*/*")}
    assert made == held


def test_dagster_takes_the_settings_as_they_are_made(tmp_path: Path) -> None:
    made = yaml.safe_load(rendered(read_shards(EXAMPLE))["hosts/dagster.yaml"])
    del made["storage"]
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(made))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        queue = instance.get_concurrency_config().run_queue_config
        assert isinstance(instance.run_coordinator, ShardRunCoordinator)
        assert queue
        assert [one["key"] for one in queue.tag_concurrency_limits or ()] == [SHARD, "dagster/backfill"]


def test_made_twice_nothing_changes_and_a_shard_that_is_no_more_loses_its_files(tmp_path: Path) -> None:
    shards = read_shards(EXAMPLE)
    assert len(render(shards, tmp_path / "to")) == len(rendered(shards))
    assert render(shards, tmp_path / "to") == []
    fewer = shards.model_copy(update={"shard": shards.shard[:1]})
    assert tmp_path / "to" / "hosts" / "south.env" in render(fewer, tmp_path / "to")
    assert not (tmp_path / "to" / "kubernetes" / "shard-south.yaml").exists()


def test_a_file_that_somebody_wrote_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "hosts").mkdir()
    (tmp_path / "hosts" / "north.env").write_text("BROKERBI_SHARD=mine\n")
    with pytest.raises(SettingsError, match="put it aside"):
        render(read_shards(EXAMPLE), tmp_path)
    assert not (tmp_path / "hosts" / "south.env").exists()


def test_the_variables_of_a_shard_are_its_settings(tmp_path: Path) -> None:
    (tmp_path / "login_chain").write_text("a password")
    shards = read_shards(written(tmp_path, ("Norrtull", "O'Hara $1 100%")))
    given = environment(shards.named("north"), shards, secrets=tmp_path, data_dir=tmp_path / "data")
    settings = load_settings({**given, "BROKERBI_CONFIG": "/dev/null"})
    assert [(one.id, one.name) for one in settings.customers] == [
        ("M30011", "O'Hara $1 100%"),
        ("M30012", ""),
    ]
    assert (settings.shard, settings.requests_per_second, settings.concurrency) == ("north", 6, 3)
    assert not set("'$%") & set("".join(given.values()))


def test_a_customer_of_another_login_than_its_shard_brings_it(tmp_path: Path) -> None:
    other = (
        '[login.other]\nusername = "o"\nrequests_per_second = 6\nconcurrency = 3\n\n[[shard]]\nname = "north"'
    )
    file = written(
        tmp_path,
        ('[[shard]]\nname = "north"', other),
        (', "M30012"]', ', { id = "M30012", login = "other" }]'),
    )
    shards = read_shards(file)
    given = environment(shards.named("north"), shards, secrets=Path("/s"), data_dir=tmp_path)
    assert '"username": "o", "password_file": "/s/login_other"' in given["BROKERBI_CUSTOMERS"]


def test_a_shard_may_be_empty_while_its_last_customer_moves(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        ('[{ id = "M30011", name = "Norrtull", region = "Stockholm" }, "M30012"]', "[]"),
        ('["M30013", "G2"]', '["M30013", "G2", "M30011", "M30012"]'),
        ("/var/lib/brokerbi/north", str(tmp_path)),
    )
    shards = read_shards(file, left="north")
    old, _ = shards_of_move(shards, "M30012", "north", "south")
    assert [one.id for one in settings_of(old, shards, without="M30012").customers] == ["M30012"]
    with pytest.raises(SettingsError, match="north has no customer"):
        read_shards(file)


def test_a_shard_may_have_other_logins_for_functions(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        (
            "[login.chain]",
            '[login.crm]\nusername = "c"\nrequests_per_second = 6\nconcurrency = 3\n[login.chain]',
        ),
        ('name = "north"', 'name = "north"\nlogin_for = { crm = "crm" }'),
    )
    north = read_shards(file).shard[0]
    given = environment(north, read_shards(file), secrets=Path("/s"), data_dir=Path("/d"))
    assert (given["BROKERBI_LOGIN__CRM__USERNAME"], given["BROKERBI_LOGIN__CRM__PASSWORD_FILE"]) == (
        "c",
        "/s/login_crm",
    )
    assert north.logins() == {"chain", "crm"}


def test_a_move_needs_no_secret_and_the_customer_in_its_new_shard() -> None:
    shards = read_shards(EXAMPLE)
    _, new = shards_of_move(shards, "G2", "north", "south")
    assert settings_of(new, shards).username == ""
    with pytest.raises(SettingsError, match="write it there"):
        shards_of_move(shards, "G2", "south", "north")
    with pytest.raises(SettingsError, match="There is no shard 'west'"):
        shards_of_move(shards, "G2", "west", "south")
