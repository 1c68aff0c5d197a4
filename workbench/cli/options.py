"""Building blocks of the command tables: options, commands and commands with actions, as data.

Nothing here imports what a command needs, so that help and bad usage are answered at once.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.api.commands import Command
from workbench.api.later import Later

Option = tuple[tuple[str, ...], Mapping[str, Any]]  # the arguments of `ArgumentParser.add_argument`


def option(*names: str, **given: Any) -> Option:
    return names, given


def file(*names: str, metavar: str = "FILE", **given: Any) -> Option:
    return names, {"type": Path, "metavar": metavar, **given}


def flag(name: str, text: str) -> Option:
    return (name,), {"action": "store_true", "help": text}


def many(name: str, metavar: str = "NAME=VALUE", **given: Any) -> Option:
    """An option that can be given several times."""
    return (name,), {"action": "append", "default": [], "metavar": metavar, **given}


def named(name: str, text: str, metavar: str = "NAME") -> Option:
    """An option with a text; the empty text if it is left out."""
    return (name,), {"default": "", "metavar": metavar, "help": text}


JSON = option("--json", action="store_true")


def does(place: str) -> Later:
    """The function `module:function` of this package, imported when it is called."""
    return Later(f"workbench.cli.{place}")


def takes(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    for names, given in options:
        parser.add_argument(*names, **given)


def command(name: str, title: str, place: str, *options: Option, logged: bool = True) -> Command:
    """A command that the function at `place` does; `logged` if it may take long enough to need a log."""
    return Command(name, title, lambda parser: takes(parser, options), does(place), logged)


def actions(name: str, title: str, *actions: tuple[str, str, str, Sequence[Option]], usual: str = "") -> Command:
    """A command with actions: each has a name, a help text, a function and options besides --json. The function at
    `usual` runs where no action is given."""

    def add(parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=not usual)
        if usual:
            parser.set_defaults(run=does(usual))
            takes(parser, [JSON])
        for action, text, place, options in actions:
            one = commands.add_parser(action, help=text)
            one.set_defaults(run=does(place))
            takes(one, (*options, JSON))

    return Command(name, title, add)


def compiler(name: str, title: str, place: str) -> Command:
    """A command that passes its arguments to a compiler unchanged."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.prefix_chars = "\0"
        parser.add_argument("words", nargs="*", metavar="...", help="the compiler's arguments")

    return Command(name, title, add, does(place))
