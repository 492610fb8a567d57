"""Commands of which the first needs no name."""

from typing import ClassVar

import typer
from typer.core import TyperGroup


class FirstUnnamed(TyperGroup):
    """A group whose `first` command is meant where none is named."""

    first: ClassVar[str]

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # typer's own
        """Put the name in where it was left out."""
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else [self.first, *args])
