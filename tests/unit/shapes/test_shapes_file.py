"""`shapes.toml`: what an operator corrects, and the sentences about what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.shapes.shapes_file import ShapesError, with_shapes


def written(directory: Path, text: str) -> Path:
    path = directory / "shapes.toml"
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_every_report_is_as_declared(tmp_path: Path) -> None:
    assert with_shapes(REPORTS, tmp_path / "shapes.toml") is REPORTS


def test_a_correction_changes_its_report_and_no_other(tmp_path: Path) -> None:
    text = '[budget_commission]\nrows = "[].users[]"\n[budget_commission.columns]\nuser_id = ".id"\n'
    corrected = with_shapes(REPORTS, written(tmp_path, text + 'year = "-"\nmonth = ".period"\n'))
    table = corrected["budget_commission"].tables[0]
    assert (table.rows, table.paths["user_id"]) == ("[].users[]", ".id")
    assert {name for name, report in corrected.items() if report.shape} == {"budget_commission"}


def test_one_of_several_tables_is_corrected_by_its_name(tmp_path: Path) -> None:
    text = '[trademarks.trademark_offices]\nrows = "@trademarks.offices[]"\n'
    corrected = with_shapes(
        REPORTS,
        written(tmp_path, f'{text}[trademarks.trademark_offices.columns]\noffice_id = ".customerId"\n'),
    )
    assert corrected["trademarks"].tables[1].rows == "@trademarks.offices[]"


def test_the_unpaged_counterpart_has_a_separate_shape(tmp_path: Path) -> None:
    text = '[tips_and_leads]\nroot = "data"\n[tips_and_leads.unpaged]\nroot = "report"\n'
    report = with_shapes(REPORTS, written(tmp_path, text))["tips_and_leads"]
    assert report.unpaged is not None
    assert (report.root, report.unpaged.root) == ("data", "report")


def test_a_changed_path_of_the_total_does_not_change_the_shape_hash(tmp_path: Path) -> None:
    corrected = with_shapes(REPORTS, written(tmp_path, '[tips_and_leads]\ntotal_rows = "total"\n'))
    assert (corrected["tips_and_leads"].total_rows, corrected["tips_and_leads"].shape) == ("total", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[budget_comission]\nrows = ""',
            "[budget_comission] is not a report; did you mean budget_commission?",
        ),
        (
            '[budget_commission]\nrow = ""',
            "[budget_commission] may not have the key 'row'; did you mean rows?",
        ),
        (
            '[budget_commission.columns]\nofficeid = "x"',
            "[budget_commission.columns] may not have the key 'officeid'; did you mean office_id?",
        ),
        (
            '[budget_commission]\nrows = "x[]"\n[budget_commission.columns]\nuser_id = "y[].z"',
            "[budget_commission] budget_commission.user_id: 'y[].z' is not on the path to the rows at 'x[]'",
        ),
        (
            '[budget_commission]\nrows = "x[]"',
            (
                "[budget_commission] columns lacks user_id: add a line with its path, "
                'or with "-" if the service has none '
                "('[].users[].userId' is not on the path to the rows at 'x[]')"
            ),
        ),
        ('[users]\nrows = "x[].y["', "[users] the path 'x[].y[' cannot be read at 'y['"),
        (
            '[sales.sales_agents]\nrows = "x[].agents[]"',
            (
                "[sales.sales_agents] columns lacks estate_id: add a line with its path "
                "(it is a column of the rows above: begin rows with @sales_estates.)"
            ),
        ),
        ("[budget_commission]\nrows = 1", "[budget_commission] rows is not a text in quotes"),
        ('[budget_commission]\ndecimal = ";"', '[budget_commission] decimal must be "." or ","'),
    ],
)
def test_an_error_in_the_file_states_what_to_correct(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ShapesError) as error:
        with_shapes(REPORTS, written(tmp_path, text))
    assert str(error.value) == f"shapes.toml: {sentence}"


def test_a_file_that_is_not_toml_is_an_error_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(ShapesError, match=r"^shapes.toml cannot be read: .*line 2"):
        with_shapes(REPORTS, written(tmp_path, "[users]\nrows = x\n"))
