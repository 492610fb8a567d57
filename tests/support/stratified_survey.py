"""A generated stratified survey, drawn again and again: a population, its design, and the exact integers of samples."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from entwined.schema import Boolean, Categorical, Integer, Real, Schema
from support.exact_answers import exact_answer

REGIONS = ("north", "south", "east", "west")
DRAWN = (6000, 4500, 3500, 2000)
WEIGHTS = (Fraction(1, 2), Fraction(6, 5), Fraction(2), Fraction(31, 10))
SCHEMA = Schema(
    (
        Categorical("region", REGIONS, missing="drop"),
        Real("weight", Fraction(0), Fraction(4), Fraction(1, 100)),
        Integer("income", 0, 40),
        Boolean("works"),
    ),
    neighbours="add_remove",
    most_rows=50_000,
).approve()


@dataclass(frozen=True, eq=False)
class Survey:
    """Kinds of rows with their chances within each region; a region's weight is its people for each one drawn."""

    rows: list
    chances: np.ndarray

    @classmethod
    def made(cls, seed):
        """Make incomes and work depend on the region and on each other."""
        rng = np.random.default_rng(seed)
        rows, chances = [], []
        for at, weight in enumerate(WEIGHTS):
            for income in range(41):
                near = np.exp(-0.5 * ((income - 12 - 4 * at) / 6) ** 2) * rng.uniform(0.7, 1.3)
                for works in (0, 1):
                    share = 0.25 + 0.012 * income
                    rows.append({"region": at, "weight": int(weight * 100), "income": income, "works": works})
                    chances.append(near * (share if works else 1 - share))
        table = np.array(chances).reshape(len(REGIONS), -1)
        return cls(rows, table / table.sum(axis=1, keepdims=True))

    def truth(self, worth):
        """The sum over the population of what a row is worth."""
        people = np.array(DRAWN) * np.array([float(weight) for weight in WEIGHTS])
        values = np.array([worth(row) for row in self.rows], dtype=float).reshape(self.chances.shape)
        return float((people[:, None] * self.chances * values).sum())

    def samples(self, rng, times):
        """How many rows of each kind are drawn, region by region, so many times."""
        drawn = [
            rng.multinomial(n, chances, size=times) for n, chances in zip(DRAWN, self.chances, strict=True)
        ]
        return np.concatenate(drawn, axis=1)

    def exact(self, aggregate, samples):
        """The exact integers of an aggregate on each sample."""
        each = np.array([exact_answer(aggregate, [row]) for row in self.rows], dtype=np.int64)
        return samples @ each
