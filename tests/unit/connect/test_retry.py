"""How long the client waits before it asks again."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.connect.retry import RetryPolicy, retry_after_seconds

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


def test_delays_double_up_to_the_longest_with_full_jitter() -> None:
    patience = RetryPolicy(tries=10, total_seconds=1e9, first_delay=1, longest_delay=5, random=Random(1))
    seen = [[patience.delay(tried, 0, None) or 0 for _ in range(500)] for tried in range(1, 6)]
    assert [round(max(delays)) for delays in seen] == [1, 2, 4, 5, 5]
    assert all(min(delays) < 0.1 for delays in seen)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("1.5", 1.5),
        ("Fri, 01 Mar 2024 12:00:30 GMT", 30),
        ("Fri, 01 Mar 2024 13:00:30 +0100", 30),
        ("-5", None),
        ("Fri, 01 Mar 2024 11:59:30 GMT", None),
        ("99999999", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds


@given(header=st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d+:\d+:\d+ .*"))
def test_no_retry_after_whatsoever_leads_to_an_error_or_a_long_wait(header: str) -> None:
    seconds = retry_after_seconds(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400
