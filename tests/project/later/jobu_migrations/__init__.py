"""jobu's own migrations, and one more after them."""

import jobu.migrations

__path__ = [*jobu.migrations.__path__, *__path__]
