"""Shapes before a sync: proposed shapes are adopted, and reports whose shape changed are replayed.

If a report's shape has changed, its stored answers are first loaded again with the new one. Otherwise the
sync would record as changed what is only read from another field. Rows of answers that do not fit it stay.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.diagnosis.samples import Sample, sample_reports
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.run_context import RunContext
from pipelines.upkeep.replay import replay
from warehouse.errors import ReplayNeeded
from warehouse.ledger.stored_answers import loaded_shapes, record_shape, requested_reports
from warehouse.store.database import Store
from warehouse.store.files import SHARED_FILE, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.settings.model import Settings

Listener = Callable[[str], None]


def prepare_shapes(
    settings: Settings, selection: Selection, context: RunContext, on_message: Listener
) -> RunContext:
    """Adopt proposals and replay the reports whose shape changed. Returns the context with current shapes.

    `on_message` receives sentences about the shapes. Raises ShapesError if the shapes file is invalid.
    """
    catalogue, loaded = adopt_shapes(settings, selection, context, on_message, may_request=True)
    for name, shapes in loaded.items():
        if name not in catalogue or shapes == {catalogue[name].shape}:
            continue
        replayed = replay(settings, reports=[name], catalogue=catalogue, clock=context.clock)
        with Store(settings.data_dir).writing() as connection:
            record_shape(connection, name, catalogue[name].shape)
        count = len(replayed.unfit)
        unfit = f"; {count} fit only the earlier shape, and their rows stay" if count else ""
        on_message(f"the shape of {name} changed; loads that were read again: {replayed.loads}{unfit}")
        for failure in replayed.failures:
            on_message(f"a stored answer could not be read again and stays as loaded: {failure}")
    return replace(context, catalogue=catalogue)


def adopt_shapes(
    settings: Settings, selection: Selection, context: RunContext, on_message: Listener, *, may_request: bool
) -> tuple[Mapping[str, Report], Mapping[str, set[str]]]:
    """Propose shapes for reports whose shape is assumed, and add complete proposals to the shapes file.

    A report that is loaded or in the file gets no proposal. Proposals come from stored answers; with
    `may_request`, reports that were never requested are requested. Returns the catalogue with the shapes of
    the file, and the shapes with which the stored rows of each report were loaded.
    """
    shaped = replace(context, catalogue=with_shapes(context.catalogue, settings.shapes_file))
    loaded: Mapping[str, set[str]] = {}
    with suppress(ReplayNeeded):  # an older working file: a replay must rebuild it first
        with Store(settings.data_dir).opened(read_only=True) as connection:
            loaded, requested = loaded_shapes(connection), requested_reports(connection)
        reports = [
            report
            for report in chosen_reports(settings, selection, shaped.catalogue)
            if report.is_assumed and not report.shape and report.name not in loaded
        ]
        unrequested = [report for report in reports if may_request and report.name not in requested]
        samples = sample_reports(settings, selection, shaped, reports, unrequested, months=12)
        proposed = [sample for sample in samples if sample.state == "proposed"]
        if names := add_to_file(settings.shapes_file, proposed):
            on_message(f"shapes found and written to {settings.shapes_file}: {', '.join(names)}")
    return with_shapes(context.catalogue, settings.shapes_file), loaded


def add_to_file(path: Path, samples: Sequence[Sample]) -> list[str]:
    """Append proposals for reports that are not yet in the shapes file. Returns their names."""
    current = path.read_text("utf-8") if path.exists() else ""
    proposals = {sample.report: sample.proposal for sample in samples if sample.proposal}
    added = [name for name in proposals if name not in tomllib.loads(current)]
    if added:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join([current, *(proposals[name] for name in added)]).lstrip("\n")
        write_file(path, text.encode(), mode=SHARED_FILE)
    return added
