"""Each scenario has its own servers: the quick ones run once, with the database that they break."""

import os

QUICK = {
    "postgres": ["postgres-asynchronous-fail-over", "pgbouncer-restarted"],
    "mariadb": ["mariadb-clocks"],
}
SCENARIOS_HERE = QUICK.get(os.environ.get("JOBU_TEST_DATABASE", "sqlite"), [])
collect_ignore = [] if SCENARIOS_HERE else ["test_scenarios.py"]
