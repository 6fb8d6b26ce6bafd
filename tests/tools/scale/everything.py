"""Everything of every shard launched at once, as in Dagster's UI: a backfill of all assets of each shard.

    .venv-scale/bin/python -m tests.tools.scale.everything [--shards 2] [--customers 2] [--months 3]

Shards as `brokerbi shards render` has them are code locations of one Dagster on PostgreSQL (made here, so as
root), and ask the sandbox. Fails unless every run succeeds with the tag of its shard, and every partition of
every asset is green.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.months import Month
from tests.tools.nights.graphql import BACKFILL, RUNS
from tests.tools.nights.server import half_a_day_away, today
from tests.tools.scale.locations import BIN, ask, dagster_of, end, postgres, shards_of, started
from tests.tools.telling import conclude, say

LONGEST_SECONDS = 1200.0
ENDED = ("COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
STATUS = """
query ($given: String!) {
  partitionBackfillOrError(backfillId: $given) {... on PartitionBackfill {status error {message}}}
}
"""
ASSETS = """
{assetNodes {assetKey {path} isMaterializable isPartitioned
 partitionStats {numPartitions numMaterialized} assetMaterializations(limit: 1) {runId}}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--customers", type=int, default=2)
    parser.add_argument("--months", type=int, default=3)
    parser.add_argument(
        "--port", type=int, default=55474, help="of PostgreSQL; those after it are the others'"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres(given.port):
        return conclude(launched(Path(folder), given))


def launched(folder: Path, given: argparse.Namespace) -> Iterator[str]:
    service, start = given.port + 2, Month.of(today()).plus(1 - given.months)
    offices = max(7, given.shards * given.customers)
    words = ["sandbox", "--port", str(service), "--offices", str(offices), "--from", str(start)]
    sandbox = started([str(BIN / "brokerbi"), *words], {}, folder / "sandbox.log")
    ids = [f"M{30011 + number}" for number in range(given.shards * given.customers)]
    shards = shards_of(
        folder,
        given.port,
        [ids[first : first + given.customers] for first in range(0, len(ids), given.customers)],
        requests_per_second=500,
        concurrency=5,
        base_url=f"http://127.0.0.1:{service}",
        start=str(start),
        nightly=half_a_day_away(),
    )
    try:
        with dagster_of(shards, folder, given.port) as (page, _, start_daemon):
            start_daemon()
            began, names = time.perf_counter(), []
            for shard in shards.shard:
                paths = [one["assetKey"]["path"] for one in materializable(page)]
                chosen = [{"path": path} for path in paths if path[0] == shard.name]
                asked = {"given": {"assetSelection": chosen, "allPartitions": True}}
                names.append(ask(page, BACKFILL, asked)["launchPartitionBackfill"]["backfillId"])
            states: list[dict[str, Any]] = [{"status": ""}]
            while any(one["status"] not in ENDED for one in states):
                if time.perf_counter() - began > LONGEST_SECONDS:
                    break
                time.sleep(2)
                states = [ask(page, STATUS, {"given": one})["partitionBackfillOrError"] for one in names]
            took = time.perf_counter() - began
            say(f"{len(materializable(page))} assets of {given.shards} shards in {took:.0f} s")
            for one in states:
                if one["status"] != "COMPLETED_SUCCESS":
                    yield f"a backfill is {one['status']}: {str(one['error'])[:2000]}"
            yield from what_is_wrong(page)
    finally:
        end(sandbox)


def materializable(page: str) -> list[dict[str, Any]]:
    return [one for one in ask(page, ASSETS)["assetNodes"] if one["isMaterializable"]]


def what_is_wrong(page: str) -> Iterator[str]:
    """Runs that failed or have no shard, and assets that are not green."""
    runs = ask(page, RUNS)["runsOrError"]["results"]
    seen: Counter[tuple[str, str]] = Counter()
    for run in runs:
        tags = {one["key"]: one["value"] for one in run["tags"]}
        seen[tags.get("brokerbi/shard", "no shard"), run["status"]] += 1
    say(", ".join(f"{number} runs of {shard}: {state}" for (shard, state), number in sorted(seen.items())))
    yield from (
        f"a run of {shard} is {state}" for shard, state in seen if state != "SUCCESS" or shard == "no shard"
    )
    for one in materializable(page):
        stats = one["partitionStats"]
        is_green = (
            stats["numMaterialized"] == stats["numPartitions"]
            if one["isPartitioned"]
            else bool(one["assetMaterializations"])
        )
        if not is_green:
            yield f"{'/'.join(one['assetKey']['path'])}: {stats}"


if __name__ == "__main__":
    sys.exit(main())
