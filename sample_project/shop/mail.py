"""A mail server that is busy now and then, so that the demo has something to retry."""

import random
from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend


class UnreliableBackend(EmailBackend):
    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        if random.random() < 0.3:
            raise ConnectionRefusedError("the mail server is busy")
        return super().send_messages(messages) or 0
