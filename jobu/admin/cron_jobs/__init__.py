"""The screen of cron jobs: the list, the form, run now, backfill."""
