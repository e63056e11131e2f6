"""SQLite has no server that could go away."""

import os

collect_ignore = (
    ["test_outage.py"] if os.environ.get("JOBU_TEST_DATABASE", "sqlite") == "sqlite" else []
)
