"""What jobu's consumers and producers of Kafka have in common."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from jobu.conf import settings
from jobu.installed import install_command

logger = logging.getLogger("jobu.kafka")


def kafka_library() -> Any:
    try:
        import confluent_kafka
    except ImportError as error:
        raise ImproperlyConfigured(
            f"The Kafka adapter needs confluent-kafka: {install_command('kafka')}"
        ) from error
    return confluent_kafka


def make_client(kafka: Any, client_class: Any, options: dict[str, Any]) -> Any:
    """Make a consumer or producer with these options; those of the project win."""
    common = {
        "bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS,
        "client.id": "jobu",
        # Its own lines come many times a second in an outage; jobu's one a minute says it all.
        "log_level": 2,
    }
    try:
        return client_class({**common, **options, **settings.KAFKA_OPTIONS}, logger=logger)
    except (kafka.KafkaException, TypeError, ValueError) as error:
        raise ImproperlyConfigured(f"Kafka refuses JOBU_KAFKA_OPTIONS: {error}") from error
