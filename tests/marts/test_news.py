"""What the pages say has changed since the publication they compare with, and who has left."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import build_for, built, earned, loaded, sales_read, sold, warehouse
from warehouse.marts.queries import SQL

NIGHTS = [datetime(2026, 2, day, 3) for day in (1, 5, 15)]
JANUARY = date(2026, 1, 1)
NEWS = (SQL / "page" / "news.sql").read_text("utf-8")
SHARED = [
    {"id": user, "primary_office_customer_id": office, "commission_percentage_of_total": percent}
    for user, office, percent in (("U1", "M1", 70), ("U2", "M2", 30))
]


def published(*nights: tuple[dict[str, float], float]) -> DuckDBPyConnection:
    """January's sales, and the commission of the office report, as published in each night."""
    given = warehouse()
    for place, (sales, commission) in enumerate(nights):
        at_utc = NIGHTS[place]
        sales_read(given, "2026-01", sales, at_utc)
        loaded(
            given,
            "commission_office",
            "M1",
            "2026-01",
            [earned({"office_customer_id": "M1"}, commission)],
            at_utc=at_utc,
        )
        build_for(given, NEWS)
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES (?, ?, 'published')",
            [f"{place}", at_utc],
        )
    return given


@pytest.mark.parametrize(
    ("nights", "reasons", "unexplained"),
    [
        ([({"E1": 5, "E2": 60}, 65), ({"E1": 5}, 65), ({"E1": 5}, 5)], [("E2", -60)], 0),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 25}, 85)], [("E1", 20)], 0),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 25}, 80)], [("E1", 20)], -5),
        ([({"E1": 5, "E2": 60}, 65)] * 2 + [({"E1": 25}, 25)], [("E2", -60), ("E1", 20)], 0),
        ([({"E1": 5, "E2": 60}, 65), ({"E1": 5}, 65), ({"E1": 25}, 25)], [("E2", -60), ("E1", 20)], 0),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 5}, 60)], [], -5),
    ],
    ids=[
        "a sale noted before", "a sale noted since", "a part of it", "two sales", "one before and one since",
        "no sale",
    ],
)  # fmt: skip
def test_a_closed_month_that_changed_has_its_sales_whenever_they_were_noted(
    nights: list[tuple[dict[str, float], float]], reasons: list[tuple[str, int]], unexplained: int
) -> None:
    rows = published(*nights).sql(NEWS)
    found = rows.filter("kind = 'reason'").select("home_number, amount::INT").fetchall()
    closed = rows.filter("kind = 'closed'").select("month, unexplained::INT").fetchall()
    assert (found, closed) == (reasons, [(JANUARY, unexplained)])


def test_a_closed_month_that_no_sale_explains_has_the_agents_whose_other_work_does() -> None:
    given = warehouse()
    for at_utc, valuations in zip(NIGHTS, (2, 2, 1), strict=True):
        more = {"valuation_parts": valuations, "sold_average_commission": 60}
        users = [
            earned({"user_id": "U1"}, 60 + 5 * valuations, **more),
            earned({"user_id": "U2"}, 40),
        ]
        loaded(given, "commission_user", "M1", "2026-01", users, at_utc=at_utc)
        office = earned({"office_customer_id": "M1"}, 100 + 5 * valuations)
        loaded(given, "commission_office", "M1", "2026-01", [office], at_utc=at_utc)
        sales_read(given, "2026-01", {"E1": 100}, at_utc)
        build_for(given, NEWS)
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES ($1, $1, 'published')", [at_utc]
        )
    found = given.sql(NEWS).filter("kind IN ('closed', 'work')")
    columns = "kind, agent, unexplained::INT, agents_change::INT, amount::INT, writings::INT, valuations::INT"
    assert found.select(columns).fetchall() == [
        ("closed", None, -5, -5, 105, None, None),
        ("work", "U1", None, None, -5, 0, -1),
    ]


def test_a_price_that_changed_without_its_commission_is_told_as_that() -> None:
    given = published(({"E1": 5}, 5), ({"E1": 5}, 5))
    sales_read(given, "2026-01", {"E1": 5}, NIGHTS[2])
    given.execute("UPDATE bi.sales_estates SET final_price = 60")
    build_for(given, NEWS)
    found = given.sql(NEWS).filter("estate_id = 'E1'").select("kind, amount_before::INT, amount::INT")
    assert found.fetchall() == [("price", 50, 60)]


def test_a_sale_that_is_gone_leads_to_the_answer_that_had_it_last() -> None:
    given = published(({"E1": 5, "E2": 60}, 65), ({"E1": 5}, 5))
    given.execute("UPDATE meta.loads SET landing = fetched_at_utc::VARCHAR")
    rows = given.sql(NEWS).filter("kind IN ('gone', 'reason')").select("estate_id, contract_on, landing")
    assert rows.fetchall() == [("E2", date(2026, 1, 15), str(NIGHTS[0]))] * 2


