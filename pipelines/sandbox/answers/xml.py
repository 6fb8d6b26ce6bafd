"""How does an answer look in XML? Element names in PascalCase and in alphabetical order, nulls marked."""

from __future__ import annotations

from xml.sax.saxutils import escape

XML = "application/xml; charset=utf-8"
ENTITIES = "http://schemas.example/2004/07/Connect.Models"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"

ITEMS = {
    "officeSaleReports": "OfficeYearlyReport",
    "years": "OfficeYearReport",
    "months": "OfficeMonthReport",
    "estateSaleReports": "EstateSaleReport",
    "agents": "SaleReportEstateAgent",
    "changes": "EconomicEstateChangeEntry",
    "commissionOffices": "CommissionOfficeByMonth",
    "spokenLanguages": "Language",
    "cdnReferences": "CdnImageReference",
    "incomingLeads": "IncomingLead",
    "outgoingLeads": "OutgoingLead",
    "tips": "SentTip",
    "users": "BudgetUserReportRow",
    "houses": "EstateReference",
    "housingCooperatives": "EstateReference",
    "cottages": "EstateReference",
    "plots": "EstateReference",
    "farms": "EstateReference",
    "condominiums": "EstateReference",
    "commercialProperties": "EstateReference",
    "foreignProperties": "EstateReference",
}


def wanted(accept: str) -> bool:
    """Whether XML is asked for and JSON is not."""
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    if any(kind in ("application/json", "text/json", "*/*", "application/*") for kind in kinds):
        return False
    return any(kind in ("application/xml", "text/xml") for kind in kinds)


def document(root: str, answer: object) -> bytes:
    """The whole answer under its root element."""
    item = root.removeprefix("ArrayOf") if isinstance(answer, list) else ""
    inner = _content(answer, item)
    return f'<{root} xmlns:i="{INSTANCE}" xmlns="{ENTITIES}">{inner}</{root}>'.encode()


def _content(value: object, item: str) -> str:
    if isinstance(value, dict):
        return "".join(_element(_pascal(name), value[name], ITEMS.get(name, "")) for name in sorted(value))
    if isinstance(value, list):
        return "".join(_element(item or _scalar_name(entry), entry, "") for entry in value)
    return escape(_text(value))


def _element(name: str, value: object, item: str) -> str:
    if value is None:
        return f'<{name} i:nil="true"/>'
    if isinstance(value, list) and not value:
        return f"<{name}/>"
    return f"<{name}>{_content(value, item)}</{name}>"


def _scalar_name(value: object) -> str:
    return "string" if isinstance(value, str) else "Item"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _pascal(name: str) -> str:
    return name[:1].upper() + name[1:]
