"""The settings of jobu: name, type, default and meaning of each, looked up when they are used.

`settings.LEASE_SECONDS` is the project's `JOBU_LEASE_SECONDS`, or the default written here.
"""

from __future__ import annotations

from typing import Any, cast, get_type_hints

from django.conf import settings as django_settings
from django.core.signals import setting_changed

PREFIX = "JOBU_"

SUPERVISOR_VARIABLE = "JOBU_SUPERVISOR_PID"
"""The environment variable by which a supervisor tells its children its process id."""


class Settings:
    DATABASE: str = "default"
    """Alias of the database that holds jobu's tables."""

    WORKER_POOL_SIZE: int = 5
    """How many jobs one worker process runs at the same time."""

    WORKER_POLL_INTERVAL_SECONDS: float = 1.0
    """How soon a worker that found nothing looks again; doubles while it stays idle."""

    WORKER_MAX_POLL_INTERVAL_SECONDS: float = 10.0
    """How far the doubling goes."""

    WORKER_CLAIM_BATCH_SIZE: int = 500
    """How many executions one transaction claims at most."""

    WORKER_SHUTDOWN_TIMEOUT_SECONDS: float = 30
    """How long a stopping worker waits for the jobs it runs before it gives them back."""

    DISPATCHER_POLL_INTERVAL_SECONDS: float = 10
    """How often a dispatcher looks for cron jobs that were edited."""

    DISPATCHER_MAX_SLEEP_SECONDS: float = 60
    """How long a dispatcher sleeps at most, whatever it is waiting for."""

    DISPATCHER_MIN_CRON_INTERVAL_SECONDS: float = 60
    """How close two ticks of one cron job may come; a denser expression is refused."""

    NOTIFY: bool = True
    """Whether PostgreSQL notifies idle processes; takes effect with the next `migrate`."""

    HEARTBEAT_INTERVAL_SECONDS: float = 5
    """How often a process says that it is alive."""

    LEASE_SECONDS: float = 30
    """How long after its last heartbeat a process counts as dead and its jobs are rescued."""

    MAX_RETRY: int = 3
    """How often an execution runs at most, if its handler does not say; 0 and 1 mean once."""

    TIMEOUT_SECONDS: int = 3600
    """How long one run may take, if its handler does not say."""

    BACKOFF_BASE_SECONDS: float = 1
    """Upper bound of the delay before the first retry; doubles with each further one."""

    BACKOFF_MAX_SECONDS: float = 3600
    """How far that doubling goes."""

    BACKOFF_JITTER: bool = True
    """Whether a delay is drawn between zero and that bound; if not, it is the bound: 1, 2, 4, …"""

    VALIDATE_ON_ENQUEUE: bool = True
    """Whether enqueueing checks that the params fit the handler, as each run does."""

    MAX_PARAMS_BYTES: int = 1024 * 1024
    """How large the params of an execution may be, as JSON."""

    QUEUE_DISPATCHER_ADAPTER: str = "jobu.adapters.kafka.KafkaAdapter"
    """Dotted path of the adapter that a queue dispatcher receives from."""

    QUEUE_DISPATCHER_BATCH_SIZE: int = 1000
    """How many messages one transaction stores at most."""

    QUEUE_DISPATCHER_MAX_PENDING: int | None = None
    """How many claimable executions make a queue dispatcher pause; None means never."""

    QUEUE_DISPATCHER_MAX_MESSAGE_BYTES: int = 1024 * 1024
    """How large a message may be: body, key and headers. A larger one becomes a dead letter."""

    EVENT_HANDLERS: str = "declared"
    """Which handlers messages may start: those "declared" with `events=True`, or "all"."""

    EVENT_QUEUES: list[str] = []  # noqa: RUF012 - never changed in place
    """Queues that messages may ask for, besides their handler's or cron job's own."""

    EVENT_PRIORITIES: list[int] = []  # noqa: RUF012
    """Priorities that messages may ask for, besides their handler's or cron job's own."""

    KAFKA_BOOTSTRAP_SERVERS: str = "localhost:9092"
    """Where the Kafka cluster is: host:port, several separated by commas."""

    KAFKA_GROUP_ID: str = "jobu-queue-dispatcher"
    """Consumer group that the queue dispatchers of one project share."""

    KAFKA_TOPIC: str | list[str] = "jobu-events"
    """Topic to receive from, or several; messages are published to the first."""

    KAFKA_OPTIONS: dict[str, Any] = {}  # noqa: RUF012 - never changed in place
    """Handed to librdkafka as they are: SASL, TLS, anything. They win over what jobu sets."""

    REDIS_URL: str = "redis://localhost:6379/0"
    """Where Redis is, for the adapter to its streams."""

    REDIS_GROUP: str = "jobu-queue-dispatcher"
    """Consumer group that the queue dispatchers of one project share."""

    REDIS_STREAM: str | list[str] = "jobu-events"
    """Stream to receive from, or several; messages are published to the first."""

    REDIS_CLAIM_IDLE_SECONDS: float = 60
    """How long a dead dispatcher's entries wait before another one takes them over."""

    RETENTION_DAYS: int | None = 30
    """How long finished executions are kept; None keeps them for ever."""

    DEAD_LETTER_RETENTION_DAYS: int | None = 90
    """How long open dead letters are kept; None keeps them until they are requeued or discarded."""

    API_HEALTH_OPEN: bool = True
    """Whether /health and /ready of the HTTP API answer callers without a token."""

    READY_FAILS_ON: list[str] = ["worker", "dispatcher"]  # noqa: RUF012 - never changed in place
    """What makes /ready of the HTTP API fail, of worker, dispatcher, queue and cron."""

    ALERTS: dict[str, Any] = {}  # noqa: RUF012 - never changed in place
    """Whom to tell of dead executions and the like, and when; empty tells nobody."""

    RUN_LOG_LEVEL: str | None = "INFO"
    """From which level on the log lines of a run are kept with it; None keeps none."""

    SENSITIVE_PARAMS: list[str] = [  # noqa: RUF012 - never changed in place
        "pass",
        "*_pass",
        "*passwd*",
        "*password*",
        "*passphrase*",
        "*secret*",
        "*token*",
        "*apikey*",
        "*api_key*",
        "*access_key*",
        "*private_key*",
        "*credential*",
        "auth",
        "*_auth",
        "*authorization*",
        "*cookie*",
        "*signature*",
    ]
    """Names of params whose values are masked wherever they would be shown; * is any text."""


class _Lookup:
    """Keeps what was looked up: `enqueue` asks for several, and Django takes a while to answer.

    `setting_changed`, which `override_settings` sends, makes it forget.
    """

    def __getattr__(self, name: str) -> Any:
        value = default = getattr(Settings, name)
        if name.isupper():
            value = self.__dict__[name] = getattr(django_settings, PREFIX + name, default)
        return value

    def forget(self, setting: str, **_: Any) -> None:
        self.__dict__.pop(setting.removeprefix(PREFIX), None)


settings = cast("Settings", _lookup := _Lookup())
setting_changed.connect(_lookup.forget)
setting_types: dict[str, Any] = get_type_hints(Settings)
