"""How to install this jobu again: from the package index, or from where pip got it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    from collections.abc import Sequence

DISTRIBUTION = "django-jobu"


def install_command(extra: str) -> str:
    """Return what to type to add an extra to what is installed."""
    wanted = requirement([extra])
    # Extras are between brackets, which some shells take for a pattern.
    return f"pip install {wanted}" if '"' in wanted else f'pip install "{wanted}"'


def requirement(extras: Sequence[str]) -> str:
    """Return the line of a requirements file that installs this jobu with these extras."""
    wanted = f"[{','.join(extras)}]" if extras else ""
    try:
        installed = distribution(DISTRIBUTION)
    except PackageNotFoundError:  # on the PYTHONPATH only
        return DISTRIBUTION + wanted
    record = installed.read_text("direct_url.json")
    if record is None:
        return f"{DISTRIBUTION}{wanted}=={installed.version}"
    origin = json.loads(record)
    url = origin["url"]
    if origin.get("dir_info", {}).get("editable"):
        return f'--editable "{url2pathname(urlsplit(url).path)}{wanted}"'
    if repository := origin.get("vcs_info"):
        url = f"{repository['vcs']}+{url}@{repository['commit_id']}"
    if folder := origin.get("subdirectory"):
        url = f"{url}#subdirectory={folder}"
    return f"{DISTRIBUTION}{wanted} @ {url}"
