from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "tests.project.shop"
    default_auto_field = "django.db.models.BigAutoField"
