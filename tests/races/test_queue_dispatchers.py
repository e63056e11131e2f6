"""Two queue dispatchers, killed, cut off and fed with rubbish; with real processes."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobu.models import DeadLetter, JobExecution, Process
from tests.hostile_bodies import hostile_bodies, huge_bodies
from tests.kafka import Kafka, MockKafka, Topic
from tests.redis_stream import PrivateRedis, RedisStream
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

MESSAGES = 20_000
KILLS = 3


@pytest.fixture
def topic(kafka: Kafka) -> Iterator[Topic]:
    made = Topic(kafka)
    yield made
    made.drop()


def numbered(numbers: range) -> Iterator[bytes]:
    return (b'{"handler_name": "echo", "params": {"n": %d}}' % number for number in numbers)


def start(workers: WorkerProcesses, topic: Topic, *options: str) -> WorkerProcess:
    return workers.start_command("runqueuedispatcher", *options, **topic.environment)


def wait_for_all(workers: WorkerProcesses, topic: Topic, count: int) -> None:
    """Wait until every message is committed, and so none can come again."""
    executions = JobExecution.objects
    wait_until(
        lambda: executions.count() >= count,
        f"{count} executions",
        lambda: f"{executions.count()} are there.\n{workers.logs()}",
    )
    wait_until(lambda: topic.lag() == 0, "all to be committed", workers.logs)


def assert_each_once(count: int) -> None:
    numbers = [params["n"] for params in JobExecution.objects.values_list("params", flat=True)]
    assert sorted(numbers) == list(range(count))
    assert not DeadLetter.objects.exists()


@pytest.mark.timeout(240)
def test_killed_and_restarted_dispatchers_make_each_of_twenty_thousand_messages_once(
    workers: WorkerProcesses, topic: Topic
) -> None:
    topic.send(numbered(range(MESSAGES // 2)))
    dispatchers = [start(workers, topic, "--batch-size", "100") for _ in range(2)]
    share = MESSAGES // 2 // KILLS
    for number in range(KILLS):
        # Some before and some after the first half has come, at no particular moment.
        moment = (2 * number) * share + random.randrange(1, share)
        wait_until(
            lambda moment=moment: JobExecution.objects.count() > moment, "more", workers.logs
        )
        victim = random.choice(dispatchers)
        victim.kill()
        dispatchers.remove(victim)
        dispatchers.append(start(workers, topic, "--batch-size", "100"))
        if number == 1:
            topic.send(numbered(range(MESSAGES // 2, MESSAGES)))
    wait_for_all(workers, topic, MESSAGES)
    assert_each_once(MESSAGES)


def test_messages_that_are_stored_already_create_nothing_when_offsets_are_rewound(
    workers: WorkerProcesses, topic: Topic
) -> None:
    topic.send([*numbered(range(500)), b"rubbish"])
    for _ in range(2):
        dispatcher = start(workers, topic, "--drain", "--idle-timeout", "1")
        assert dispatcher.wait(60) == 0, dispatcher.log
        assert topic.lag() == 0
        assert JobExecution.objects.count() == 500
        assert DeadLetter.objects.get().body == b"rubbish"
        topic.rewind()
        assert topic.lag() == 501
    assert not Process.objects.exists()


def test_a_stopped_broker_loses_and_repeats_nothing(workers: WorkerProcesses) -> None:
    broker = MockKafka()
    try:
        topic = Topic(broker)
        topic.send(numbered(range(3000)))
        dispatchers = [start(workers, topic, "--batch-size", "20") for _ in range(2)]
        wait_until(lambda: JobExecution.objects.count() > 500, "some", workers.logs)
        broker.stop()
        for dispatcher in dispatchers:
            dispatcher.wait_for_log("cannot use its queue system")
        late = start(workers, topic)
        late.wait_for_log("cannot use its queue system")
        broker.start()
        topic.send(numbered(range(3000, 4000)))
        wait_for_all(workers, topic, 4000)
        for dispatcher in [*dispatchers, late]:
            dispatcher.wait_for_log("can use its queue system again")
            assert dispatcher.log.count("cannot use its queue system") == 1
            dispatcher.send(signal.SIGTERM)
            assert dispatcher.wait() == 0, dispatcher.log
        assert_each_once(4000)
    finally:
        broker.close()


@pytest.mark.timeout(240)
def test_hostile_messages_become_dead_letters_and_good_ones_executions(
    workers: WorkerProcesses, kafka: Kafka, topic: Topic
) -> None:
    bad = list(hostile_bodies(10_000))
    bodies = [*bad, *numbered(range(1000))]
    random.shuffle(bodies)
    # Apart: the mock cluster keeps no more than five megabytes of a partition.
    huge, huge_topic = list(huge_bodies()), Topic(kafka, group=topic.group)
    environment = {**topic.environment, "JOBU_KAFKA_TOPIC": f"{topic.name},{huge_topic.name}"}
    dispatcher = workers.start_command("runqueuedispatcher", "--verbosity", "0", **environment)
    huge_topic.send(huge)
    topic.send(bodies)
    wait_for_all(workers, topic, 1000)
    wait_until(lambda: huge_topic.lag() == 0, "the huge ones to be stored", workers.logs)
    huge_topic.drop()
    assert sorted(JobExecution.objects.values_list("params__n", flat=True)) == list(range(1000))
    letters = DeadLetter.objects.open()
    assert letters.count() == len(bad) + len(huge)
    assert not letters.filter(reason="").exists()
    kept = sorted(bytes(body) for body in letters.values_list("body", flat=True))
    assert kept == sorted([*bad, *huge])
    if Path("/proc").exists():
        assert peak_megabytes(dispatcher) < 250
    dispatcher.send(signal.SIGTERM)
    assert dispatcher.wait() == 0, dispatcher.log


def peak_megabytes(process: WorkerProcess) -> float:
    status = Path(f"/proc/{process.popen.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def test_a_dispatcher_stops_at_a_signal_and_leaves_its_group(
    workers: WorkerProcesses, topic: Topic
) -> None:
    dispatcher = start(workers, topic)
    wait_until(lambda: Process.objects.filter(kind="queue-dispatcher").exists(), "it", workers.logs)
    topic.send(numbered(range(10)))
    wait_for_all(workers, topic, 10)
    dispatcher.send(signal.SIGTERM)
    assert dispatcher.wait() == 0, dispatcher.log
    assert not Process.objects.exists()
    topic.rewind()


def test_a_configuration_that_no_waiting_can_mend_ends_the_process(
    workers: WorkerProcesses, topic: Topic
) -> None:
    options = json.dumps({"no.such.option": "1"})
    environment = {**topic.environment, "JOBU_KAFKA_OPTIONS": options}
    dispatcher = workers.start_command("runqueuedispatcher", **environment)
    assert dispatcher.wait() == 1, dispatcher.log
    assert "no.such.option" in dispatcher.log


def test_a_killed_dispatchers_redis_entries_are_taken_over_and_none_is_made_twice(
    workers: WorkerProcesses, redis_stream: RedisStream
) -> None:
    redis_stream.send(numbered(range(3000)))
    first, second = (
        workers.start_command(
            "runqueuedispatcher", "--batch-size", "100", **redis_stream.environment
        )
        for _ in range(2)
    )
    wait_until(lambda: JobExecution.objects.count() > 500, "some", workers.logs)
    first.kill()
    wait_until(lambda: JobExecution.objects.count() >= 3000, "all", workers.logs)
    wait_until(lambda: redis_stream.pending() == 0, "all to be completed", workers.logs)
    assert_each_once(3000)
    second.send(signal.SIGTERM)
    assert second.wait() == 0, second.log


def test_a_stopped_redis_server_loses_and_repeats_nothing(
    workers: WorkerProcesses, tmp_path: Path
) -> None:
    server = PrivateRedis(tmp_path)
    server.start()
    try:
        stream = RedisStream(server.url)
        stream.send(numbered(range(2000)))
        dispatcher = workers.start_command(
            "runqueuedispatcher", "--batch-size", "20", **stream.environment
        )
        wait_until(lambda: JobExecution.objects.count() > 200, "some", workers.logs)
        server.stop()
        dispatcher.wait_for_log("cannot use its queue system")
        server.start()
        wait_until(lambda: JobExecution.objects.count() >= 2000, "all", workers.logs)
        wait_until(lambda: stream.pending() == 0, "all to be completed", workers.logs)
        assert_each_once(2000)
        assert "can use its queue system again" in dispatcher.log
    finally:
        server.stop()
