"""The logger of every line: `jobu`."""

import logging

from jobu.printable import EscapeFilter

logger = logging.getLogger("jobu")
logger.addFilter(EscapeFilter())
