"""Pace of a data directory: slots and moments of all its processes, in one small file."""

from __future__ import annotations

import json
import math
import os
import secrets
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import lock_descriptor

from pipelines.clock import Clock, SystemClock
from pipelines.connect.rate_limit import (
    AFTER_A_TRY,
    AHEAD,
    HALVED_ONCE_IN,
    HEAD_SECONDS,
    LATEST,
    LONGEST_INTERVAL,
    LONGEST_LEASE,
    MOST_HALVINGS,
    RECOVERS_AFTER,
    WIDER,
    Grant,
)

PRIVATE = 0o600
BYTES = 4096  # always as many, so that a full disk does not stop it
BUSY_SECONDS = 0.001  # until the state is looked at again while another process writes it
LONGEST_BLOCK = 1.0  # seconds in which nothing else of this process goes on

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """What the processes share, in seconds of the machine's monotonic clock."""

    granted_at: float = -math.inf
    free_at: float = -math.inf
    slowed_at: float = -math.inf
    halvings: float = 0.0
    head: str = ""  # who waits longest for a slot
    head_seen_at: float = -math.inf
    slots: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """By number: the token of who has it, and until when."""

    def halved(self, now: float) -> int:
        """How often the rate is halved still."""
        if not 0 <= now - self.slowed_at < math.inf:
            return 0
        taken_back = (now - self.slowed_at) // RECOVERS_AFTER
        return int(min(MOST_HALVINGS, max(0.0, self.halvings - taken_back)))

    def moment(self, now: float) -> float:
        """When the next request may be sent.

        The clock starts anew when the machine does: a moment further ahead than any is granted, or absurdly
        far from the one before, was written before that or is damaged, and delays nobody.
        """
        is_of_now = self.granted_at <= now + AHEAD and self.free_at - self.granted_at <= LONGEST_INTERVAL
        return max(now, self.free_at) if is_of_now else now


