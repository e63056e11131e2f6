"""Cron expressions made by chance, and where the tests begin to count."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st

stable = settings(derandomize=True, deadline=None, database=None, max_examples=200)


START = datetime(2026, 5, 5, 12, 3, 20, tzinfo=UTC)


def one_of_several(*values: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True).map(",".join)


EXPRESSIONS = st.tuples(
    st.sampled_from(["*", "*/7", "*/90"]) | one_of_several("0", "59", "3-9", "10-50/4", "5/13"),
    st.sampled_from(["*", "*/5"]) | one_of_several("0", "23", "3-9", "10-20/4", "5/7"),
    st.sampled_from(["*", "*/3"]) | one_of_several("1", "31", "30", "8-14", "L", "10/7"),
    st.sampled_from(["*", "*/3"]) | one_of_several("2", "12", "feb", "jun-sep", "4/5"),
    st.sampled_from(["*", "*/3", "1-7/2"])
    | one_of_several("0", "7", "fri", "mon-wed")
    | one_of_several("1#1", "sun#5", "7#3", "wed#2", "L6"),
).map(" ".join)
