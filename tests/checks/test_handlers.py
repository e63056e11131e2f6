"""The system checks of handlers."""

from __future__ import annotations

import pytest

from jobu import handler
from jobu.checks import check_handlers


@pytest.mark.usefixtures("temporary_handlers")
def test_w005_a_sensitive_name_that_no_param_has() -> None:
    @handler("sign-up", sensitive=("pasword", "pin"))
    def sign_up(password: str, pin: int) -> None: ...

    @handler("sign-up-with-more", sensitive="pasword")
    def sign_up_with_more(password: str, more: dict[str, str]) -> None: ...

    [warning] = check_handlers()
    assert warning.id == "jobu.W005"
    assert (
        warning.msg == "The handler 'sign-up' calls 'pasword' sensitive, but takes no such param."
    )
    assert warning.hint == "It takes password, pin."
