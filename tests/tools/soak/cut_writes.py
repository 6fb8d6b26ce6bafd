"""Processes that die in the middle of a write, at every write, removal and renaming of a job in turn.

Each time the job begins on the same directory, is cut off in the middle of one thing it does to a file, and
what it left must hold the truth, now and after the job was run again. Needs Linux and a C compiler.
`python -m tests.tools.soak.cut_writes` is part of `make soak`.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.upkeep.erase import erase
from pipelines.upkeep.replay import replay
from tests.scenarios.scenario import Cell, Rows, Scenario, contents, scenario, wrong_cells
from tests.tools.telling import say
from warehouse.publishing.publish import rollback
from warehouse.publishing.retention import compact

REPORTS = ("users", "sales", "tips_and_leads")
SOURCE = Path(__file__).with_name("cut.c")
PRELOADED = "LD_PRELOAD"
PARTS = (0.0, 0.02, 0.5, 0.98)
"""How much of a write is done when the process dies in it."""
_FORK = multiprocessing.get_context("fork")


def _erase(here: Scenario) -> None:
    if erase(here.settings, "user", here.value("SELECT min(id) FROM bi.users")).problems:
        raise AssertionError("the person was not erased")


def _rebuild(here: Scenario) -> None:
    """Lose the working file, and load everything again from landing: many groups in one session."""
    shutil.rmtree(here.data_dir / "work", ignore_errors=True)
    replay(here.settings)


JOBS: Mapping[str, Callable[[Scenario], object]] = {
    "sync": lambda here: here.sync(refresh=True),
    "publish": lambda here: here.publish(),
    "replay": lambda here: replay(here.settings),
    "rebuild": _rebuild,
    "compact": lambda here: compact(here.data_dir),
    "rollback": lambda here: rollback(here.data_dir, now=here.clock.utc_now()),
    "erase": _erase,
}


def in_child(do: Callable[[], object]) -> tuple[int | None, Any]:
    """Exit code and answer of a function in a process of its own: this one must stay without threads."""
    reading, writing = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=lambda: writing.send(do()))
    child.start()
    writing.close()
    try:
        answer = reading.recv()
    except EOFError:
        answer = None
    child.join()
    return child.exitcode, answer


def cut_off(directory: Path, at: int, part: float, do: Callable[[], object]) -> int:
    """Do a job and die at this number, after so much of its bytes; else answers how many there are."""
    library = ctypes.CDLL(os.environ[PRELOADED])
    library.cut(str(directory).encode(), ctypes.c_long(at), ctypes.c_double(part))
    do()
    return int(library.counted())


def prepare(here: Scenario) -> dict[Cell, Rows]:
    """A directory with history: synced, published twice, and changed in small steps as on many nights."""
    here.sync()
    here.publish()
    for report in REPORTS:
        here.sync(refresh=True, reports=(report,))
    here.publish()
    return here.cells()


def wrong_after(here: Scenario, what: str, truth: Mapping[Cell, Rows]) -> list[str]:
    """What is wrong after a cut, and once the job was done again; an erasure changes what is true."""

    def wrong(may_lack: tuple[str, ...] = ()) -> list[str]:
        if what != "erase":
            return wrong_cells(here.data_dir, truth, may_lack=may_lack)
        return [] if len(contents(here.data_dir)) == 2 else ["a file is gone"]

    found = wrong(("working file",) if what == "rebuild" else ())
    JOBS["publish" if what == "rollback" else what](here)
    return found + wrong()


@dataclass(frozen=True)
class Cutting:
    """The prepared directory and what it holds, and a copy of it in which jobs are cut off."""

    prepared: Scenario
    truth: Mapping[Cell, Rows]
    here: Scenario
    every: int
    random: random.Random

    def cut(self, what: str) -> int:
        """Cut one job at each of its writes; answers how often something was wrong afterwards."""
        cut = partial(cut_off, self.here.data_dir, do=partial(JOBS[what], self.here))
        self._begin_again()
        _, number = in_child(partial(cut, 0, 0.0))
        if not number:
            raise AssertionError(f"an undisturbed {what} failed")
        cuts = wrong = 0
        for at in range(1 + self.random.randrange(self.every), number + 1, self.every):
            self._begin_again()
            code, _ = in_child(partial(cut, at, self.random.choice(PARTS)))
            cuts += code == -signal.SIGKILL
            _, found = in_child(partial(wrong_after, self.here, what, self.truth))
            for sentence in ["it could not be run again"] if found is None else found[:3]:
                say(f"{what}, cut at {at}: {sentence}")
            wrong += found != []
        say(f"{what}: {number} things done to files, cut off at {cuts} of them, wrong {wrong}")
        return wrong

    def _begin_again(self) -> None:
        shutil.rmtree(self.here.data_dir, ignore_errors=True)
        shutil.copytree(self.prepared.data_dir, self.here.data_dir)


def main() -> int:
    """Compile, begin again with the library in place, cut everywhere; 1 if anything was ever wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="cut only at every so manieth place")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--job", choices=sorted(JOBS), action="append")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if PRELOADED not in os.environ:
            library = folder / "cut.so"
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
            command = [sys.executable, "-m", "tests.tools.soak.cut_writes", *sys.argv[1:]]
            return subprocess.call(command, env={**os.environ, PRELOADED: str(library)})
        prepared = scenario(folder / "prepared", REPORTS, start="2026-09", offices=1)
        _, truth = in_child(partial(prepare, prepared))
        here = prepared.with_settings(data_dir=folder / "cut")
        cutting = Cutting(prepared, truth, here, given.every, random.Random(given.seed))
        return 1 if sum([cutting.cut(what) for what in given.job or JOBS]) else 0


if __name__ == "__main__":
    sys.exit(main())