class FilePace:
    """The pace of all processes of a data directory, on one machine: the clock is the machine's.

    Nothing is locked for as long as a request takes. A process that dies lets go of its slots at once, as its
    lock on a file of its own ends with it; one that is stopped keeps them for `lease` seconds. Refuses a
    directory that cannot be written.
    """

    def __init__(
        self,
        data_dir: Path,
        concurrency: int,
        requests_per_second: float,
        *,
        lease: float = 120.0 + AFTER_A_TRY,
        clock: Clock | None = None,
    ) -> None:
        if concurrency < 1 or not requests_per_second > 0:
            raise ValueError("a rate limit needs at least one slot and more than no requests per second")
        self._folder = data_dir / "work" / "pace"
        for folder in (*reversed(self._folder.parents), self._folder):
            if (
                not folder.is_dir()
            ):  # the data directory is open to the group, what is in `work` to nobody else
                mode = 0o700 if folder.is_relative_to(data_dir / "work") else 0o750
                folder.mkdir(mode=mode, exist_ok=True)
                folder.chmod(mode)  # whatever the umask is
        self._clock = clock or SystemClock()
        self._concurrency = concurrency
        self._interval = WIDER / requests_per_second
        self._lease = lease
        for file in self._folder.glob("alive-*"):
            self._is_alive(file.name.removeprefix("alive-"))
        self._me = secrets.token_hex(4)
        self._turns = self._number = 0
        weakref.finalize(self, _leave, *_show_life(self._folder, self._me))

    async def take(self, login: str) -> Grant | float:  # noqa: ARG002 - one pace, whatever the login
        return self._change(self._take)

    async def give_back(self, grant: Grant) -> None:
        self._change(lambda state, _: (_without(state, grant), None))

    def slow_down(self) -> None:
        self._change(_slowed)

    async def aclose(self) -> None:
        """Nothing is open but the file that shows this process alive."""

    @property
    def halvings(self) -> int:
        """How often the rate is halved at this moment."""
        return self._change(lambda state, now: (state, state.halved(now)))

    def _take(self, state: State, now: float) -> tuple[State, Grant | float]:
        """A slot and a moment, if this process is not behind one that waits longer."""
        is_behind = state.head not in ("", self._me) and 0 <= now - state.head_seen_at < HEAD_SECONDS
        slot = None if is_behind else self._free_slot(state, now)
        if slot is None:
            is_seen = state.head == self._me and 0 <= now - state.head_seen_at < HEAD_SECONDS / 2
            waiting = state if is_behind or is_seen else replace(state, head=self._me, head_seen_at=now)
            return waiting, 0.0
        if (at := state.moment(now)) > now + AHEAD:
            return state, at - now - AHEAD
        self._turns += 1
        token, gap = f"{self._me}.{self._turns}", self._interval * 2 ** state.halved(now)
        taken = replace(
            state,
            granted_at=at,
            free_at=at + gap,
            head="" if state.head == self._me else state.head,
            slots={**state.slots, slot: (token, now + self._lease)},
        )
        return taken, Grant(int(slot), token, at, at + max(gap, LATEST))

    def _free_slot(self, state: State, now: float) -> str | None:
        """A slot that nobody holds, or whose lease is over; else one whose process is dead.

        From the top, so that a process allowed fewer finds the first slots free as long as possible.
        """
        numbers = [str(number) for number in reversed(range(self._concurrency))]
        held = {
            number: who for number, (who, until) in state.slots.items() if now < until <= now + LONGEST_LEASE
        }
        free = (number for number in numbers if number not in held)
        left = (number for number in numbers if not self._is_alive(held[number].partition(".")[0]))
        return next(free, None) or next(left, None)

    def _is_alive(self, who: str) -> bool:
        """Whether the process that goes by this name has its lock still; the file of a dead one goes."""
        file = self._folder / f"alive-{who}"
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            if not lock_descriptor(descriptor, blocking=False):
                return True
            file.unlink(missing_ok=True)
            return False
        finally:
            os.close(descriptor)

    def _change(self, step: Callable[[State, float], tuple[State, T]]) -> T:
        """Make a new state of the one that is written; blocks for a moment while another process does.

        The lock is held for some microseconds. Where it is not free for much longer its holder was stopped in
        just these: the state goes on in the next file, and who finds such a one begins anew with it.
        """
        blocked_at: float | None = None
        while True:
            self._newest()
            file = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
            try:
                if lock_descriptor(file, blocking=False) and not self._next.exists():
                    written = os.pread(file, BYTES, 0)
                    changed, result = step(_read(written), self._clock.monotonic())
                    if (text := _text(changed)) != written:
                        os.pwrite(file, text, 0)
                    if not self._next.exists():
                        return result
                    continue
            finally:
                os.close(file)
            blocked_at = time.monotonic() if blocked_at is None else blocked_at
            if time.monotonic() - blocked_at > LONGEST_BLOCK:
                self._go_round()
                blocked_at = None
            time.sleep(BUSY_SECONDS)

    def _newest(self) -> None:
        """Know the file that the state is in, and the one that is next."""
        while self._next.exists():
            self._number += 1

    def _go_round(self) -> None:
        """Let the state go on in the next file, whole from the start; another may have been quicker."""
        beside = self._folder / f"new-{self._me}"
        beside.write_bytes(self._file.read_bytes())
        beside.chmod(PRIVATE)
        with suppress(FileExistsError):
            self._next.hardlink_to(beside)
        beside.unlink()

    @property
    def _file(self) -> Path:
        return self._folder / f"state-{self._number}"

    @property
    def _next(self) -> Path:
        return self._folder / f"state-{self._number + 1}"


def _show_life(folder: Path, me: str) -> tuple[int, Path]:
    """A file that stays locked as long as this process lives; it has its name only once it is locked."""
    file, unnamed = folder / f"alive-{me}", folder / f"new-{me}"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    lock_descriptor(descriptor, blocking=False)
    unnamed.rename(file)
    return descriptor, file


def _leave(descriptor: int, file: Path) -> None:
    file.unlink(missing_ok=True)
    os.close(descriptor)


def _without(state: State, grant: Grant) -> State:
    """The state without a slot, if the one that gives it back has it still."""
    if state.slots.get(str(grant.slot), ("", 0.0))[0] != grant.token:
        return state
    left = {number: held for number, held in state.slots.items() if number != str(grant.slot)}
    return replace(state, slots=left)


def _slowed(state: State, now: float) -> tuple[State, None]:
    if 0 <= now - state.slowed_at < HALVED_ONCE_IN:
        return state, None
    return replace(state, slowed_at=now, halvings=min(MOST_HALVINGS, state.halved(now) + 1)), None


def _text(state: State) -> bytes:
    said = {name: getattr(state, name) for name in State.__slots__}
    return json.dumps(said, separators=(",", ":")).encode().ljust(BYTES)


def _read(written: bytes) -> State:
    """The state that was written; a damaged one says nothing."""
    try:
        read: dict[str, Any] = json.loads(written)
        slots = {number: (str(token), float(until)) for number, (token, until) in read.pop("slots").items()}
        head = str(read.pop("head"))
        return State(**{name: float(value) for name, value in read.items()}, head=head, slots=slots)
    except (ValueError, TypeError, KeyError, AttributeError):
        return State()
