"""Is the code of a template compiled once, and again whenever anything that it is made of has changed?"""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from pipelines.page.compiling import KeptCode
from pipelines.page.page import TEMPLATES, environment


def filled_in(folder: Path, made_with: str = "", *, writes: bool = True, trims: bool = False) -> str:
    """The one template here, filled in by an environment of its own, as a new process would."""
    kept = KeptCode(folder, made_with, writes=writes)
    templates = Environment(
        loader=FileSystemLoader(folder), autoescape=True, bytecode_cache=kept, trim_blocks=trims
    )
    return templates.get_template("one.html").render(name="Ann")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one template that was compiled before."""
    (tmp_path / "one.html").write_text("{% set x = name %}\nHello {{ x }}", "utf-8")
    filled_in(tmp_path)
    return tmp_path


def kept_in(folder: Path) -> Path:
    return KeptCode(folder, "").path("one.html")


def test_the_code_that_is_kept_is_used_again(folder: Path) -> None:
    before = kept_in(folder).stat().st_mtime_ns
    assert filled_in(folder) == "\nHello Ann"
    assert kept_in(folder).stat().st_mtime_ns == before


def test_a_changed_template_is_compiled_again(folder: Path) -> None:
    (folder / "one.html").write_text("Goodbye {{ name }}", "utf-8")
    assert filled_in(folder) == "Goodbye Ann"


def test_other_settings_compile_it_again(folder: Path) -> None:
    assert filled_in(folder, "trims", trims=True) == "Hello Ann"


@pytest.mark.parametrize("torn", [b"", b"\0" * 500, b"half"])
def test_code_that_is_not_whole_is_not_used(folder: Path, torn: bytes) -> None:
    kept_in(folder).write_bytes(kept_in(folder).read_bytes()[:100] + torn)
    assert filled_in(folder) == "\nHello Ann"


def test_nothing_is_kept_where_nothing_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("Hello {{ name }}", "utf-8")
    (tmp_path / "__pycache__").touch()
    assert filled_in(tmp_path) == "Hello Ann"


def test_nothing_is_written_where_python_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("Hello {{ name }}", "utf-8")
    filled_in(tmp_path, writes=False)
    assert not kept_in(tmp_path).exists()


def test_every_template_of_the_page_compiles() -> None:
    templates = environment(TEMPLATES)
    assert [templates.get_template(path.name).name for path in TEMPLATES.glob("*.html")]
