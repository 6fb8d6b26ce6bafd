"""The reports of users: who they are now, and what they did in a month; and of trademarks."""

from __future__ import annotations

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
    boolean("showImageOnInternet", "whether the portrait may be shown", personal=True),
    text("extension", "file format of the portrait", personal=True),
)

USER = (
    text("id", "id of the user", id_of="user"),
    text("name", "name of the user", personal=True),
    text("emailAddress", "e-mail address", personal=True),
    text("publicPhoneNumber", "phone number for the public", personal=True),
    text("cellPhone", "mobile phone number", personal=True),
    local_time("changedAt", "when the user was last changed"),
    *nested("image", PORTRAIT),
)

OF_USER = text("@users.id", "id of the user that the row belongs to", id_of="user", name="user_id")

LATEST_THREE_MONTHS = 3  # interface, Limits: only commissions for the latest 3 months are calculated

# What the live reports are assumed to state of a user.
LIVE_USER = (
    assumed("user_id", "VARCHAR", ".userId", "id of the user", needed=True, id_of="user"),
    assumed("office_id", "VARCHAR", ".customerId", "customer id of the user's office"),
)
LIVE_COMMISSION = (
    assumed("commission", "DECIMAL(18,4)", ".commission", "commission of the month so far", needed=True),
    assumed("sold_estate_parts", "DECIMAL(18,8)", ".soldEstateParts", "homes sold, fractional where shared"),
)

REPORTS = (
    # The live reports allow two months (interface, Limits), but their rows have no documented date.
    Report(
        name="live_activity",
        subject="live",
        description="What users did in a month: a summary without dates, so one month a request.",
        endpoint=Endpoint(
            path="/BusinessIntelligence/LiveData/Report",
            time_parameters="dates",
            customer_parameter="customerId",
        ),
        stored_as="months",
        month_of_row="window",
        is_assumed=True,
        tables=(
            Table(
                "live_activity",
                rows="users[]",
                description="One row per user; every other number counts something that the user did.",
                columns=LIVE_USER,
            ),
        ),
    ),
    Report(
        name="live_commissions",
        subject="live",
        description="Commissions per user in a month, with some delay; only the latest three months, so "
        "what is not asked now cannot be asked later.",
        endpoint=Endpoint(
            path="/BusinessIntelligence/LiveData/CommissionReport",
            time_parameters="dates",
            customer_parameter="customerId",
        ),
        timing=Timing(latest_months=LATEST_THREE_MONTHS),
        stored_as="months",
        month_of_row="window",
        is_assumed=True,
        tables=(
            Table(
                "live_commissions",
                rows="users[]",
                description="One row per user.",
                columns=(*LIVE_USER, *LIVE_COMMISSION),
            ),
        ),
    ),
    Report(
        name="users",
        subject="people",
        description="The users of the customer as they are now, kept with their history: asked every "
        "night, for a change is known to the day only so.",
        endpoint=Endpoint(
            path="/BusinessIntelligence/External/Users",
            time_parameters="none",
            customer_parameter="customerId",
        ),
        stored_as="history",
        month_of_row="none",
        tables=(
            Table(
                name="users",
                rows="[]",
                description="One row per user.",
                columns=with_inferred_names(USER),
                key=("id",),
            ),
            Table(
                name="users__spoken_languages",
                rows="[].spokenLanguages[]",
                description="One row per language a user speaks; its fields are not documented.",
                parent="users",
                columns=(OF_USER,),
            ),
        ),
    ),
    Report(
        name="trademarks",
        subject="people",
        description="The trademarks of the customer as they are now, kept with their history: one "
        "request a night.",
        endpoint=Endpoint(
            path="/BusinessIntelligence/External/Trademarks",
            time_parameters="none",
            customer_parameter="customerId",
        ),
        stored_as="history",
        month_of_row="none",
        is_assumed=True,
        tables=(
            Table(
                "trademarks",
                rows="[]",
                description="One row per trademark.",
                columns=(
                    assumed("trademark_id", "VARCHAR", ".id", "id of the trademark"),
                    assumed("trademark", "VARCHAR", ".name", "name of the trademark", needed=True),
                ),
            ),
            Table(
                "trademark_offices",
                rows="@trademarks.customerIds[]",
                description="One row per trademark and office that trades under it.",
                parent="trademarks",
                columns=(assumed("office_id", "VARCHAR", ".", "customer id of the office", needed=True),),
            ),
        ),
    ),
)
