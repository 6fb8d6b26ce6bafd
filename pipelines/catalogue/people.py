"""The reports of users and trademarks as they are now."""

from __future__ import annotations

from pipelines.catalogue.model import (
    Boolean,
    LocalTime,
    MonthOfRow,
    Report,
    Row,
    StoredAs,
    Table,
    Text,
    TimeParameters,
    field,
    inherited,
)


class Image(Row):
    """A user's portrait."""

    image_id: Text = field("id of the portrait", personal=True)
    date_changed: LocalTime = field("when the portrait's entry was last changed", personal=True)
    date_changed_image_data: LocalTime = field("when the portrait's bytes were last changed", personal=True)
    url: Text = field("address of the portrait", personal=True)
    show_image_on_internet: Boolean = field("whether the portrait may be shown", personal=True)
    extension: Text = field("file format of the portrait", personal=True)


class UserRow(Row):
    """A user: personal data."""

    id: Text = field("id of the user", id_of="user")
    name: Text = field("name of the user", personal=True)
    email_address: Text = field("e-mail address", personal=True)
    public_phone_number: Text = field("phone number for the public", personal=True)
    cell_phone: Text = field("mobile phone number", personal=True)
    changed_at: LocalTime = field("when the user was last changed")
    image: Image | None = field("the portrait")


OF_USER = inherited("user_id", "id of the user that the row belongs to", id_of="user")

REPORTS = (
    Report(
        name="users",
        subject="people",
        path="/BusinessIntelligence/External/Users",
        description="The users of the customer as they are now, kept with their history.",
        time_parameters=TimeParameters.NONE,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        tables=(
            Table(
                name="users",
                rows="[]",
                description="One row per user.",
                model=UserRow,
                key=("id",),
                hands_down={"id": "user_id"},
            ),
            Table(
                name="users__spoken_languages",
                rows="[].spokenLanguages[]",
                description="One row per language a user speaks; its fields are not documented.",
                parent="users",
                inherited=(OF_USER,),
            ),
        ),
    ),
    Report(
        name="trademarks",
        subject="people",
        path="/BusinessIntelligence/External/Trademarks",
        description="The trademarks of the customer as they are now, kept with their history.",
        time_parameters=TimeParameters.NONE,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        tables=(
            Table("trademarks", rows="[]", description="One row per trademark; no field is documented."),
        ),
    ),
)
