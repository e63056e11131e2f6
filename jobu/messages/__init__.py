"""Messages of queue systems: each becomes one execution or one dead letter.

requeue(letter)  # makes an execution of a dead letter, now that its handler is there
discard(letter)  # puts it aside
"""

from jobu.messages.dead_letters import discard, requeue
from jobu.messages.rows import message_key

__all__ = ["discard", "message_key", "requeue"]
