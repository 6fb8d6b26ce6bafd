"""Resources of the assets: the service that is asked, and the directory that holds what it answered."""

# No `from __future__ import annotations`: Dagster reads the annotations of a resource's fields.
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import Summary
from pipelines.upkeep.shapes import sync_in_shape
from warehouse.ledger.window_result import WindowResult
from warehouse.store.database import Store

CONNECT_SERVICE = "connect_service"
WAREHOUSE = "warehouse"


@dataclass(frozen=True)
class ConnectService:
    """The service with its logins and limits; its secrets stay in the settings, so the UI shows none."""

    settings: Settings
    run_context: RunContext

    def sync(
        self,
        selection: Selection,
        *,
        on_plan: Callable[[Plan], None],
        on_result: Callable[[WindowResult], None],
    ) -> Summary:
        """Ask for what is selected and load it; raises what `sync_in_shape` raises."""
        return sync_in_shape(
            self.settings,
            selection,
            context=self.run_context,
            on_message=dg.get_dagster_logger().info,
            on_plan=on_plan,
            on_result=on_result,
        )


class Warehouse(dg.ConfigurableResource[Store]):
    """The data directory: the working file, the stored answers and the published file."""

    data_dir: str

    @property
    def store(self) -> Store:
        """The working file of the directory."""
        return Store(Path(self.data_dir))


def store_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> Store:
    """The working file that a run reads and writes."""
    warehouse: Warehouse = context.resources.warehouse
    return warehouse.store
