"""The test project with jobu's defaults, for what is printed in the documentation."""

from tests.project.settings import *  # noqa: F403

for _name in [name for name in globals() if name.startswith("JOBU_")]:
    del globals()[_name]
