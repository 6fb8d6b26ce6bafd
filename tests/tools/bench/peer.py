"""dlt, the best peer, in the races: its rest client into DuckDB, at its defaults and at its best.

Runs in an environment of its own, which `tests.tools.bench.race` makes; nothing of ours is imported here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dlt  # type: ignore[import-not-found]
import pyarrow as pa  # type: ignore[import-not-found]
from dlt.sources.helpers.rest_client import RESTClient  # type: ignore[import-not-found]
from dlt.sources.helpers.rest_client.auth import HttpBasicAuth  # type: ignore[import-not-found]
from dlt.sources.helpers.rest_client.paginators import PageNumberPaginator  # type: ignore[import-not-found]

Rows = list[dict[str, Any]]


class Peer:
    """One race of dlt; `way` is `defaults`, `parquet` or `arrow`."""

    def __init__(self, spec: Mapping[str, Any], way: str) -> None:
        self._spec, self._way = spec, way
        self._client = RESTClient(base_url=spec["base_url"], auth=HttpBasicAuth("bench", "bench"))

    def window(self, window: tuple[str, str, str]) -> list[Any]:
        """Every page of a window, as dlt's rest client gives it."""
        customer, first, last = window
        query = {"customerId": customer, "dateFrom": f"{first}T00:00:00", "dateTo": f"{last}T23:59:59"}
        query |= {"selectionType": "Agreement"} if self._spec["answers"] == "sales" else {}
        if not self._spec["paged"]:
            return [self._client.get(self._spec["path"], params=query).json()]
        pages = self._client.paginate(
            self._spec["path"],
            params={**query, "pageSize": self._spec["page_size"]},
            paginator=PageNumberPaginator(base_page=0, page_param="pageIndex", total_path=None),
            data_selector="$",
        )
        return list(_until_empty(pages))

    def rows(self, document: Any) -> Any:
        """What is handed to dlt: rows as they came, or as an Arrow table."""
        rows = document["officeSaleReports"] if self._spec["answers"] == "sales" else document
        return pa.Table.from_pylist(rows) if self._way == "arrow" else rows

    def resource(self, name: str, of_page: Callable[[Any], Any]) -> Any:
        """One table; at its best, several windows are fetched and parsed at the same time."""

        def one_by_one() -> Iterator[Any]:
            for window in self._spec["windows"]:
                for page in self.window(window):
                    yield of_page(page)

        def together() -> Iterator[Any]:
            for window in self._spec["windows"]:
                yield dlt.defer(lambda asked=window: _one(list(map(of_page, self.window(asked)))))()

        return dlt.resource(one_by_one if self._way == "defaults" else together, name=name)

    def run(self) -> None:
        """Extract, normalize and load."""
        os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
        os.environ["EXTRACT__WORKERS"] = str(self._spec["concurrency"])
        if self._way != "defaults":
            os.environ["NORMALIZE__WORKERS"] = str(os.cpu_count() or 1)
        directory = Path(self._spec["directory"])
        pipeline = dlt.pipeline(
            pipeline_name="race",
            pipelines_dir=str(directory / "pipelines"),
            destination=dlt.destinations.duckdb(str(directory / "peer.duckdb")),
            dataset_name="race",
        )
        loader = None if self._way == "defaults" else "parquet"
        pipeline.run(self._resources(), loader_file_format=loader)
        print(pipeline.last_trace.last_normalize_info.row_counts, file=sys.stderr)  # noqa: T201

    def _resources(self) -> Any:
        if self._spec["answers"] != "leads":
            return self.resource("rows", self.rows)
        lists = {"incomingLeads": "incoming", "outgoingLeads": "outgoing", "tips": "tips"}

        def marked(page: Mapping[str, Rows]) -> Rows:
            return [{**row, "_table": name} for key, name in lists.items() for row in page[key]]

        one = self.resource("leads", marked)
        return one.apply_hints(table_name=lambda row: row["_table"])


def _one(pages: list[Any]) -> Any:
    """The rows of all pages as one batch."""
    return pages[0] if len(pages) == 1 else [row for page in pages for row in page]


def _until_empty(pages: Iterator[Any]) -> Iterator[Any]:
    for page in pages:
        [document] = page
        if not any(document.values()):
            return
        yield document


if __name__ == "__main__":
    Peer(json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2]).run()
