"""Fixtures of the API's tests."""

from __future__ import annotations

import pytest

from tests.api.callers import Api, caller


@pytest.fixture
def api(db: None) -> Api:
    """A program that may do everything."""
    return caller("write token")
