"""Without django-ninja, the error says what to install."""

from __future__ import annotations

import pytest

from jobu.installed import install_command
from tests.test_public_api import run_python

pytestmark = pytest.mark.pure


def test_without_the_extra_the_error_names_it() -> None:
    code = (
        "import sys; sys.modules['ninja'] = None\n"
        "try: import jobu.api\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    assert run_python(code) == (
        f"MissingExtraError The HTTP API of jobu needs django-ninja: {install_command('api')}"
    )
