"""Build the distributions and install them where nothing else of jobu is."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Distributions:
    wheel: Path
    sdist: Path


def run(
    *command: str | Path,
    cwd: Path = ROOT,
    given: str = "",
    variables: dict[str, str] | None = None,
    **more: str,
) -> str:
    """Run a command that must succeed, `given` as its input; return what it wrote."""
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        input=given,
        env={**(variables or clean_environment()), **more},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"{command}\n{given}ended with {done.returncode}:\n{output}"
    return output


def can_download(folder: Path) -> bool:
    """Tell whether pip reaches a package index from here."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "croniter"]
    done = subprocess.run(command, cwd=folder, env=clean_environment(), check=False)
    return done.returncode == 0


def build(folder: Path) -> Distributions:
    """Build the wheel from the sdist, as an installer that has no wheel would."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
    [wheel] = folder.glob("*.whl")
    [sdist] = folder.glob("*.tar.gz")
    return Distributions(wheel, sdist)


class Environment:
    """A virtual environment without pip: ours installs into it."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.bin = folder / "bin"
        self.python = self.bin / "python"

    @property
    def site(self) -> Path:
        [site] = self.bin.parent.glob("lib/python*/site-packages")
        return site

    def borrow(self, site: Path) -> None:
        """See what is installed there; not what hooks would add, such as an editable install."""
        (self.site / "borrowed.pth").write_text(f"{site}\n")

    def install(self, *arguments: str | Path) -> None:
        run(sys.executable, "-m", "pip", "--python", self.python, "install", "-q", *arguments)


def clean_environment() -> dict[str, str]:
    """Return the environment without what points Python or Django at this checkout."""
    ours = ("PYTHONPATH", "DJANGO_SETTINGS_MODULE", "PYTHONWARNINGS")
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(("JOBU_", "COV_"))
    }
