from django.apps import AppConfig


class MultiDbConfig(AppConfig):
    name = "multi_db"
