"""Rendering of a page: the templates of this room, a page's style, and the policy that its head states.

The templates escape whatever comes from the file, and show its control characters. The policy allows the
page's own style and script, named by their checksums, and nothing else: no picture, no address, even if a
name in the data were to try.
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


def render(template: str, *, styles: tuple[str, ...] = ("style.css",), script: str = "", **shown: Any) -> str:
    """A page by a template, with these styles and at most one script; refuses a name that is not there."""
    style = "\n".join(_own_file(name) for name in styles)
    code = _own_file(script) if script else ""
    allowed = f"style-src {_checksum(style)}; " + (f"script-src {_checksum(code)}; " if code else "")
    policy = f"default-src 'none'; {allowed}base-uri 'none'; form-action 'none'"
    return _templates().get_template(template).render(style=style, script=code, policy=policy, **shown)


@cache
def _templates() -> Environment:
    """The templates of this room, read and compiled once for all pages of a publication."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """A value as a page may hold it: HTML knows no control characters but line breaks, and no NUL at all.

    What a macro has written is Markup, of which every value went through here.
    """
    return visible_lines(value) if type(value) is str else value


@cache
def _own_file(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8").strip()


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
