"""What each process of a test would read, compile and draw for itself, done once before they part."""

from __future__ import annotations

from pipelines.page.rendering import _templates
from tests.scenarios.scenario import service_of
from warehouse.marts.queries import SQL, queries

for schema in ("staging", "marts", "meta", "checks"):
    queries(SQL / schema, schema)
for name in _templates().list_templates(extensions=["html"]):
    _templates().get_template(name)
service_of("2026-10", 2)
