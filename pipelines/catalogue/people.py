"""The reports of users, of their activity and commissions in a month, and of trademarks."""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import (
    Endpoint,
    Report,
    Table,
    Timing,
    assumed,
    boolean,
    local_time,
    nested,
    text,
    with_inferred_names,
)

PORTRAIT = (
    text("imageId", "id of the portrait", personal=True),
    local_time("dateChanged", "when the portrait's entry was last changed", personal=True),
    local_time("dateChangedImageData", "when the portrait's bytes were last changed", personal=True),
    text("url", "address of the portrait", personal=True),
    boolean("showImageOnInternet", "whether the portrait may be shown on the internet", personal=True),
    text("extension", "file format of the portrait", personal=True),
)

USER = (
    text("id", "id of the user", id_of="user"),
    text("name", "name of the user", personal=True, needed=True),
    text("emailAddress", "e-mail address", personal=True),
    text("publicPhoneNumber", "phone number for the public", personal=True),
    text("cellPhone", "mobile phone number", personal=True),
    local_time("changedAt", "when the user was last changed"),
    *nested("image", PORTRAIT),
)

TRADEMARK = (
    assumed("trademark_id", "VARCHAR", ".id", "id of the trademark"),
    assumed("trademark", "VARCHAR", ".name", "name of the trademark", needed=True),
)
PARENT_USER_ID = text("@users.id", "id of the user that the row belongs to", id_of="user", name="user_id")

PATH = "/BusinessIntelligence"
LATEST_THREE_MONTHS = 3  # interface, Limits: only commissions for the latest 3 months are calculated

LIVE_USER = (
    assumed("user_id", "VARCHAR", ".userId", "id of the user", needed=True, id_of="user"),
    assumed("office_id", "VARCHAR", ".customerId", "customer id of the user's office"),
)
LIVE_COMMISSION = (
    assumed("commission", "DECIMAL(18,4)", ".commission", "commission of the month so far", needed=True),
    assumed("sold_estate_parts", "DECIMAL(18,8)", ".soldEstateParts", "homes sold, fractional where shared"),
)

LIVE_ACTIVITY = (
    assumed("meetings", "DECIMAL(18,4)", ".meetings", "customer meetings held", needed=True),
    assumed("own_booked_meetings", "DECIMAL(18,4)", ".ownBookedMeetings", "meetings that the user booked"),
)

# Rows have no documented date, so a request is for one month. The interface (Limits) would allow two.
live_report = partial(Report, subject="live", stored_as="months", month_of_row="window", is_assumed=True)
snapshot_report = partial(Report, subject="people", stored_as="history", month_of_row="none")
REPORTS = (
    live_report(
        name="live_activity",
        description="The activity of users in a month. Rows have no dates, so each request is for one month.",
        endpoint=Endpoint(f"{PATH}/LiveData/Report", "dates"),
        tables=(
            Table(
                "live_activity",
                "users[]",
                "One row per user and month. Any further column of numbers counts another activity.",
                (*LIVE_USER, *LIVE_ACTIVITY),
            ),
        ),
    ),
    live_report(
        name="live_commissions",
        description="Commissions per user in a month, with some delay, for the latest three months only.",
        endpoint=Endpoint(f"{PATH}/LiveData/CommissionReport", "dates"),
        timing=Timing(latest_months=LATEST_THREE_MONTHS),
        tables=(
            Table(
                "live_commissions", "users[]", "One row per user and month.", (*LIVE_USER, *LIVE_COMMISSION)
            ),
        ),
    ),
    snapshot_report(
        name="users",
        description="The current users of the customer, with their history. They are requested every "
        "night, so that each change is dated to the day.",
        endpoint=Endpoint(f"{PATH}/External/Users", "none"),
        tables=(
            Table("users", "[]", "One row per user.", with_inferred_names(USER), key=("id",)),
            Table(
                "users__spoken_languages",
                "@users.spokenLanguages[]",
                "One row per language of a user; the fields of a language are not documented.",
                (PARENT_USER_ID,),
                parent="users",
            ),
        ),
    ),
    snapshot_report(
        name="trademarks",
        description="The current trademarks of the customer, with their history; takes one request a night.",
        endpoint=Endpoint(f"{PATH}/External/Trademarks", "none"),
        is_assumed=True,
        tables=(
            Table("trademarks", "[]", "One row per trademark.", TRADEMARK),
            Table(
                "trademark_offices",
                "@trademarks.customerIds[]",
                "One row per trademark and office that trades under it.",
                (assumed("office_id", "VARCHAR", ".", "customer id of the office", needed=True),),
                parent="trademarks",
            ),
        ),
    ),
)
