"""Files of the repository, as a clean checkout has them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("assets", "pipelines", "warehouse")


def files_below(*folders: str, ending: str = "") -> list[Path]:
    """Every file below these folders of the root whose name ends so; nothing that a run left behind."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob(f"*{ending}")))
    return [path for path in paths if path.is_file() and "__pycache__" not in path.parts]


def named(path: Path) -> str:
    """A file below the root, with forward slashes."""
    return path.relative_to(ROOT).as_posix()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