def test_a_late_sale_counts_at_the_offices_of_its_agents_by_their_shares() -> None:
    given = warehouse()
    for at_utc, earnings in zip(NIGHTS, [(65, 40), (65, 40), (135, 70)], strict=True):
        sales_read(given, "2026-01", {"E1": 65}, at_utc)
        if at_utc == NIGHTS[-1]:
            sold(given, "G1", "2026-01", "M1", "E2", agents=SHARED, at_utc=at_utc)
        for office, commission in zip(("M1", "M2"), earnings, strict=True):
            row = earned({"office_customer_id": office}, commission)
            loaded(given, "commission_office", office, "2026-01", [row], at_utc=at_utc)
        build_for(given, NEWS)
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES ($1, $1, 'published')", [at_utc]
        )
    found = given.sql(NEWS).filter("kind IN ('closed', 'reason')")
    assert found.select("kind, office_id, home_number, amount::INT, unexplained::INT").fetchall() == [
        ("closed", "M1", None, 135, 0),
        ("closed", "M2", None, 70, 0),
        ("reason", "M1", "E2", 70, None),
        ("reason", "M2", "E2", 30, None),
    ]
    new = given.sql(NEWS).filter("kind LIKE 'new%'").select("kind, office_id, amount::INT, is_part, agent")
    assert new.order("kind, office_id").fetchall() == [
        ("new", "M1", 100, False, "U1, U2"),
        ("new share", "M1", 70, True, "U1"),
        ("new share", "M2", 30, True, "U2"),
    ]


def test_a_sale_that_moved_from_the_running_month_explains_the_closed_one() -> None:
    given = warehouse()
    for at_utc, of_month, commission in zip(
        NIGHTS, ("2026-02", "2026-02", "2026-01"), (5, 5, 65), strict=True
    ):
        for other, is_open in (("2026-01", False), ("2026-02", True)):
            sales = {"E1": 5} if other == "2026-01" else {}
            moving = {"E2": 60} if other == of_month else {}
            sales_read(given, other, {**sales, **moving}, at_utc, is_open=is_open)
        row = earned({"office_customer_id": "M1"}, commission)
        loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=at_utc)
        build_for(given, NEWS)
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES ($1, $1, 'published')", [at_utc]
        )
    found = given.sql(NEWS).filter("kind IN ('moved', 'reason')").select("kind, home_number, other_month")
    assert found.fetchall() == [("moved", "E2", date(2026, 2, 1)), ("reason", "E2", date(2026, 2, 1))]


def test_an_agent_without_activity_for_two_months_was_last_seen_then() -> None:
    given = warehouse()
    for of_month, amounts in (("2026-01", (5, 7)), ("2026-04", (0, 7))):
        users = [
            earned({"user_id": f"U{place}"}, amount, parts=int(amount > 0))
            for place, amount in enumerate(amounts)
        ]
        loaded(given, "commission_user", "M1", of_month, users)
        loaded(
            given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, sum(amounts))]
        )
    found = built(given, (SQL / "page" / "agents.sql").read_text("utf-8"))
    assert {row[2]: row[-1] for row in found} == {"U0": JANUARY, "U1": None}


def test_an_agent_who_left_the_directory_was_last_seen_in_the_running_month_too() -> None:
    given = warehouse()
    for of_month, is_open in (("2026-01", False), ("2026-02", True)):
        users = [earned({"user_id": user}, 5) for user in ("U0", "U1")]
        loaded(given, "commission_user", "M1", of_month, users, is_open=is_open)
        row = earned({"office_customer_id": "M1"}, 10)
        loaded(given, "commission_office", "M1", of_month, [row], is_open=is_open)
    assert _stay(given) == [("U0", None, False, None), ("U1", None, False, None)]
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', 'U0', 'Al', '2026-01-01', '2026-02-15'), ('M1', 'U1', 'Bo', '2026-01-01', NULL)"
    )
    assert _stay(given) == [("U0", None, True, date(2026, 2, 1)), ("U1", None, False, None)]


def test_an_agent_who_came_after_the_months_compared_with_is_new_since_then() -> None:
    given = warehouse()
    months = {"2025-01": "U0", "2025-02": "U0 U1", "2026-01": "U0 U1", "2026-02": "U0 U1 U2"}
    for of_month, users in months.items():
        is_open = of_month == "2026-02"
        earning = [earned({"user_id": user}, 5) for user in users.split()]
        loaded(given, "commission_user", "M1", of_month, earning, is_open=is_open)
        row = earned({"office_customer_id": "M1"}, 5 * len(earning))
        loaded(given, "commission_office", "M1", of_month, [row], is_open=is_open)
    assert _stay(given) == [("U0", None, False, None), ("U1", date(2025, 2, 1), False, None)]


