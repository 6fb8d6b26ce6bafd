"""Does every body end in tables, in quarantine, or in a sentence, and change nothing the second time?"""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.sandbox.faults import Fault
from tests.scenarios.faults.bodies import Sample, samples, spoiled, verdict
from tests.scenarios.faults.ground import FEW, ground

FEWER = settings(max_examples=settings().max_examples // 4)
"""An example takes ten milliseconds here; `make soak` still tries hundreds."""
GOOD = {"normalized", "quarantined", "not this report", "not JSON"}


@cache
def known() -> list[Sample]:
    return samples(FEW)


@FEWER
@given(seed=st.integers(0, 2**32))
def test_a_spoiled_body_is_flattened_quarantined_or_refused_with_a_sentence(seed: int) -> None:
    chance = random.Random(seed)
    sample = chance.choice(known())
    assert verdict(sample.report, spoiled(sample, chance)) in GOOD


@FEWER
@given(body=st.binary(max_size=200))
def test_any_bytes_at_all_are_flattened_quarantined_or_refused_with_a_sentence(body: bytes) -> None:
    assert verdict(known()[0].report, body) in GOOD


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@FEWER
@given(tree=JSON)
def test_any_json_is_flattened_quarantined_or_refused_with_a_sentence(tree: object) -> None:
    report = known()[-1].report
    assert verdict(report, json.dumps(tree, ensure_ascii=True).encode()) in GOOD


def test_spoiled_answers_loaded_twice_change_nothing(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=1)
    spoiling = [Fault("wrong_types"), Fault("unknown_fields"), Fault("nested_list")]
    here.sync(*spoiling)
    before, waiting = here.cells(), here.rows("SELECT count(*) FROM meta.quarantine_rows")
    here.sync(*spoiling, refresh=True)
    assert here.cells() == before
    assert here.rows("SELECT count(*) FROM meta.quarantine_rows") == waiting
