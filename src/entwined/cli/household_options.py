"""Options of `entwined synth` for households: whom they are named by, and what their members are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.request.request import Request
    from entwined.schema import Schema

HouseholdOption = Annotated[
    str | None,
    typer.Option(
        "--household", help="The column that members of a household share: protect and make up households."
    ),
]
LargestOption = Annotated[
    int | None, typer.Option("--largest", help="How many members of a household count, at most.")
]
RoleOption = Annotated[str | None, typer.Option("--role", help="The column that says who is what at home.")]
HeadOption = Annotated[
    list[str] | None, typer.Option("--head", help="The role of the head; may be repeated, as those below.")
]
PartnerOption = Annotated[list[str] | None, typer.Option("--partner", help="A role of the head's partner.")]
ChildOption = Annotated[list[str] | None, typer.Option("--child", help="A role of children.")]
SharedOption = Annotated[
    list[str] | None, typer.Option("--shared", help="A column in which all members say what their head says.")
]
YoungerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--younger", help="A rule, such as child:age:15: by how much they are younger than their head."
    ),
]


@dataclass(frozen=True, slots=True)
class HouseholdWish:
    """What the options say of households."""

    household: str | None
    largest: int | None
    role: str | None
    lists: Mapping[str, list[str] | None]
    younger: list[str] | None

    def __post_init__(self) -> None:
        if (self.household is None) != (self.largest is None):
            raise BadInput(
                "--household and --largest belong together: --household home --largest 5, for example."
            )

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a mechanism that were given."""
        told: dict[str, Any] = {key: list(some) for key, some in self.lists.items() if some}
        told |= {} if self.role is None else {"role": self.role}
        return told | ({"younger": list(map(_gap, self.younger))} if self.younger else {})

    @property
    def is_given(self) -> bool:
        """Whether anything is said of households."""
        return self.household is not None or bool(self.fields)

    def protecting(self, request: "Request") -> "Request":
        """Let a request protect households, if these are named."""
        if self.household is None:
            return request
        if any(one.by == self.household for one in request.dependence):
            raise BadInput(
                f"A model is about who shares {self.household!r}, and --household makes all of them one unit, whatever "
                "they have to do with each other. Leave the model out."
            )
        return replace(request, schema=self.schema(request.schema))

    def schema(self, public: "Schema") -> "Schema":
        """Give the same public columns where whole households are protected: more than rows, never less."""
        from entwined.schema import Household

        if self.household is None or self.largest is None:
            return public
        unit = Household(self.household, self.largest)
        if public.unit == unit:
            return public
        public.require_approval()
        if public.unit.kind != "rows" or public.signature is not None:
            raise BadInput(
                f"The schema protects {public.unit.kind}{' and is signed' if public.signature else ''}. Write unit = "
                f'{{kind = "household", column = "{self.household}", most = {self.largest}}} into it, and approve it.'
            )
        return replace(public, unit=unit, rows=None, approved_digest="", signature=None).approve()


def _gap(text: str) -> list[str | int]:
    kind, _, rest = text.partition(":")
    column, _, by = rest.rpartition(":")
    if not by.isdecimal() or not by.isascii():
        raise BadInput(f"--younger {text[:60]!r}. Give a kind, a column and a number, such as child:age:15.")
    return [kind, column, int(by)]
