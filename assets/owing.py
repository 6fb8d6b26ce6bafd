"""What is owed to the analysts right now? Months failed, never fetched, or too long not read again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from assets.complaining import months_in_words
from assets.describing import LATE_AFTER
from assets.messages import Owed
from assets.standing import Standing
from pipelines.months import Month
from pipelines.planning.plan import Planned

PUBLISHED = "published"


def owed(standing: Standing, now: datetime, being_fetched: Collection[str] = ()) -> Iterator[Owed]:
    """Everything owed, report by report; customers whose older months are on their way are left out.

    Reports that the login has no right to are not owed, nor those of customers that are switched off.
    """
    failures = {(one.report, one.customer): one for one in standing.overview.failures}
    successes = {(one.report, one.customer): one.last_success_utc for one in standing.overview.standings}
    for one in standing.plan.planned:
        if not one.customer.active or one.pair in standing.ledger.denied:
            continue
        failed, success = failures.get(one.pair), successes.get(one.pair)
        if failed:
            months = months_in_words([Month.of(day) for day in failed.months]) or "as it stands now"
            yield Owed(*one.pair, months, f"{failed.since_utc:%Y-%m-%d %H:%M} UTC", failed.error)
        elif _is_late(success, now, LATE_AFTER):
            yield Owed(*one.pair, "nothing new", f"{success:%Y-%m-%d %H:%M} UTC", "it was not read again")
        elif one.customer.id not in being_fetched and _was_never_fetched(one, standing):
            yield Owed(*one.pair, months_in_words(one.wanted.missing), "", "it was never fetched")
    yield from _late_file(standing, now)


def _late_file(standing: Standing, now: datetime) -> Iterator[Owed]:
    """The file that analysts see, when it was published once and then no more."""
    made = [one.at_utc for one in standing.overview.publications if one.status == PUBLISHED]
    if made and _is_late(max(made), now, LATE_AFTER):
        since = f"{max(made):%Y-%m-%d %H:%M} UTC"
        yield Owed("the published file", "all customers", "nothing new", since, "it was not published again")


def _is_late(success: datetime | None, now: datetime, after: timedelta) -> bool:
    return success is not None and now.replace(tzinfo=None) - success.replace(tzinfo=None) > after


def _was_never_fetched(one: Planned, standing: Standing) -> bool:
    if one.report.has_months:
        return bool(one.wanted.missing)
    return (*one.pair, None) not in standing.ledger.months
