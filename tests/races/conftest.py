"""SQLite has no server that could go away."""

import os

collect_ignore = (
    ["test_network.py", "test_outage.py", "test_stall.py"]
    if os.environ.get("JOBU_TEST_DATABASE", "sqlite") == "sqlite"
    else []
)
