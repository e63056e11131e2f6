"""What is sensitive is masked, at any depth; and a mask never becomes a value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from jobu.exceptions import MaskedError
from jobu.masking import (
    MASK,
    is_sensitive,
    mask,
    mask_quotes,
    mask_text,
    restore,
    restore_text,
)

pytestmark = pytest.mark.pure

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("ab") | st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "PASSWORD",
        "password2",
        "pass",
        "smtp_pass",
        "smtpPass",
        "client_secret",
        "token",
        "accessToken",
        "refresh_tokens",
        "api_key",
        "apiKey",
        "APIKey",
        "X-Api-Key",
        "apikey",
        "aws_access_key_id",
        "private-key",
        "credentials",
        "auth",
        "basic_auth",
        "Authorization",
        "Set-Cookie",
        "signature",
    ],
)
def test_what_is_usually_a_secret_is_sensitive_by_default(name: str) -> None:
    assert is_sensitive(name)


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "monkey",
        "dedupe_key",
        "author",
        "bypass",
        "compass",
        "passenger",
        "pages",
        "user",
        "",
    ],
)
def test_what_only_looks_like_a_secret_is_not(name: str) -> None:
    assert not is_sensitive(name)


def test_a_handlers_own_names_count_besides_those_of_the_setting() -> None:
    assert is_sensitive("cardNumber", ["card_*"]) and is_sensitive("password", ["card_*"])
    assert not is_sensitive("card_number")


def test_the_setting_replaces_the_default_names() -> None:
    with override_settings(JOBU_SENSITIVE_PARAMS=["iban"]):
        assert is_sensitive("IBAN") and not is_sensitive("password")
    with override_settings(JOBU_SENSITIVE_PARAMS=[]):
        assert not is_sensitive("password") and not is_sensitive("")


def test_a_sensitive_value_is_masked_whatever_it_is_and_however_deep() -> None:
    shown = mask({"to": [{"password": "a"}, {"pages": 3}], "auth": {"user": "x"}, "token": 17})
    assert shown == {"to": [{"password": MASK}, {"pages": 3}], "auth": MASK, "token": MASK}


def test_that_a_sensitive_value_is_missing_is_no_secret() -> None:
    assert mask({"password": None}) == {"password": None}


def test_to_mask_changes_nothing_in_place() -> None:
    params = {"password": "a", "more": [{"token": "b"}]}
    mask(params)
    assert params == {"password": "a", "more": [{"token": "b"}]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"password":"a","n":1}', '{"password":"********","n":1}'),
        ('{ "password" :\n "a\\"b" }', '{ "password" :\n "********" }'),
        ('{"auth": {"a": ["}", 1]}, "n": 1}', '{"auth": "********", "n": 1}'),
        ('{"token": 17}', '{"token": "********"}'),
        ('{"token": null, "n": 1}', '{"token": null, "n": 1}'),
        ('{"pass\\u0077ord": "a"}', '{"pass\\u0077ord": "********"}'),
        ('{"token": "a", "token": "b"}', '{"token": "********", "token": "********"}'),
        ('{"params": {"password": "hun', '{"params": {"password": "********"'),
        ('{"password": [1, 2', '{"password": "********"'),
        ('{"password": ', '{"password": "********"'),
        ("{'password': 'a'}", "{'password': \"********\"}"),
        ("the password: of nobody", "the password: of nobody"),
        ('["password", "a"]', '["password", "a"]'),
        ("", ""),
    ],
)
def test_a_text_is_masked_as_it_stands_broken_or_not(text: str, shown: str) -> None:
    assert mask_text(text) == shown


@given(VALUES)
def test_a_json_text_is_masked_like_its_value(value: Any) -> None:
    text = json.dumps(value)
    with override_settings(JOBU_SENSITIVE_PARAMS=["a"]):
        assert json.loads(mask_text(text)) == mask(value)


def test_a_text_is_masked_in_a_time_that_grows_with_its_length_alone() -> None:
    # Recursion or backtracking would end in an error, or not at all.
    assert mask_text('{"a":' * 100_000).endswith('{"a":')
    assert mask_text('"' + "\\" * 1_000_000).startswith('"')
    assert mask_text('{"token":' + "[" * 1_000_000) == '{"token":"********"'


def test_what_a_text_quotes_of_the_params_is_masked() -> None:
    params = {"user": "someone", "auth": {"pin": 12345}, "tokens": ["a\nsecret", True, "abc"]}
    text = f"someone sent {params['tokens']!r} with 12345: a\nsecret"
    # A value as short as abc would be found, and masked, in the middle of any text.
    assert mask_quotes(text, params) == f"someone sent ['{MASK}', True, 'abc'] with {MASK}: {MASK}"


def test_a_mask_that_comes_back_keeps_the_value() -> None:
    kept = {"to": {"password": "a", "port": 1}, "token": 17, "n": 1}
    given = {"to": {"password": MASK, "port": 2}, "token": MASK}
    assert restore(given, kept) == {"to": {"password": "a", "port": 2}, "token": 17}


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"password": MASK}, "password"),
        ({"to": {"password": MASK}}, "to.password"),
        ({"note": MASK}, "note"),
        ({"list": [1, MASK]}, "list[1]"),
    ],
)
def test_a_mask_without_a_value_to_keep_is_refused(given: Any, where: str) -> None:
    with pytest.raises(MaskedError) as caught:
        restore(given, {"note": "public", "password": None, "list": [1, 2]})
    assert str(caught.value) == f"{where} is masked, and there is no value to keep: write one."


def test_masks_in_a_list_keep_their_values_only_while_it_is_as_it_was() -> None:
    kept = {"to": [{"user": "a", "password": "1"}, {"user": "b", "password": "2"}]}
    shown = mask(kept)
    assert restore(shown, kept) == kept
    with pytest.raises(MaskedError):
        restore({"to": shown["to"][::-1]}, kept)
    with pytest.raises(MaskedError):
        restore({"to": shown["to"][1:]}, kept)


def test_a_value_is_not_kept_under_a_handler_that_would_show_it() -> None:
    with pytest.raises(MaskedError):
        restore(mask({"card": "4111"}, ["card"]), {"card": "4111"}, ["iban"])


@given(VALUES)
def test_whatever_was_masked_can_be_restored(value: Any) -> None:
    with override_settings(JOBU_SENSITIVE_PARAMS=["a"]):
        assert restore(mask(value), value) == value


def test_a_text_that_was_edited_keeps_what_is_masked() -> None:
    kept = '{"handler": "emial", "params": {"password": "a"}}'
    given = mask_text(kept).replace("emial", "email")
    assert json.loads(restore_text(given, kept)) == {
        "handler": "email",
        "params": {"password": "a"},
    }


@pytest.mark.parametrize("kept", ['{"password": "a"', '{"other": "a"}', "[" * 100_000])
def test_a_text_whose_masks_stand_for_nothing_is_refused(kept: str) -> None:
    with pytest.raises(MaskedError):
        restore_text(f'{{"password": "{MASK}"}}', kept)


def test_a_text_without_masks_is_left_as_it_is() -> None:
    assert restore_text("{not json", "") == "{not json"
