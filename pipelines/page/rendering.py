"""Rendering of a page: its template, its style, and its content security policy.

Templates escape all values, and make control characters visible. The policy allows only the page's own style
and script, by their checksums, so that a name in the data cannot load a picture or run a script.
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
    """Render a template; raises jinja2.UndefinedError if it uses a name without a value."""
    style = "\n".join(_own_file(name) for name in styles)
    code = _own_file(script) if script else ""
    allowed = f"style-src {_checksum(style)}; " + (f"script-src {_checksum(code)}; " if code else "")
    policy = f"default-src 'none'; {allowed}base-uri 'none'; form-action 'none'"
    return _templates().get_template(template).render(style=style, script=code, policy=policy, **values)


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _visible_value(value: object) -> object:
    # HTML does not allow control characters. The output of macros (Markup) is already without them.
    return visible_lines(value) if type(value) is str else value


@cache
def _own_file(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8").strip()


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
