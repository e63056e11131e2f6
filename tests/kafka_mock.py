"""A Kafka broker to test with: librdkafka's mock cluster, in a process of its own.

`python -m tests.kafka_mock` prints the address, then obeys lines on its standard input and answers
each: `topic NAME PARTITIONS`, `broken-header TOPIC`, `down`, `up`. It ends with its standard input.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import confluent_kafka

_PRODUCER = 0
_BROKER = 1
# The arguments of rd_kafka_producev come with their kinds, which end with a zero.
_TOPIC, _VALUE, _FLAGS, _HEADERS, _END = 1, 4, 7, 10, 0
_COPY = 2


def _library() -> Any:
    """Return the librdkafka that confluent-kafka brings with it."""
    package = Path(confluent_kafka.__file__).parent
    # Where wheels keep it on Linux and on a Mac.
    folders = (package.parent / "confluent_kafka.libs", package / ".dylibs")
    [path] = (path for folder in folders for path in folder.glob("librdkafka*"))
    library = ctypes.CDLL(str(path))
    for name in ("rd_kafka_new", "rd_kafka_mock_cluster_new", "rd_kafka_headers_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


def _send_broken_header(library: Any, client: Any, topic: bytes) -> Any:
    """Send a message with a header whose name is not UTF-8, which confluent-kafka cannot send."""
    headers = ctypes.c_void_p(library.rd_kafka_headers_new(1))
    library.rd_kafka_header_add(headers, b"\xff", ctypes.c_ssize_t(-1), b"v", ctypes.c_ssize_t(1))
    body = b'{"handler_name": "echo"}'
    given: list[Any] = [_TOPIC, topic, _VALUE, body, ctypes.c_size_t(len(body))]
    given += [_FLAGS, _COPY, _HEADERS, headers, _END]
    return library.rd_kafka_producev(client, *given) or library.rd_kafka_flush(client, 10_000)


def main() -> None:
    library = _library()
    reason = ctypes.create_string_buffer(512)
    client = ctypes.c_void_p(library.rd_kafka_new(_PRODUCER, None, reason, len(reason)))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    # A real cluster waits three seconds for a group's other members; a test has no time for that.
    library.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 200)
    address = library.rd_kafka_mock_cluster_bootstraps(cluster)
    library.rd_kafka_brokers_add(client, address)
    print(address.decode(), flush=True)
    for line in sys.stdin:
        match line.split():
            case ["topic", name, partitions]:
                failed = library.rd_kafka_mock_topic_create(
                    cluster, name.encode(), int(partitions), 1
                )
            case ["broken-header", name]:
                failed = _send_broken_header(library, client, name.encode())
            case ["down"]:
                failed = library.rd_kafka_mock_broker_set_down(cluster, _BROKER)
            case ["up"]:
                failed = library.rd_kafka_mock_broker_set_up(cluster, _BROKER)
            case _:
                failed = "unknown command"
        print(failed or "done", flush=True)


if __name__ == "__main__":
    main()