@pytest.fixture
def begun() -> DuckDBPyConnection:
    """U1 of M1, and the whole of M2, began in February of last year."""
    given = warehouse()
    for of_month in ("2025-01", "2025-02", "2026-01", "2026-02"):
        is_first = of_month == "2025-01"
        users = ["U0"] if is_first else ["U0", "U1"]
        loaded(given, "commission_user", "M1", of_month, [earned({"user_id": one}, 5) for one in users])
        offices = {"M1": 5 * len(users), "M2": 0 if is_first else 5}
        for office, amount in offices.items():
            row = earned({"office_customer_id": office}, amount, parts=int(amount > 0))
            loaded(given, "commission_office", office, of_month, [row])
    return given


def test_an_agent_or_office_that_began_during_last_year_says_when(begun: DuckDBPyConnection) -> None:
    assert _stay(begun) == [("U0", None, False, None), ("U1", date(2025, 2, 1), False, None)]
    query = (SQL / "page" / "office_months.sql").read_text("utf-8")
    assert {(row[1], row[-1]) for row in built(begun, query)} == {("M1", None), ("M2", date(2025, 2, 1))}


def test_a_year_in_which_an_office_began_is_no_share_of_change(begun: DuckDBPyConnection) -> None:
    query = "SELECT office_id, year_to_date_change_share::FLOAT FROM marts.year_over_year"
    found = built(begun, f"{query} WHERE month = '2026-02-01' ORDER BY office_id")
    assert found == [("M1", pytest.approx(20 / 15 - 1)), ("M2", None)]


def _stay(given: DuckDBPyConnection) -> list[tuple[object, ...]]:
    """Of each agent since when he is new, whether he has left, and when he was last seen."""
    found = built(given, (SQL / "page" / "agents.sql").read_text("utf-8"))
    return sorted((row[2], *row[-3:]) for row in found)


def test_an_agent_is_compared_with_the_same_months_of_last_year_where_they_are_held() -> None:
    given = warehouse()
    for of_month, amounts in (("2025-01", (5, 7, 9)), ("2026-01", (6, 0, 0)), ("2025-02", (100, 0, 0))):
        users = [
            earned({"user_id": f"U{place}"}, amount, parts=int(amount > 0))
            for place, amount in enumerate(amounts)
            if amount
        ]
        loaded(given, "commission_user", "M1", of_month, users)
        row = earned({"office_customer_id": "M1"}, sum(amounts))
        loaded(given, "commission_office", "M1", of_month, [row])
    found = built(given, (SQL / "page" / "agents.sql").read_text("utf-8"))
    assert [(row[2], row[4], row[8]) for row in found] == [("U0", 6, 5), ("U1", 0, 7), ("U2", 0, 9)]


def test_an_agent_s_last_month_stands_beside_the_same_of_last_year_where_both_are_held() -> None:
    given = warehouse()
    for of_month, amounts in (
        ("2025-01", (5, 7)),
        ("2025-02", (3, 4)),
        ("2026-01", (6, 0)),
        ("2026-02", (1, 9)),
    ):
        users = [earned({"user_id": f"U{place}"}, amount) for place, amount in enumerate(amounts)]
        loaded(given, "commission_user", "M1", of_month, users)
        row = earned({"office_customer_id": "M1"}, sum(amounts))
        loaded(given, "commission_office", "M1", of_month, [row])
    query = (SQL / "page" / "agents.sql").read_text("utf-8")
    built(given, query)
    months = given.sql(query).select("user_id, in_month::INT, in_month_before::INT")
    assert sorted(months.fetchall()) == [("U0", 1, 3), ("U1", 9, 4)]
    given.execute("DELETE FROM meta.months WHERE (report, month) = ('commission_user', DATE '2025-02-01')")
    built(given, query)
    assert {row[1] for row in given.sql(query).select("user_id, in_month").fetchall()} == {None}


def test_who_left_the_directory_since_is_news_if_no_more_than_two_of_the_office_earned_more() -> None:
    given = published(({"E1": 5}, 65), ({"E1": 5}, 65))
    users = [earned({"user_id": f"U{place}"}, amount) for place, amount in enumerate((40, 30, 20, 10, 35))]
    loaded(given, "commission_user", "M1", "2026-01", users)
    given.executemany(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', ?, 'Al', '2026-01-01', ?)",
        [("U0", None), ("U1", NIGHTS[1]), ("U3", NIGHTS[1]), ("U4", NIGHTS[0])],
    )
    build_for(given, NEWS)
    found = given.sql(NEWS).filter("kind = 'left'").select("office_id, agent, month, until, amount::INT")
    assert found.fetchall() == [("M1", "U1", JANUARY, JANUARY, 30)]


def test_a_sale_that_is_new_names_its_agent_as_the_directory_does_now() -> None:
    given = published(({"E1": 5}, 5), ({"E1": 5}, 5))
    agent = {"id": "U1", "name": "Al Berg", "primary_office_customer_id": "M1", "responsible": True}
    sold(given, "G1", "2026-01", "M1", "E2", agents=[agent], at_utc=NIGHTS[2])
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc) "
        "VALUES ('M1', 'U1', 'Al Ny', '2026-01-01')"
    )
    build_for(given, NEWS)
    assert given.sql(NEWS).filter("kind = 'new'").select("agent").fetchall() == [("Al Ny",)]
