"""What if a process dies at this very write? Asked of every write, removal and renaming of a job in turn.

Each time the job begins on the same directory, is cut off in the middle of one thing it does to a file, and
what it left must hold the truth, now and after the job was run again. Needs Linux and a C compiler.
`python -m tests.scenarios.faults.cuts` is part of `make soak`.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from pipelines.operations.erase import erase
from pipelines.operations.replay import replay
from tests.scenarios.faults.ground import Cell, Ground, Rows, content, ground
from tests.scenarios.faults.long_run import say
from warehouse.database import Store
from warehouse.duckdb_file import connect
from warehouse.personal_data import PersonKind
from warehouse.publish import rollback
from warehouse.retention import compact

REPORTS = ("users", "sales", "tips_and_leads")
SOURCE = Path(__file__).with_name("cut.c")
PRELOADED = "LD_PRELOAD"
PARTS = (0.0, 0.02, 0.5, 0.98)
"""How much of a write is done when the process dies in it."""


def _erase(here: Ground) -> None:
    [(user,)] = here.rows("SELECT min(id) FROM bi.users")
    if erase(here.settings, PersonKind.USER, user, clock=here.clock).problems:
        raise AssertionError("the person was not erased")


def _rebuild(here: Ground) -> None:
    """Lose the working file, and load everything again from landing: many groups in one sitting."""
    shutil.rmtree(here.settings.data_dir / "work", ignore_errors=True)
    replay(here.settings)


JOBS: Mapping[str, Callable[[Ground], object]] = {
    "sync": lambda here: here.sync(refresh=True),
    "publish": lambda here: here.publish(),
    "replay": lambda here: replay(here.settings),
    "rebuild": _rebuild,
    "compact": lambda here: compact(here.settings.data_dir),
    "rollback": lambda here: rollback(here.settings.data_dir, now=here.clock.utc_now()),
    "erase": _erase,
}


def cut_off(directory: Path, at: int, part: float, do: Callable[[], object]) -> int:
    """Do a job and die at this number, after so much of its bytes; else answers how many there are."""
    library = ctypes.CDLL(os.environ[PRELOADED])
    library.cut(str(directory).encode(), ctypes.c_long(at), ctypes.c_double(part))
    do()
    return int(library.counted())


def forked(do: Callable[[], int]) -> int:
    """Do something in a process of its own; answers how it ended, the signal that ended it as a negative."""
    child = os.fork()
    if child == 0:
        _end(do)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _end(do: Callable[[], int]) -> NoReturn:
    code = 1
    try:
        code = do()
    except BaseException:  # noqa: BLE001 - the parent must see how it ended
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def told(do: Callable[[], object]) -> Any:
    """What a function answers that is called in a process of its own: this one must stay without threads."""
    reading, writing = os.pipe()

    def tell() -> int:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(do(), pipe)
        return 0

    child = os.fork()
    if child == 0:
        _end(tell)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise AssertionError("an undisturbed job failed")
    return pickle.loads(said)


def prepare(here: Ground) -> dict[Cell, Rows]:
    """A directory with history: synced, published twice, and changed in small steps as on many nights."""
    here.sync()
    here.publish()
    for report in REPORTS:
        here.sync(refresh=True, reports=(report,))
    here.publish()
    return here.cells()


def wrong(here: Ground, truth: Mapping[Cell, Rows], *, partly: bool = False) -> list[str]:
    """Cells of the working and the published file that are not as they should be; not there is, `partly`."""
    data_dir = here.settings.data_dir
    found = []
    for name, reading in {
        "working": Store(data_dir).reading(),
        "published": connect(data_dir / "warehouse.duckdb", read_only=True),
    }.items():
        with reading as file:
            cells = content(file)
        lacking = partly and name == "working"
        found += [
            f"{name} {cell}"
            for cell in truth
            if cells.get(cell, truth[cell] if lacking else None) != truth[cell]
        ]
    return found


@dataclass(frozen=True)
class Examination:
    """What is asked of every job: the prepared ground, what it holds, and where jobs are cut off."""

    base: Ground
    truth: Mapping[Cell, Rows]
    here: Ground
    every: int
    chance: random.Random

    def of(self, what: str) -> int:
        """Cut one job at each of its writes; answers how often something was wrong afterwards."""
        directory = self.here.settings.data_dir
        job = partial(JOBS[what], self.here)
        self.again()
        number = told(lambda: cut_off(directory, 0, 0.0, job))
        truth = {} if what == "erase" else self.truth
        once_more = partial(JOBS["publish" if what == "rollback" else what], self.here)
        wrong = cuts = 0
        for at in range(1 + self.chance.randrange(self.every), number + 1, self.every):
            self.again()
            part = self.chance.choice(PARTS)
            cuts += forked(partial(cut_off, directory, at, part, job)) == -signal.SIGKILL
            wrong += forked(partial(judge, self.here, once_more, truth, partly=what == "rebuild")) != 0
        say(f"{what}: {number} things done to files, cut off at {cuts} of them, wrong {wrong}")
        return wrong

    def again(self) -> None:
        """The directory as it was before."""
        shutil.rmtree(self.here.settings.data_dir, ignore_errors=True)
        shutil.copytree(self.base.settings.data_dir, self.here.settings.data_dir)


def judge(here: Ground, job: Callable[[], object], truth: Mapping[Cell, Rows], *, partly: bool) -> int:
    """Whether anything is wrong after a cut, or after the job was done once more."""
    found = wrong(here, truth, partly=partly)
    job()
    found += wrong(here, truth)
    for sentence in found[:3]:
        say(sentence)
    return min(len(found), 1)


def main() -> int:
    """Compile, begin again with the library in place, cut everywhere; 1 if anything was ever wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="cut only at every so manieth place")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--job", choices=sorted(JOBS), action="append")
    given = parser.parse_args()
    if PRELOADED not in os.environ:
        return _with_library()
    with TemporaryDirectory() as name:
        base = ground(Path(name).resolve() / "base", reports=REPORTS, start="2026-09", offices=1)
        settings = base.settings.model_copy(update={"data_dir": Path(name).resolve() / "cut"})
        truth = told(partial(prepare, base))
        here, chance = replace(base, settings=settings), random.Random(given.seed)
        examination = Examination(base, truth, here, given.every, chance)
        return 1 if sum([examination.of(what) for what in given.job or JOBS]) else 0


def _with_library() -> int:
    with TemporaryDirectory() as folder:
        library = f"{folder}/cut.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        command = [sys.executable, "-m", "tests.scenarios.faults.cuts", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, PRELOADED: library}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
