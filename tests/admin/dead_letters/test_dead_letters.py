"""Dead letters: why, requeue as it came or edited, discard."""

from __future__ import annotations

import pytest
from django.test import Client

from jobu.models import DeadLetter, JobExecution
from tests.admin.pages import history, list_of, page_of, staff, told
from tests.builders import dead_letter

pytestmark = pytest.mark.django_db

GOOD = b'{"handler_name": "echo", "params": {"a": 1}}'


def shown(client: Client, **query: str) -> list[int]:
    page = client.get(list_of(DeadLetter, **query))
    return [each.pk for each in page.context["cl"].result_list]


def test_the_list_shows_the_open_ones_and_why(admin_client: Client) -> None:
    waiting, requeued = dead_letter(), dead_letter(GOOD)
    admin_client.post(page_of(requeued), {"body": GOOD.decode()})
    page = admin_client.get(list_of(DeadLetter)).text
    assert "No handler is named &#x27;ecco&#x27;." in page
    assert list_of(JobExecution, status="dead") in page
    assert shown(admin_client) == [waiting.pk]
    assert shown(admin_client, state="requeued") == [requeued.pk]
    assert shown(admin_client, state="discarded") == []
    assert len(shown(admin_client, state="all")) == 2


def test_a_dead_letter_is_requeued_edited(admin_client: Client) -> None:
    dead = dead_letter()
    assert "ecco" in admin_client.get(page_of(dead)).text
    page = admin_client.post(page_of(dead), {"body": '{"handler_name": "nope"}'})
    assert "No handler is named &#x27;nope&#x27;" in page.text
    assert not JobExecution.objects.exists()
    page = admin_client.post(page_of(dead), {"body": GOOD.decode()}, follow=True)
    execution = JobExecution.objects.get()
    assert page.redirect_chain == [(page_of(execution), 302)]
    assert execution.params == {"a": 1}
    assert history() == [("admin", str(dead.pk), f"Requeued as execution #{execution.pk}.")]
    assert page_of(execution) in admin_client.get(page_of(dead)).text
    page = admin_client.post(page_of(dead), {"body": GOOD.decode()})
    assert JobExecution.objects.count() == 1


def test_what_nobody_touched_goes_as_it_came(admin_client: Client) -> None:
    dead = dead_letter(b'{"handler_name":\r\n "echo"}')
    page = admin_client.post(page_of(dead), {"body": '{"handler_name":\r\n "echo"}'})
    assert page.status_code == 302
    assert JobExecution.objects.get().handler_name == "echo"


def test_a_message_that_is_no_text_can_be_looked_at_and_replaced(admin_client: Client) -> None:
    dead = dead_letter(b"\xff\xfe<script>", key=b"\xff", headers=[["<b>", "<i>"]])
    page = admin_client.get(page_of(dead)).text
    assert "\\xff\\xfe&lt;script&gt;" in page
    assert "<script>" not in page.split("</head>")[1].replace("<script src=", "").replace(
        "<script id", ""
    )
    assert admin_client.post(page_of(dead), {"body": GOOD.decode()}).status_code == 302


def test_one_is_discarded(admin_client: Client) -> None:
    dead = dead_letter()
    address = page_of(dead, "discard")
    assert address in admin_client.get(page_of(dead)).text
    assert admin_client.get(address).status_code == 405
    page = admin_client.post(address, follow=True)
    assert told(page) == ["1 message was discarded."]
    assert shown(admin_client) == []
    assert shown(admin_client, state="discarded") == [dead.pk]
    assert history() == [("admin", str(dead.pk), "Discarded.")]


def test_several_are_requeued_and_the_problems_of_the_others_told(admin_client: Client) -> None:
    letters = [dead_letter(GOOD), dead_letter(GOOD), *(dead_letter() for _ in range(7))]
    form = {"action": "requeue_selected", "_selected_action": [each.pk for each in letters]}
    page = admin_client.post(list_of(DeadLetter), form, follow=True)
    messages = told(page)
    assert messages[0] == "2 messages were requeued."
    assert messages[-1] == "And 2 more."
    assert len(messages) == 7
    assert "ecco" in messages[1]
    assert len(history()) == 2


def test_several_are_discarded(admin_client: Client) -> None:
    letters = [dead_letter(), dead_letter()]
    form = {"action": "discard_selected", "_selected_action": [each.pk for each in letters]}
    page = admin_client.post(list_of(DeadLetter), form, follow=True)
    assert told(page) == ["2 messages were discarded."]


def test_requeue_and_discard_have_their_permissions() -> None:
    dead = dead_letter(GOOD)
    reader = staff("view_deadletter")
    page = reader.get(page_of(dead)).text
    assert "Requeue" not in page
    assert page_of(dead, "discard") not in page
    assert "requeue_selected" not in reader.get(list_of(DeadLetter)).text
    assert reader.post(page_of(dead), {"body": "{}"}).status_code == 403
    assert reader.post(page_of(dead, "discard")).status_code == 403
    assert reader.get(page_of(dead, "delete")).status_code == 403
    assert (
        staff("view_deadletter", "delete_deadletter").post(page_of(dead, "discard")).status_code
        == 302
    )
    friend = staff("view_deadletter", "change_deadletter")
    assert friend.post(page_of(dead), {"body": GOOD.decode()}).status_code == 302


def test_who_may_not_publish_requeues_a_message_only_as_it_came() -> None:
    dead, binary = dead_letter(GOOD), dead_letter(b"\xff")
    friend = staff("view_deadletter", "change_deadletter")
    assert "to edit it takes the right to publish messages" in friend.get(page_of(dead)).text
    edited = {"body": '{"handler_name": "echo", "params": {"amount": 1000000}}'}
    for each in (dead, binary):
        assert friend.post(page_of(each), edited).status_code == 403
    assert not JobExecution.objects.exists()
    assert 'type="submit" class="default"' not in friend.get(page_of(binary)).text
    assert friend.post(page_of(dead), {"body": GOOD.decode()}).status_code == 302
    assert JobExecution.objects.get().params == {"a": 1}
    publisher = staff("view_deadletter", "change_deadletter", "publish_message")
    assert publisher.post(page_of(binary), edited).status_code == 302
