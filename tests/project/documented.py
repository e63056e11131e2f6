"""The test project with jobu's defaults, for what is printed in the documentation."""

from tests.project.settings import *  # noqa: F403
from tests.project.settings import __dict__ as _settings

for _name in [name for name in _settings if name.startswith("JOBU_")]:
    del globals()[_name]
