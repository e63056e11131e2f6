from django.apps import AppConfig


class LaterConfig(AppConfig):
    name = "tests.project.later"
    default_auto_field = "django.db.models.BigAutoField"
