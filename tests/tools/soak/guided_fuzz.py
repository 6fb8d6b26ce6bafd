"""Fuzzing of bodies that follows the lines of code it reaches.

Needs atheris, which is no dependency of the project: `pip install atheris`, where this Python has one.
`python -m tests.tools.soak.guided_fuzz --seconds 600`; `--corpus FOLDER` goes on where an earlier one ended.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LONGEST = 20_000
FOLLOWED = ("pipelines.normalize", "pipelines.sync.window.answers")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, help="where bodies that led somewhere new are kept")
    given = parser.parse_args()
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.stderr.write("atheris is not installed: pip install atheris\n")
        return 2
    with TemporaryDirectory() as passing:
        folder = given.corpus or Path(passing)
        _fuzz(atheris, folder, given.seconds)
    return 0


def _fuzz(atheris: Any, folder: Path, seconds: int) -> None:
    with atheris.instrument_imports(include=list(FOLLOWED)):
        from tests.tools.soak import spoiled_bodies as bodies
    samples = bodies.samples()
    folder.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(samples):
        (folder / f"{sample.report.name}.seed").write_bytes(bytes([number]) + sample.body)

    def one(body: bytes) -> None:
        report = samples[body[0] % len(samples)].report if body else samples[0].report
        told = bodies.verdict(report, body[1:])
        if told in ("a traceback", "no sentence"):
            raise AssertionError(f"{report.name}: {told}: {body[1:]!r}")

    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=60"]
    atheris.Setup([sys.argv[0], str(folder), *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
