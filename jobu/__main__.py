"""`python -m jobu` is `jobu`."""

import sys

from jobu.cli import main

if __name__ == "__main__":
    sys.exit(main())
