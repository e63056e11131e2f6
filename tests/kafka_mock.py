"""A Kafka broker to test with: librdkafka's mock cluster, in a process of its own.

`python -m tests.kafka_mock` prints the address, then obeys lines on its standard input and answers
each: `topic NAME PARTITIONS`, `down`, `up`. It ends with its standard input.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import confluent_kafka

_PRODUCER = 0
_BROKER = 1


def _library() -> Any:
    """Return the librdkafka that confluent-kafka brings with it."""
    package = Path(confluent_kafka.__file__).parent
    # Where wheels keep it on Linux and on a Mac.
    folders = (package.parent / "confluent_kafka.libs", package / ".dylibs")
    [path] = (path for folder in folders for path in folder.glob("librdkafka*"))
    library = ctypes.CDLL(str(path))
    for name in ("rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


def main() -> None:
    library = _library()
    reason = ctypes.create_string_buffer(512)
    client = ctypes.c_void_p(library.rd_kafka_new(_PRODUCER, None, reason, len(reason)))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    # A real cluster waits three seconds for a group's other members; a test has no time for that.
    library.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 200)
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    for line in sys.stdin:
        match line.split():
            case ["topic", name, partitions]:
                failed = library.rd_kafka_mock_topic_create(
                    cluster, name.encode(), int(partitions), 1
                )
            case ["down"]:
                failed = library.rd_kafka_mock_broker_set_down(cluster, _BROKER)
            case ["up"]:
                failed = library.rd_kafka_mock_broker_set_up(cluster, _BROKER)
            case _:
                failed = "unknown command"
        print(failed or "done", flush=True)


if __name__ == "__main__":
    main()
