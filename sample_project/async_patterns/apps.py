from django.apps import AppConfig


class AsyncPatternsConfig(AppConfig):
    name = "async_patterns"
