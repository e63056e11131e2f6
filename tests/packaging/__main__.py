"""Check what would be published, with pip and the registry: `python -m tests.packaging`.

The distributions pass twine's check; the wheel installs into an empty environment alone and with
each of its extras; there a new project passes its tests with warnings as errors.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.packaging.distributions import Environment, build, run

ALONE = {"django-jobu", "django", "croniter"}
NEEDED_BY_THOSE = {"asgiref", "sqlparse", "tzdata", "python-dateutil", "pytz", "six"}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="jobu-packaging-") as name:
        folder = Path(name)
        distributions = build(folder / "dist")
        files = [distributions.wheel, distributions.sdist]
        run(sys.executable, "-m", "twine", "check", "--strict", *files)
        print(
            f"{', '.join(file.name for file in files)}: built, and twine finds nothing", flush=True
        )
        alone = install_alone(distributions.wheel, folder / "alone")
        print(
            "Alone: brings Django and croniter, starts a project that passes its tests", flush=True
        )

        def check(extra: str) -> str:
            install_with(extra, distributions.wheel, folder / extra, alone)
            return extra

        with ThreadPoolExecutor(max_workers=3) as pool:
            for extra in pool.map(check, extras_of(distributions.wheel)):
                print(f"With [{extra}]: the same", flush=True)
    return 0


def extras_of(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as packed:
        [metadata] = (name for name in packed.namelist() if name.endswith("dist-info/METADATA"))
        return re.findall(r"^Provides-Extra: (.+)$", packed.read(metadata).decode(), re.MULTILINE)


def install_alone(wheel: Path, folder: Path) -> Environment:
    environment = Environment(folder / "venv")
    environment.install(wheel)
    listed = run(sys.executable, "-m", "pip", "--python", environment.python, "freeze")
    names = {re.split(r"==| @ ", line)[0].lower() for line in listed.splitlines()}
    assert ALONE <= names <= ALONE | NEEDED_BY_THOSE, names
    run(environment.python, "-W", "error", "-m", "compileall", "-qf", environment.site / "jobu")
    try_out(environment, folder)
    return environment


def install_with(extra: str, wheel: Path, folder: Path, alone: Environment) -> None:
    """Install the wheel once more, with the extra; Django need not be unpacked again."""
    environment = Environment(folder / "venv")
    environment.borrow(alone.site)
    environment.install("--ignore-installed", "--no-deps", wheel)
    environment.install(f"{wheel}[{extra}]")
    try_out(environment, folder)


def try_out(environment: Environment, folder: Path) -> None:
    run(environment.bin / "jobu", "init", "my_shop", cwd=folder)
    environment.install("-r", folder / "my_shop" / "requirements.txt")
    run(environment.python, "-W", "error", "manage.py", "test", cwd=folder / "my_shop")


if __name__ == "__main__":
    sys.exit(main())
