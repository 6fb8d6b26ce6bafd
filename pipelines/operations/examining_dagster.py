"""Does Dagster run as it was meant to? Its home, and its dagster.yaml beside the one that is shipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipelines.operations.findings import Finding, Grade

HOME = "DAGSTER_HOME"
SUBJECT = "dagster"
NOT_OURS = ("storage", "run_storage", "event_log_storage", "schedule_storage", "run_launcher", "compute_logs")
"""Sections that an operator chooses for the place it runs in."""


def dagster_instance(environment: Mapping[str, str], shipped: Path) -> Iterator[Finding]:
    """What is missing or different in Dagster's own settings; nothing is asked of a running one."""
    home = environment.get(HOME, "")
    if not home:
        found = f"{HOME} is not set: fine for `brokerbi sync`, but Dagster would forget its runs"
        yield Finding(
            SUBJECT, Grade.ODD, found, f"set {HOME} to a directory of its own for webserver and daemon"
        )
        return
    if not Path(home).is_absolute() or not Path(home).is_dir():
        found = f"{HOME} is {home}, which is no absolute path of a directory"
        yield Finding(SUBJECT, Grade.WRONG, found, "make the directory, and write its whole path")
        return
    file = Path(home) / "dagster.yaml"
    if not file.is_file():
        found = f"there is no dagster.yaml in {home}: no retries, no limits, no watch over runs that die"
        yield Finding(SUBJECT, Grade.WRONG, found, f"cp {shipped} {home}/")
        return
    if shipped.is_file():
        yield from _compared(entries(file.read_text("utf-8")), entries(shipped.read_text("utf-8")), file)


def entries(text: str) -> dict[str, str]:
    """The entries of a plain YAML file: "concurrency.runs.max_concurrent_runs" -> "3".

    It knows nested keys and lists of them, which is what dagster.yaml is made of; a value in braces or
    brackets is one text.
    """
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        bare = line.split(" #")[0].rstrip()
        key, colon, value = bare.strip().removeprefix("- ").partition(":")
        if not colon or bare.lstrip().startswith("#"):
            continue
        depth = len(bare) - len(bare.lstrip()) + (2 if bare.lstrip().startswith("- ") else 0)
        above = [(one, name) for one, name in above if one < depth]
        place = ".".join([*(name for _, name in above), key.strip()])
        if value.strip():
            found[place] = value.strip().strip("'\"")
        else:
            above.append((depth, key.strip()))
    return found


def _compared(found: Mapping[str, str], wanted: Mapping[str, str], file: Path) -> Iterator[Finding]:
    wanted = {name: value for name, value in wanted.items() if name.split(".")[0] not in NOT_OURS}
    missing = [f"{name}: {value}" for name, value in wanted.items() if name not in found]
    other = [
        f"{name}: {found[name]} instead of {value}"
        for name, value in wanted.items()
        if found.get(name, value) != value
    ]
    for words, some in (("lacks", missing), ("has other values", other)):
        if some:
            remedy = "take them over from the shipped dagster.yaml, unless it was meant so, and restart"
            yield Finding(SUBJECT, Grade.ODD, f"{file} {words}: {', '.join(some)}", remedy)
    if not missing and not other:
        yield Finding(SUBJECT, Grade.WELL, f"{file} says what the shipped one says")
