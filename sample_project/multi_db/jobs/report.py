"""Read from every database that is configured."""

from basic.models import Item
from config.databases import VARIABLES, configured
from jobu import handler, transactional_readonly
from multi_db.models import Customer


@handler("multi_db_report", timeout_seconds=60, events=True)
def multi_db_report() -> dict[str, object]:
    """Count in one read-only transaction on each; the missing ones are named."""
    aliases = configured()
    with transactional_readonly(*aliases):
        counts = {
            alias: {
                "customers": Customer.objects.using(alias).count(),
                "items": Item.objects.using(alias).count(),
            }
            for alias in aliases
        }
    return {"counts": counts, "not configured": sorted(VARIABLES.keys() - aliases)}
