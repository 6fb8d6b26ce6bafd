"""Does the matrix show what was fetched? Lets Dagster count its squares again where it may have lost some."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg


def count_squares_again(instance: dg.DagsterInstance, keys: Iterable[dg.AssetKey]) -> None:
    """Forget the counted squares; they are counted from the events at the next look.

    Dagster counts on from where it was when somebody looks. What one run logs while another is being
    submitted can fall between two looks, and such squares would be shown as missing for good.
    """
    instance.wipe_asset_cached_status(list(keys))
