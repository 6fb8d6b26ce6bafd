"""Budgets of a small office: a file that changes them, the plan of it, and what the service was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelines.budgets.budget import BudgetPlan
from pipelines.budgets.plan import make_plan
from pipelines.budgets.push import PATIENCE, PushResult, push
from pipelines.months import Month
from pipelines.sandbox.budget_writes import BudgetWrites, Omitted
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.records import Budget
from pipelines.settings.model import Settings
from pipelines.sync.run_context import RunContext
from tests.sandbox_transport import SandboxTransport
from tests.scenarios.scenario import NOON, TODAY, service_of, settings_for
from tests.unit.connect.fake_service import StillClock
from tests.working_file import give_working_file
from warehouse.store.database import Store

OFFICE, OWN_ID = "M30011", "FIR30011"
DECEMBER, NEVER_BUDGETED = Month(2026, 12), Month(2028, 6)
"""A month with budgets, and one without."""
HEADS = ("office_id", "user_id", "month", "commission", "sold", "registered", "meetings", "own_booked")
SETTING = "/FIR"
"""What the paths have by which budgets are set, and no other."""


@dataclass
class BudgetScenario:
    """A service, settings that point at it and may set budgets there, and a clock that both have."""

    service: Service
    settings: Settings
    clock: StillClock = field(default_factory=lambda: StillClock(noon=NOON))
    on_socket: bool = False

    @property
    def context(self) -> RunContext:
        sandbox = None if self.on_socket else SandboxTransport(self.service, sleep=self.clock.sleep)
        return RunContext(self.clock, sandbox)

    @property
    def users(self) -> list[str]:
        """Three users of the office."""
        of_world = self.service.world
        return [user.id for user in of_world.history.users(OFFICE) if user.works_on(of_world.as_of)][:3]

    def file(self, *rows: Mapping[str, object], name: str = "budgets.csv") -> Path:
        """A file with these rows, by default for the first user in December."""
        usual = {"office_id": OWN_ID, "user_id": self.users[0], "month": DECEMBER}
        lines = [";".join(str({**usual, **row}.get(head, "")) for head in HEADS) for row in rows]
        path = self.settings.data_dir.parent / name
        path.write_text("\n".join([";".join(HEADS), *lines]), "utf-8")
        return path

    def plan(self, *rows: Mapping[str, object]) -> BudgetPlan:
        """The plan of a file with these rows."""
        return make_plan(self.settings, self.file(*rows), self.context, on_requests=lambda _: None)

    def plan_for_all(self) -> BudgetPlan:
        """A plan that changes the commission of these users, each to another amount."""
        return self.plan(*({"user_id": user, "commission": 7 + at} for at, user in enumerate(self.users)))

    def push(self, plan: BudgetPlan, *faults: Fault, patience: float = PATIENCE) -> PushResult:
        """One push under these faults; `sent` then counts its requests only."""
        self.service.log.clear()
        self.service.faults.switch(faults)
        return push(self.settings, plan, self.context, patience=patience)

    @property
    def sent(self) -> Counter[str]:
        """How often a budget was set for each user since the last push began."""
        posts = (entry for entry in self.service.log.entries if entry.method == "POST")
        return Counter(entry.path.split("/")[5] for entry in posts)

    def shown(self, user: str, month: Month = DECEMBER) -> Budget:
        """The budget as the service shows it now."""
        return self.service.budget(OFFICE, user, month)

    def change(self, user: str, **measures: int) -> None:
        """Change a budget in the brokerage system itself."""
        self.service.budgets.set(replace(self.shown(user), **measures), at_once=True)  # type: ignore[arg-type]

    def ledger(self, columns: str, where: str = "true") -> Sequence[tuple[object, ...]]:
        """Rows of the ledger of pushes."""
        with Store(self.settings.data_dir).reading() as file:
            found: list[tuple[object, ...]] = file.execute(
                f"SELECT DISTINCT {columns} FROM meta.budget_pushes WHERE {where} ORDER BY ALL"
            ).fetchall()
            return found


def budget_scenario(
    folder: Path, *, visible_after: float = 0.0, omitted: Omitted = "kept", **environment: str
) -> BudgetScenario:
    """One office, whose service shows budgets this many seconds after they were sent."""
    clock = StillClock(noon=NOON)
    writes = BudgetWrites(visible_after, omitted, clock.utc_now)
    service = Service(service_of("2026-10", 2).world, clock=clock.utc_now, budgets=writes)
    give_working_file(folder / "data")
    _give_marts(folder / "data", service)
    words = {"allow_budget_writes": "true", "today": TODAY.isoformat(), **environment}
    return BudgetScenario(service, settings_for(folder / "data", [OFFICE], "2026-10", **words), clock)


def _give_marts(data_dir: Path, service: Service) -> None:
    """The marts of which a plan reads offices and users."""
    with Store(data_dir).writing() as file:
        file.execute("CREATE SCHEMA IF NOT EXISTS marts")
        file.execute(
            "CREATE TABLE marts.office_sources (customer_id VARCHAR, office_id VARCHAR, is_refreshed BOOLEAN)"
        )
        file.execute("CREATE TABLE marts.offices (office_id VARCHAR, office_name VARCHAR)")
        file.execute("CREATE TABLE marts.users (user_id VARCHAR, user_name VARCHAR)")
        name = service.world.history.chain.offices[OFFICE].name
        file.execute("INSERT INTO marts.office_sources VALUES ($1, $1, true)", [OFFICE])
        file.execute("INSERT INTO marts.offices VALUES ($1, $2)", [OFFICE, name])
        users = [(user.id, user.cards[-1].name) for user in service.world.history.users(OFFICE)]
        file.executemany("INSERT INTO marts.users VALUES ($1, $2)", users)


def statuses(pushed: PushResult) -> Counter[str]:
    """The number of budgets by status."""
    return Counter(budget.status.value for budget in pushed.statuses.values())
