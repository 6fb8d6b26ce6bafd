"""Who hears of trouble, and when? One message after each night that left something to do, or did not come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from logging import Logger

import dagster as dg

from assets.channels import Channel, ChannelRefused
from assets.fetching import NIGHT_OF
from assets.messages import Message, message
from assets.nights import Nights
from assets.owing import owed
from assets.partitions import customers_in_order
from assets.project import Project
from assets.standing import Standing
from assets.underway import customers_under_way

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)


@dataclass(frozen=True)
class Told:
    """What was told of last and when, and to which channels the message has still to go."""

    day: str = ""
    until: float = 0.0
    subject: str = ""
    text: str = ""
    channels: Sequence[str] = ()

    @classmethod
    def read(cls, cursor: str | None) -> Told:
        return cls(**json.loads(cursor)) if cursor else cls()

    @property
    def written(self) -> str:
        return json.dumps(asdict(self))


def trouble_sensor(
    project: Project, channels: Mapping[str, Channel], ui_address: str = ""
) -> dg.SensorDefinition:
    """Looks every minute whether a night is over, and tells once what it left to do."""

    @dg.sensor(
        name="trouble",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="One message a night: what failed, why, since when, and what to do.",
    )
    def trouble(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        nights = Nights(context.instance, project.surroundings.clock.utc_now(), ui_address)
        told = look(project, nights, Told.read(context.cursor), list(channels))
        told = deliver(told, channels, context.log)
        context.update_cursor(told.written)
        waiting = f"; it still has to go to {', '.join(told.channels)}" if told.channels else ""
        return dg.SkipReason(
            f"{told.subject or 'There was nothing to tell'}, {told.day or 'no night yet'}{waiting}"
        )

    return trouble


def look(project: Project, nights: Nights, told: Told, channels: Sequence[str]) -> Told:
    """What to tell after this look: the same as before, or the message of another night."""
    if not told.until:
        return replace(told, until=nights.now.timestamp())
    day, silence = _news(nights, told)
    if not day:
        return told
    standing = Standing.read(project)
    failed = list(nights.failed_runs(datetime.fromtimestamp(told.until, UTC)))
    under_way = customers_under_way(nights.instance, customers_in_order(project.settings))
    found = message(
        day,
        failed,
        list(owed(standing, project.as_of(nights.now), under_way)),
        silence,
    )
    until = nights.now.timestamp()
    if found is None:
        return Told(day, until)
    return Told(day, until, found.subject, found.text, channels)


def deliver(told: Told, channels: Mapping[str, Channel], log: Logger) -> Told:
    """Send what is to be sent; a channel that refuses is asked again at the next look.

    One that the settings name no more is left out.
    """
    refused = []
    for name in (one for one in told.channels if one in channels):
        try:
            channels[name](Message(told.subject, told.text))
        except ChannelRefused as error:
            log.error(f"The message could not be sent: {error}.")
            refused.append(name)
    return replace(told, channels=refused)


def _news(nights: Nights, told: Told) -> tuple[str, str]:
    """The day to tell of, if there is one, and the words for a night that never came."""
    night = nights.latest
    if night is not None and nights.now - night.create_timestamp < SILENT_AFTER:
        day = night.dagster_run.tags[NIGHT_OF]
        return (day if day != told.day and nights.is_over(night) else ""), ""
    since = night.create_timestamp if night else datetime.fromtimestamp(told.until, UTC)
    day = f"{nights.now:%Y-%m-%d}, without a night"
    if told.day == day or nights.now - since < SILENT_AFTER:
        return "", ""
    return day, f"there has been no night since {since:%Y-%m-%d %H:%M} UTC"
