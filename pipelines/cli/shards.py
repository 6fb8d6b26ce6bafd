"""Commands `shards check`, `shards render`, `shards move` and `merge`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pipelines.cli.output import complain, print_table, say
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import load_settings
from pipelines.shards.shards import Shards, read_shards
from pipelines.words import counted, size


def run_shards(arguments: argparse.Namespace) -> int:
    """Check the file of shards, then render what runs them or move a customer; 2 when the file is wrong."""
    shards = _shards(arguments, left=arguments.source if arguments.step == "move" else "")
    if arguments.step == "check":
        heads = ("shard", "host", "customers", "login", "requests/s", "at once")
        rows = [
            (one.name, one.host, str(len(one.customers)), ", ".join(sorted(one.logins())),
             f"{one.requests_per_second:g}", str(one.concurrency))
            for one in shards.shard
        ]  # fmt: skip
        print_table(heads, rows, right=(2, 4, 5))
        return 0
    if arguments.step == "render":
        from pipelines.shards.render import render

        changed = render(shards, Path(arguments.to))
        for path in changed:
            say(f"{path} {'is made' if path.exists() else 'is removed'}")
        say(f"{counted(len(changed), 'file')} changed in {arguments.to}")
        return 0
    from pipelines.shards.move import move, settings_of, shards_of_move

    old, new = shards_of_move(shards, arguments.customer, arguments.source, arguments.target)
    customer = arguments.customer
    moved = move(settings_of(old, shards, without=customer), settings_of(new, shards), customer)
    say(
        f"{customer} is in {new.name}, {counted(moved.rows, 'row')} of {counted(moved.loads, 'load')} as "
        f"they were in {old.name}, and no more there; `brokerbi shards render` and `brokerbi merge` follow"
    )
    if moved.has_emptied:
        say(
            f"before, take {old.name} out of {arguments.file}: it holds nobody; {old.data_dir} can be removed"
        )
    return 0


def _shards(arguments: argparse.Namespace, *, left: str = "") -> Shards:
    """The file of shards, with all customers of the settings in it, if there are settings that name any."""
    try:
        known = [one.id for one in load_settings(os.environ, reading=True).customers]
    except SettingsError:
        known = []
    return read_shards(Path(arguments.file), known, left=left)


def run_merge(arguments: argparse.Namespace) -> int:
    """Merge the published files of shards; 1 when one is missing or a check refuses the merged file."""
    from pipelines.shards.move import data_dirs
    from pipelines.upkeep.merge import data_dir_of, merge_shards, sources_by_name

    settings = load_settings(os.environ, reading=True).model_copy(
        update={"data_dir": data_dir_of(arguments.to)}
    )
    sources = sources_by_name(arguments.source) or data_dirs(_shards(arguments))
    merged = merge_shards(settings, sources)
    missing = [one for one in merged.shards if one.error]
    for one in missing:
        complain(f"brokerbi: nothing of {one.shard} is in the merged file: {one.error}")
    publication = merged.finished.publication
    if not publication.published:
        complain(f"brokerbi: not published: {publication.why}; the file of before stays")
        return 1
    present = [one for one in merged.shards if not one.error]
    customers = sum(len(one.customers) for one in present)
    say(
        f"published {publication.path} ({size(publication.bytes or 0)}): {counted(len(present), 'shard')}, "
        f"{counted(customers, 'customer')}"
    )
    return 1 if missing else 0
