"""Help for the tests of projects that use jobu: run jobs in the test itself, without a worker.

enqueue("email", {"to": "a@example.com"})
assert [e.status for e in run_pending()] == ["SUCCESS"]
"""

from jobu.testing.adapters import QueueAdapterConformance
from jobu.testing.jobs import immediate, run_pending

__all__ = ["QueueAdapterConformance", "immediate", "run_pending"]
