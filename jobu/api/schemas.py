"""What requests and answers look like."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from uuid import UUID

from django.utils import translation
from ninja import Schema
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationInfo,
    model_validator,
)

from jobu.api.auth import sees_secrets
from jobu.api.values import (
    MAX_ID,
    Count,
    Moment,
    Name,
    Priority,
    QueueName,
    Seconds,
    Text,
    ZoneName,
)
from jobu.conf import settings
from jobu.dialects import database_time
from jobu.handlers.registry import handlers
from jobu.masking import mask
from jobu.models import JobExecution
from jobu.models.cron_job import Misfire
from jobu.models.job_execution import ParamSource
from jobu.models.process import ProcessKind
from jobu.outcomes import Status
from jobu.reading import Waits

T = TypeVar("T")

# The default of fields that must not be null. Nobody reads it, and the document does not show it.
_LEFT_OUT: Any = None


def shown(info: ValidationInfo, value: Any, handler_name: str) -> Any:
    """Return params or a result of the handler, masked if this caller may not see secrets."""
    if sees_secrets((info.context or {})["request"]):
        return value
    return mask(value, handlers.sensitive_of(handler_name))


class Request(BaseModel):
    """A body; a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


class CronChange(Request):
    """The fields of a cron job to change; the others stay as they are."""

    name: Name = _LEFT_OUT
    description: Text = _LEFT_OUT
    cron_expression: Name = Field(_LEFT_OUT, examples=["30 6 * * mon-fri"])
    timezone: ZoneName = _LEFT_OUT
    handler_name: Name = _LEFT_OUT
    handler_params: dict[str, Any] = _LEFT_OUT
    is_enabled: StrictBool = _LEFT_OUT
    allow_overlap: StrictBool = _LEFT_OUT
    max_retry: Count = _LEFT_OUT
    timeout_seconds: Seconds = _LEFT_OUT
    priority: Priority = _LEFT_OUT
    queue: QueueName = _LEFT_OUT
    misfire: Misfire = _LEFT_OUT
    misfire_window_seconds: Count = _LEFT_OUT
    jitter_seconds: Count = _LEFT_OUT
    pause_after_failures: Count = _LEFT_OUT
    starts_at: Moment | None = None
    ends_at: Moment | None = None


class NewCron(CronChange):
    """A cron job to create; queue, priority, max_retry and timeout_seconds are the handler's
    unless they are given, other fields get the same defaults as in the admin."""

    name: Name
    cron_expression: Name = Field(examples=["30 6 * * mon-fri"])
    handler_name: Name


class Toggle(Request):
    is_enabled: StrictBool


class Run(Request):
    params: dict[str, Any] = Field({}, description="These win over the cron job's own params.")


class NewJob(Request):
    """An execution to enqueue; options that are left out are the handler's."""

    handler_name: Name
    params: dict[str, Any] = {}
    queue: QueueName | None = None
    priority: Priority | None = None
    available_at: Moment | None = Field(None, description="Not claimed before.")
    max_retry: Count | None = None
    timeout_seconds: Seconds | None = None
    dedupe_key: Text | None = Field(
        None,
        min_length=1,
        max_length=255,
        description="If an execution of the handler has this key already, that is the answer.",
    )


class RetryMany(Request):
    """What to retry: executions that match all that is given."""

    status: Literal["FAILED", "TIMEOUT", "CANCELLED", "DEAD"] | None = None
    handler_name: Annotated[Text, Field(max_length=200)] | None = None
    queue: Annotated[Text, Field(max_length=100)] | None = None
    cron_id: Annotated[StrictInt, Field(ge=1, le=MAX_ID)] | None = None
    created_from: Moment | None = Field(None, alias="from", description="Created then or later.")
    created_to: Moment | None = Field(None, alias="to", description="Created then or before.")
    cursor: str | None = Field(
        None, pattern=r"^\d{1,18}-\d{1,18}$", description="`next` of the answer before."
    )

    def cursor_ends(self) -> tuple[int, int | None]:
        """Return the id to go on after, and the last one; at first, that is not known."""
        if self.cursor is None:
            return 0, None
        after, _, until = self.cursor.partition("-")
        return int(after), int(until)


