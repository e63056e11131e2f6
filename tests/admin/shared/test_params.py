"""The handlers that a form offers."""

from __future__ import annotations

import pytest

from jobu import handler
from jobu.admin.shared.params import handler_choices

pytestmark = pytest.mark.usefixtures("temporary_handlers")


def test_an_earlier_name_stays_the_choice_of_who_has_it() -> None:
    handler("renamed", aliases="before")(lambda: None)
    assert handler_choices(current="before")[1] == ("before", "before → renamed")
    assert handler_choices(current="renamed")[1][0] != "renamed"
    offered = [name for _, group in handler_choices()[1:] for name, _ in group]
    assert "renamed" in offered and "before" not in offered
