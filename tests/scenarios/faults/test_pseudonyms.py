"""With a key set, does no table name a contact, while people can still be told apart?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from pipelines.operations.pseudonyms import Pseudonyms
from pipelines.operations.replay import replay
from tests.scenarios.faults.ground import Ground, ground
from warehouse.landing import Landing

NAMES = "SELECT lead_id, contact_first_name, contact_last_name, lead_title FROM bi.incoming_leads ORDER BY 1"
KEY = Pseudonyms(b"a key")


def with_key(here: Ground) -> Ground:
    return replace(here, settings=here.settings.model_copy(update={"pseudonym_key": SecretStr("a key")}))


@pytest.fixture
def named(tmp_path: Path) -> Ground:
    here = ground(tmp_path, ("tips_and_leads",), offices=1)
    here.sync()
    return here


def test_names_are_loaded_as_they_came_unless_a_key_is_set(named: Ground) -> None:
    assert all(not str(first).startswith("p-") for _, first, _, _ in named.rows(NAMES))


def test_with_a_key_every_name_is_its_pseudonym_and_nothing_else_changes(named: Ground) -> None:
    plain = named.rows(NAMES)
    with_key(named).sync(refresh=True)
    titles = {(lead, title) for lead, _, _, title in named.rows(NAMES)}
    hidden = [(lead, KEY.of_text(first), KEY.of_text(last)) for lead, first, last, _ in plain]
    assert [row[:3] for row in named.rows(NAMES)] == hidden
    assert not [
        lead
        for lead, first, last, _ in plain
        for one, title in titles
        if one == lead and last and f"{first} {last}" in title
    ]


def test_a_replay_makes_the_same_pseudonyms_and_landing_keeps_the_names(named: Ground) -> None:
    [(_, first, *_), *_] = named.rows(NAMES)
    with_key(named).sync(refresh=True)
    loaded = named.rows(NAMES)
    replay(with_key(named).settings)
    assert named.rows(NAMES) == loaded
    landing = Landing(named.settings.data_dir / "landing")
    assert any(first.encode() in body for path in landing.paths() for _, body in landing.read(path))


def test_the_same_name_is_the_same_pseudonym_under_the_same_key_only() -> None:
    assert KEY.of_text("Ann  EK") == KEY.of_text("ann ek") != Pseudonyms(b"another").of_text("ann ek")
    assert [KEY.of_text(None), KEY.of_text(" ")] == [None, " "]
