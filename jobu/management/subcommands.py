"""Commands with actions, as in `manage.py jobu_token list`."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class _CommonOptions(BaseCommand):
    """Django's own options, without values for those that are not given.

    An action's defaults would replace what was given before it: `jobu_token -v 2 list`.
    """

    def add_base_argument(self, parser: Any, *args: Any, **kwargs: Any) -> None:
        super().add_base_argument(parser, *args, **{**kwargs, "default": argparse.SUPPRESS})


class _ActionParser(CommandParser):
    def __init__(self, **kwargs: Any) -> None:
        common = _CommonOptions().create_parser(
            "", "", add_help=False, argument_default=argparse.SUPPRESS
        )
        super().__init__(**kwargs, parents=[common])


def add_actions(parser: CommandParser, **options: Any) -> Any:
    """Do the same as `parser.add_subparsers`, for actions that take Django's own options, too."""
    return parser.add_subparsers(**options, required=True, parser_class=_ActionParser)
