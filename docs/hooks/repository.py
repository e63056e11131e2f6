"""Take the README and its like into the documentation, and fix what their links point at."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "start.md",
    "README.ko.md": "ko/start.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
_SOURCES = {page: source for source, page in PAGES.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, **_kwargs: Any) -> str:
    # Where the text stands in the repository decides what its links mean.
    source = _SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def fix(match: re.Match[str]) -> str:
        bang, text, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = PAGES.get(there) or (
            there.removeprefix("docs/") if there.startswith("docs/") else ""
        )
        if not place:
            if not (ROOT / there).exists():
                raise PluginError(f"{source} points at {there}, which does not exist.")
            return f"{text} (`{there}`)"
        here = posixpath.dirname(page.file.src_uri)
        return f"{bang}[{text}]({posixpath.relpath(place, here or '.')}{anchor or ''})"

    return _LINK.sub(fix, markdown)
