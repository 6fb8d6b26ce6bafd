"""Which files are ours, and what stands in them? What every wall is measured against."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("assets", "pipelines", "warehouse")
_LEFT_BEHIND = {"data", "build", "dist", "htmlcov", "__pycache__", "node_modules"}
_NOT_OURS = {".log", ".png", ".jpg", ".ico", ".gz", ".zst", ".duckdb", ".parquet", ".pyc"}


def our_files(*endings: str) -> Iterator[Path]:
    """Every file of a clean checkout with one of these endings; all of them when none is given."""
    for path in sorted(ROOT.iterdir()):
        if path.name == ".ci" or (path.is_dir() and not _is_left_behind(path)):
            yield from (inner for inner in _below(path) if not endings or inner.suffix in endings)
        elif path.is_file() and (not endings or path.suffix in endings):
            yield path


def our_texts() -> Iterator[tuple[str, str]]:
    """Every file a person can read, by its name below the root."""
    for path in our_files():
        if path.suffix not in _NOT_OURS and not path.name.startswith((".coverage", ".env")):
            yield named(path), read(path)


def python_files(*folders: str) -> Iterator[Path]:
    """Every Python file below these folders of the root; all of ours when none is given."""
    for path in our_files(".py"):
        if not folders or path.relative_to(ROOT).parts[0] in folders:
            yield path


def named(path: Path) -> str:
    """A file as people speak of it: below the root, with forward slashes."""
    return path.relative_to(ROOT).as_posix()


def module(path: Path) -> str:
    """The import name of a Python file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def tree(path: Path) -> ast.Module:
    return ast.parse(read(path), filename=named(path))


def imports(path: Path) -> Iterator[str]:
    """What a file imports, wherever in it, as dotted names (`from a import b` gives `a.b`)."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module(path).split(".")[: -node.level] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    """Is this dotted name the package, or below it?"""
    return name == package or name.startswith(f"{package}.")


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not _is_left_behind(path):
            yield from _below(path)
        elif path.is_file():
            yield path


def _is_left_behind(folder: Path) -> bool:
    return folder.name in _LEFT_BEHIND or folder.name.startswith(".") or folder.suffix == ".egg-info"
