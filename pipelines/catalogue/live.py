"""The live reports: activity and commissions per user, of which no field is documented."""

from __future__ import annotations

from pipelines.catalogue.model import Endpoint, Report, Table, Timing

LATEST_THREE_MONTHS = 3  # interface, Limits: only commissions for the latest 3 months are calculated

# Both allow two months (interface, Limits). Their rows carry no documented date, so one is asked at a time.
REPORTS = (
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
        tables=(Table("live_activity", rows="", description="The summary of a month, as it comes."),),
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
        timing=Timing(
            latest_months=LATEST_THREE_MONTHS,
        ),
        stored_as="months",
        month_of_row="window",
        tables=(Table("live_commissions", rows="", description="The commissions of a month, as they come."),),
    ),
)
