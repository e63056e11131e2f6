"""Import every installed app's `jobs.py` or `jobs/` package, so that its handlers register."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from jobu.handlers.base import BaseHandler
from jobu.handlers.registry import handlers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULE_NAME = "jobs"


def discover() -> None:
    """Import them all; import errors are not caught, because the developer must see them."""
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, MODULE_NAME):
            _import_all(f"{app.name}.{MODULE_NAME}")


def problems() -> Iterator[tuple[str, str]]:
    """Yield (problem, what to do) for each handler that will not be found."""
    for app in apps.get_app_configs():
        module = sys.modules.get(f"{app.name}.{MODULE_NAME}")
        if module is None:
            continue
        for folder in _folders_without_init(module):
            yield (
                f"{folder} has Python files but no __init__.py, so its handlers are not found.",
                "Add an empty __init__.py to the folder.",
            )
        for each in _modules_below(module):
            yield from _unregistered(each)


def _import_all(name: str) -> None:
    module = import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        _import_all(f"{name}.{found.name}")


def _folders_without_init(module: ModuleType) -> Iterator[Path]:
    for root in getattr(module, "__path__", ()):
        # In the top folder Python finds modules without __init__.py, but not in folders below.
        for folder in {path.parent for path in Path(root).rglob("*.py")} - {Path(root)}:
            if not (folder / "__init__.py").exists():
                yield folder


def _modules_below(module: ModuleType) -> list[ModuleType]:
    prefix = f"{module.__name__}."
    return [module, *(m for name, m in list(sys.modules.items()) if name.startswith(prefix))]


def _unregistered(module: ModuleType) -> Iterator[tuple[str, str]]:
    registered = {(spec.module, spec.qualname) for spec in handlers}
    for name, value in vars(module).items():
        if (
            inspect.isclass(value)
            and issubclass(value, BaseHandler)
            and value.__module__ == module.__name__
            and "execute" in vars(value)
            and (module.__name__, value.__qualname__) not in registered
            and not name.startswith("_")
        ):
            yield (
                f"{module.__name__}.{name} is a BaseHandler without a name, so nothing can run it.",
                f'Decorate it with @handler("its-name"), or call it _{name} if it is a base class.',
            )
