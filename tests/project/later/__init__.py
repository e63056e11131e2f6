"""jobu as it may be tomorrow: its models with what a migration may add, and that migration.

The settings `tests.project.later_settings` have both; those of today have neither.
"""
