"""The reports of search profiles: what contacts are looking for, and what they may choose from. Personal."""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.areas import OFFICES
from pipelines.catalogue.bidding import ASKED_BUYER, ASKED_OFFICE
from pipelines.catalogue.model import (
    WEEKLY,
    Each,
    Endpoint,
    Ids,
    Table,
    When,
    asked_one_by_one,
    boolean,
    integer,
    json,
    local_time,
    nested,
    text,
)

FOUR_WEEKS = 28
RANGE = (integer("minValue", "from, as looked for"), integer("maxValue", "to, as looked for"))
PROFILE = (  # of the five kinds of profiles each has some of these
    text("id", "id of the profile"),
    local_time("dateCreated", "when the profile was made"),
    local_time("validTo", "until when the profile is valid"),
    json("subtypes", "kinds of homes that are looked for, a list of words as JSON"),
    json("areaIds", "ids of the areas that are looked in, a list as JSON"),
    json("municipalityCodes", "codes of the municipalities that are looked in, a list as JSON"),
    text("countryCode", "code of the country; foreign profiles only"),
    boolean("newProduction", "true: only new homes; false: none of them; null: either"),
    *nested("livingSpace", RANGE),
    *nested("numberOfRooms", RANGE),
    integer("bedrooms", "bedrooms that are looked for"),
    *nested("plotArea", RANGE),
    *nested("sumArea", RANGE),
    integer("monthlyFee", "monthly fee that is looked for; currency not documented"),
    *nested("price", RANGE),
    boolean("isAutomaticProfile", "whether the system made the profile"),
    json("features", "features that are looked for, a list of words as JSON; foreign profiles only"),
    json("drawnAreas", "areas drawn by hand, as JSON"),
    text("drawnAreasName", "name of the areas drawn by hand", personal=True),
    json("increasedRequirementIds", "ids of further requirements, a list as JSON"),
)
VALUES = (
    json("selectableResidentialSubtypes", "kinds of homes to choose from, a list of words as JSON"),
    json("selectableFarmSubtypes", "kinds of farms to choose from, a list of words as JSON"),
    json("selectableForeignSubtypes", "kinds of foreign homes to choose from, a list of words as JSON"),
    json("selectableCommercialSubtypes", "kinds of commercial property to choose from, a list as JSON"),
    json("selectablePremisesSubtypes", "kinds of premises to choose from, a list of words as JSON"),
    json("domesticPriceSteps", "steps of prices in SEK, a list as JSON"),
    json("foreignPriceSteps", "steps of prices in the country's currency, a list as JSON"),
    json("roomSteps", "steps of rooms, a list as JSON"),
    json("livingAreaSteps", "steps of living area, a list as JSON"),
    json("monthlyFeeSteps", "steps of monthly fees, a list as JSON"),
    json("plotAreaSteps", "steps of plot area in square metres, a list as JSON"),
    json("farmAreaStepsHectare", "steps of farm area in hectares, a list as JSON"),
)

of_contact = partial(asked_one_by_one, subject="demand")

REPORTS = (
    of_contact(
        name="search_profiles",
        description="What each contact of a lead is looking for: one request per contact in four weeks. "
        "Personal, and off.",
        endpoint=Endpoint(
            "/CRM/Contact/{customerId}/SearchProfile/{contactId}",
            time_parameters="none",
            each=Each(
                ("customerId", "contactId"),
                (
                    Ids(
                        "incoming_leads",
                        ("receiver_company_customer_number", "contact_id"),
                        "is_removed IS DISTINCT FROM true",
                    ),
                ),
                When(days=FOUR_WEEKS),
            ),
        ),
        tables=(
            Table(
                "search_profiles",
                rows="*[]",
                description="One row per profile; `kind` is its list, such as residentialProfiles.",
                columns=PROFILE,
                key=("asked_customer_id", "asked_contact_id", "id"),
                key_column="kind",
                inherited=(ASKED_OFFICE, ASKED_BUYER),
            ),
        ),
    ),
    of_contact(
        name="search_profile_values",
        description="What search profiles may choose from: one request per office a week.",
        endpoint=Endpoint(
            "/CRM/Contact/{customerId}/SearchProfile/SearchProfileValues",
            time_parameters="none",
            each=Each("customerId", OFFICES, WEEKLY),
        ),
        tables=(
            Table(
                "search_profile_values",
                rows="",
                description="One row per office.",
                columns=VALUES,
                inherited=(ASKED_OFFICE,),
            ),
        ),
    ),
)
