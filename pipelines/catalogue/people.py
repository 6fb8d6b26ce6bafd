"""What do the reports of people and brands answer? Users and trademarks as they are now."""

from __future__ import annotations

from pipelines.catalogue.fields import Boolean, LocalTime, Row, Text, field
from pipelines.catalogue.vocabulary import Asking, Keeping, MonthOfRow, Report, Table


class Image(Row):
    """A user's portrait."""

    image_id: Text = field("id of the portrait")
    date_changed: LocalTime = field("when the portrait's entry was last changed")
    date_changed_image_data: LocalTime = field("when the portrait's bytes were last changed")
    url: Text = field("address of the portrait")
    show_image_on_internet: Boolean = field("whether the portrait may be shown")
    extension: Text = field("file format of the portrait")


class User(Row):
    """A user: personal data."""

    id: Text = field("id of the user")
    name: Text = field("name of the user")
    email_address: Text = field("e-mail address")
    public_phone_number: Text = field("phone number for the public")
    cell_phone: Text = field("mobile phone number")
    changed_at: LocalTime = field("when the user was last changed")
    image: Image | None = field("the portrait")


class OfUser(Row):
    """What a row nested in a user carries of it."""

    user_id: Text = field("id of the user that the row belongs to")


REPORTS = (
    Report(
        name="users",
        subject="people",
        path="/BusinessIntelligence/External/Users",
        description="The users of the customer as they are now, kept with their history.",
        asking=Asking.NOW,
        keeping=Keeping.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        tables=(
            Table(
                name="users",
                rows="[]",
                description="One row per user.",
                model=User,
                key=("id",),
                hands_down={"id": "user_id"},
            ),
            Table(
                name="users__spoken_languages",
                rows="[].spokenLanguages[]",
                description="One row per language a user speaks; its fields are not documented.",
                parent="users",
                handed=OfUser,
            ),
        ),
    ),
    Report(
        name="trademarks",
        subject="people",
        path="/BusinessIntelligence/External/Trademarks",
        description="The trademarks of the customer as they are now, kept with their history.",
        asking=Asking.NOW,
        keeping=Keeping.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        tables=(
            Table("trademarks", rows="[]", description="One row per trademark; no field is documented."),
        ),
    ),
)