class Retried(Schema):
    retried: int = Field(description="How many this request has put back into the queue.")
    next: str | None = Field(description="The `cursor` to go on with; null if all are done.")


class LogLine(Schema):
    attempt: int
    logged_at: datetime
    level: str = Field(validation_alias="level_name")
    logger: str
    message: str


class Cron(Schema):
    id: int
    name: str
    cron_expression: str
    timezone: str
    handler_name: str
    is_enabled: bool
    allow_overlap: bool
    max_retry: int
    timeout_seconds: int
    priority: int
    queue: str
    misfire: Misfire
    misfire_window_seconds: int
    jitter_seconds: int
    pause_after_failures: int
    starts_at: datetime | None
    ends_at: datetime | None
    next_run_at: datetime | None = Field(description="Planned by a dispatcher.")
    last_run_at: datetime | None
    problem: str = Field(description="Why it is not dispatched, if it is not.")
    created_at: datetime
    updated_at: datetime


class CronDetail(Cron):
    description: str
    handler_params: Any

    @model_validator(mode="after")
    def _mask(self, info: ValidationInfo) -> Self:
        self.handler_params = shown(info, self.handler_params, self.handler_name)
        return self


class Job(Schema):
    id: int
    cron_id: int | None = Field(validation_alias="job_id")
    handler_name: str
    status: Status
    queue: str
    priority: int
    param_source: ParamSource
    scheduled_time: datetime | None = Field(description="The tick it is for, if it is for one.")
    available_at: datetime
    retry_count: int
    max_retry: int
    timeout_seconds: int
    attempt: int
    claimed_by: UUID | None = Field(description="The process that ran it last.")
    cancel_requested: bool
    progress: Any
    error_message: str
    dedupe_key: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Reason(Schema):
    code: str
    message: str = Field(validation_alias="text")
    is_stuck: bool = Field(description="It waits until somebody acts.")


class JobDetail(Job):
    params: Any
    result: Any
    errors: list[Any] = Field(description="Every failed attempt, with its traceback.")

    @model_validator(mode="after")
    def _mask(self, info: ValidationInfo) -> Self:
        self.params = shown(info, self.params, self.handler_name)
        self.result = shown(info, self.result, self.handler_name)
        return self


class JobExplained(JobDetail):
    """Only for whoever asks for one job: to find out why it waits takes some statements."""

    waits_for: list[Reason] = Field(
        description="Why it is not run yet, the most important first; empty if it does not wait."
    )

    @staticmethod
    def resolve_waits_for(execution: JobExecution) -> list[Any]:
        if execution.is_finished:
            return []
        # Read by programs: not in a reader's language.
        with translation.override(None):
            return Waits().reasons(execution, database_time(settings.DATABASE))


class Process(Schema):
    id: UUID
    kind: ProcessKind
    host: str
    pid: int
    queues: list[str] = Field(description="Empty means every queue.")
    slots: int
    running: int = Field(description="How many executions it holds.")
    longest_seconds: float | None = Field(description="For how long the oldest of them runs.")
    beat_seconds: float = Field(description="How long ago it beat last.")
    started_at: datetime
    is_stopping: bool
    is_stale: bool = Field(description="It did not beat within the lease, and counts as dead.")


class Page(Schema, Generic[T]):
    items: list[T]
    next: str | None = Field(
        description="The `cursor` of the next page. A page may be short, or empty, and still have "
        "a next one: only null is the end."
    )


class Processes(Schema):
    items: list[Process]


class Problem(Schema):
    code: str
    message: str
    fields: dict[str, list[str]] = Field(description="What is wrong with each, by its name.")


class Error(Schema):
    error: Problem


class Health(Schema):
    status: str


class Ready(Health):
    warnings: dict[str, list[str]] = Field(
        description="What is missing, but not in `JOBU_READY_FAILS_ON`."
    )
