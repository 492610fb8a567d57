"""Which tables of counts a synthetic table answers well and which not, each with its error and what chance would do."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from entwined.synthetic.likeness import Apart

Verdict: TypeAlias = Literal["well", "fairly", "badly"]
TWICE: Final = 2.0
FAIR_SHARE: Final = 0.05  # of people in a wrong cell


class TableQuestion(NamedTuple):
    """How people are spread over the cells of some columns: the share who are in a wrong one."""

    columns: tuple[str, ...]
    error: float
    by_chance: float

    @property
    def verdict(self) -> Verdict:
        """Well if chance does the same, fairly if at most one in twenty is wrong."""
        return verdict_of(self.error <= TWICE * self.by_chance, self.error <= FAIR_SHARE)


def tables_asked(found: Iterable[Apart]) -> list[TableQuestion]:
    """Take each marginal as a question, the worst first."""
    asked = [TableQuestion(one.columns, one.distance, one.by_chance) for one in found]
    return sorted(asked, key=lambda one: one.by_chance - one.error)


def verdict_of(by_chance: bool, small: bool) -> Verdict:  # noqa: FBT001  (two facts)
    """Put two facts in a word: nothing but chance, or little."""
    return "well" if by_chance else "fairly" if small else "badly"
