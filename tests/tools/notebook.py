"""The notebook of docs/, executed against a published file.

    python -m tests.tools.notebook [--data-dir DIR] [--write]

Runs every cell of docs/questions.ipynb in order, as Jupyter would, and ends with 1 when one fails or draws
nothing. With --write the pictures are kept in the notebook, so that a code host shows them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.tools.telling import say

NOTEBOOK = Path(__file__).parents[2] / "docs" / "questions.ipynb"
LARGEST = 300_000
"""Bytes of a notebook that a code host still shows at once."""


def main() -> int:
    """Execute the notebook; the exit code of the tool."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--data-dir", type=Path, default=NOTEBOOK.parents[1] / ".demo")
    words.add_argument("--write", action="store_true", help="keep the pictures in the notebook")
    arguments = words.parse_args()
    os.environ["BROKERBI_DATA_DIR"] = str(arguments.data_dir)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    pictures = execute(notebook)
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    say(f"{pictures} pictures, {len(text.encode()) / 1000:.0f} kB")
    if arguments.write:
        NOTEBOOK.write_text(text, encoding="utf-8")
    return int(pictures < 10 or len(text.encode()) > LARGEST)


def execute(notebook: dict[str, Any]) -> int:
    """Run the code cells in one namespace and keep what their last lines draw; how many pictures that is."""
    names: dict[str, Any] = {"__name__": "__main__"}
    pictures = 0
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        shown = _run("".join(cell["source"]), names)
        cell["execution_count"], cell["outputs"] = number, []
        if shown is not None:
            data = {"image/svg+xml": shown._repr_svg_().splitlines(keepends=True)}
            result = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
            cell["outputs"] = [{**result, "data": data}]
            pictures += "<rect x=" in data["image/svg+xml"][0]
    return pictures


def _run(source: str, names: dict[str, Any]) -> Any:
    """The value of the last line, if it is an expression."""
    tree = ast.parse(source)
    *lines, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, str(NOTEBOOK), "exec"), names)
        return None
    exec(compile(ast.Module(lines, []), str(NOTEBOOK), "exec"), names)
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


if __name__ == "__main__":
    sys.exit(main())
