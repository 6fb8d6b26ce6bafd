"""Who earned an estate's commission? The agents of a sale, their shares and how these changed."""

from __future__ import annotations

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.standing import Known, Standing
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world.facts import Share


def agents(known: Known, standing: Standing) -> list[Answer]:
    """Every agent with the history of the share."""
    return [
        {
            **_agent(known, share, responsible=place == 0),
            "commission": {
                "value": wording.kronor(share.value),
                "valueForeign": wording.amount(share.value_foreign),
                "percentageOfTotal": wording.percent(share.basis_points),
            },
            "changes": _changes(standing, share.user_id),
        }
        for place, share in enumerate(standing.now.shares)
    ]


def thin_agents(known: Known, standing: Standing) -> list[Answer]:
    """Every agent as the thinner report has them: no foreign currency, no history."""
    return [
        {
            **_agent(known, share, responsible=place == 0),
            "commission": {
                "value": wording.kronor(share.value),
                "percentageOfTotal": wording.percent(share.basis_points),
            },
        }
        for place, share in enumerate(standing.now.shares)
    ]


def _agent(known: Known, share: Share, *, responsible: bool) -> Answer:
    user = known.user(share.office, share.user_id)
    name = known.card(user).name
    office = known.world.history.chain.offices[share.office]
    return {
        "id": user.id,
        "name": name,
        "initials": "".join(part[0] for part in name.split()).upper(),
        "employeeId": user.employee_id,
        "responsible": responsible,
        "primaryOffice": {
            "customerId": office.customer_id,
            "name": office.name,
            "city": office.town.name,
        },
    }


def _changes(standing: Standing, user_id: str) -> list[Answer]:
    """One entry each time the agent's share became another one."""
    entries: list[Answer] = []
    held: Share | None = None
    for version in standing.known:
        share = next((share for share in version.shares if share.user_id == user_id), None)
        if share is not None and share != held:
            entries.append(
                {
                    "changedAt": wording.moment(version.known_at),
                    "commission": wording.kronor(share.value),
                    "commissionForeign": wording.amount(share.value_foreign),
                    "percentageOfTotal": wording.percent(share.basis_points),
                }
            )
            held = share
    return entries
