"""How many messages a second get from a topic into PENDING rows: `python -m benchmarks.kafka`.

Measured on every database that answers, each in a process of its own, with Kafka as the tests have
it: librdkafka's mock cluster, or the one that JOBU_TEST_KAFKA_BOOTSTRAP_SERVERS names. The ratio is
to `enqueue_many` of as many executions with the same params, on the same database.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.kafka import Kafka

UNUSABLE = 3
DATABASES = {"sqlite": "SQLite", "postgres": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL"}


@dataclass(frozen=True)
class KafkaRates:
    """Messages and executions per second: the medians of all rounds."""

    from_topic: float
    enqueued: float

    @property
    def ratio(self) -> float:
        return self.from_topic / self.enqueued


def measure(messages: int, rounds: int) -> KafkaRates:
    """Measure on the database that Django is set up with; its tables are there."""
    from tests import kafka

    started = kafka.start()
    try:
        received = [_receive(started, messages) for _ in range(rounds)]
    finally:
        started.close()
    enqueued = [_enqueue(messages) for _ in range(rounds)]
    return KafkaRates(
        messages / statistics.median(received), messages / statistics.median(enqueued)
    )


def _receive(kafka: Kafka, messages: int) -> float:
    """Return the seconds it took a dispatcher to store what was in the topic."""
    from django.test import override_settings

    from jobu import QueueDispatcher, QueueMessage
    from jobu.adapters.kafka import KafkaAdapter
    from jobu.models import JobExecution
    from tests.kafka import Topic

    class Counting(KafkaAdapter):
        completed = 0

        def complete(self, messages: Sequence[QueueMessage]) -> None:
            super().complete(messages)
            self.completed += len(messages)

    JobExecution.objects.all().delete()
    topic = Topic(kafka)
    with override_settings(**topic.settings):
        adapter = Counting()
        dispatcher = QueueDispatcher(adapter=adapter)
        dispatcher.begin()
        # It joins its group with a first message, which is not counted.
        topic.send([_body(0)])
        while not adapter.completed:
            dispatcher.poll()
        adapter.keep_alive()
        topic.send(_body(number) for number in range(messages))
        begin = time.perf_counter()
        while adapter.completed <= messages:
            dispatcher.poll()
        seconds = time.perf_counter() - begin
        dispatcher.finish()
    topic.drop()
    _check_count(messages + 1)
    return seconds


def _enqueue(executions: int) -> float:
    """Return the seconds it took to enqueue as many in bulk."""
    from jobu import enqueue_many
    from jobu.models import JobExecution

    JobExecution.objects.all().delete()
    begin = time.perf_counter()
    enqueue_many("noop", ({"number": number} for number in range(executions)))
    seconds = time.perf_counter() - begin
    _check_count(executions)
    return seconds


def _body(number: int) -> bytes:
    return b'{"handler_name": "noop", "params": {"number": %d}}' % number


def _check_count(expected: int) -> None:
    from jobu.models import JobExecution

    count = JobExecution.objects.pending().count()
    if count != expected:
        raise SystemExit(f"{count} of {expected} executions are there")


def main() -> int:
    arguments = _parse()
    if arguments.database:
        return _measure_here(arguments)
    from tests import kafka

    print(
        f"{arguments.messages:,} messages from {kafka.describe()}, "
        f"median of {arguments.rounds} rounds"
    )
    print(f"{'':16}{'topic → PENDING':>18}{'enqueue_many':>16}{'ratio':>8}")
    for database, title in DATABASES.items():
        rates = _measure_in_process(database, arguments)
        if rates is None:
            print(f"{title:16}left out: it cannot be used here; see JOBU_TEST_*", flush=True)
            continue
        print(
            f"{title:16}{rates.from_topic:>16,.0f}/s{rates.enqueued:>14,.0f}/s{rates.ratio:>8.2f}",
            flush=True,
        )
    return 0


def _measure_here(arguments: argparse.Namespace) -> int:
    """Measure in a database that is made for it, and print the rates as JSON."""
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError, connection

    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    try:
        django.setup()
        name = connection.settings_dict["NAME"]
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
    except (ImproperlyConfigured, OperationalError) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    try:
        print(json.dumps(asdict(measure(arguments.messages, arguments.rounds))))
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    return 0


def _measure_in_process(database: str, arguments: argparse.Namespace) -> KafkaRates | None:
    """Return the rates, or None if the database does not answer or lacks its driver."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.kafka", "--database", database),
            *("--messages", str(arguments.messages), "--rounds", str(arguments.rounds)),
        ],
        env={
            **os.environ,
            "JOBU_TEST_DATABASE": database,
            "JOBU_TEST_RUN": f"bench_kafka_{os.getpid()}",
        },
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode == UNUSABLE:
        return None
    done.check_returncode()
    return KafkaRates(**json.loads(done.stdout))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kafka", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="(default: 20000)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    parser.add_argument("--database", choices=DATABASES, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
