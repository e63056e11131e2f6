"""Write a dump of the schema as the newest migration leaves it, for the database in use.

    JOBU_TEST_DATABASE=postgres python -m tests.migrations

It makes an empty database, migrates jobu in it, and writes the statements that this sends to
`tests/migrations/dumps/<migration>/<database>.sql`. Run it for each database before a release; a
dump that is there is never written again, because installations have that schema.
"""

from __future__ import annotations

import os
import sys

import django

from tests.migrations.dumps import DUMPS


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.project.settings")
    django.setup()
    from tests.migrations.databases import empty_database
    from tests.migrations.dumps import newest_migration, readable, statements_of
    from tests.project.settings import SERVICE

    migration = newest_migration()
    file = DUMPS / migration / f"{SERVICE}.sql"
    if file.exists():
        print(f"{file} is there already; it shows the schema of installations, and stays.")
        return 1
    with empty_database("dump") as connection:
        statements = statements_of(connection, migration)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{readable(statement)};\n\n" for statement in statements))
    print(f"{file}: {len(statements)} statements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
