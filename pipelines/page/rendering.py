"""Rendering of a page: its template, its style, and its content security policy.

Templates escape all values from the file, and make control characters visible. The policy allows only the
page's own style and script, by their checksums: a name in the data cannot load a picture or run a script.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipelines.foreign_text import visible_lines

TEMPLATES = Path(__file__).with_name("templates")


def render(
    template: str, *, styles: tuple[str, ...] = ("style.css",), script: str = "", **values: Any
) -> str:
    """Render a template with these styles and at most one script; an unknown name in it is an error."""
    style = "\n".join(_own_file(name) for name in styles)
    code = _own_file(script) if script else ""
    allowed = f"style-src {_checksum(style)}; " + (f"script-src {_checksum(code)}; " if code else "")
    policy = f"default-src 'none'; {allowed}base-uri 'none'; form-action 'none'"
    return _templates().get_template(template).render(style=style, script=code, policy=policy, **values)


@cache
def _templates() -> Environment:
    """The templates, compiled once for all pages."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _visible_value(value: object) -> object:
    """A text with its control characters, except line breaks, made visible, because HTML does not allow them.

    Other values are unchanged, and so is markup: a macro made it from values that were made visible before.
    """
    return visible_lines(value) if type(value) is str else value


@cache
def _own_file(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8").strip()


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
