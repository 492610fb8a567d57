"""A generated family and a trait that runs in it: what relatives' records say about somebody who never told.

Everybody has two copies of a gene, each of the kind that causes the trait or not; a child has one copy of each parent,
drawn by chance. So the law is Mendel's: a network in which every child has two parents. The people are made up.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from entwined.audit.staging import NOTHING, Stage, place_of, staged
from entwined.audit.vectors import Addend, NoisyVector
from entwined.canonical import Document
from entwined.dependence import BayesNet, ProductLaw, Variable
from entwined.noise import Additive
from entwined.numbers import Amount, FloatArray, positive_fraction

FREQUENT: Final = 0.1  # how often a copy is of the kind that causes the trait
COPIES: Final = ("no copy", "one copy", "two copies")
TARGET: Final = "Ada"


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody of the family, with what they are to the target, and both parents where these are in the family."""

    name: str
    relation: str
    parents: tuple[str, ...] = ()


FAMILY: Final = (
    Relative("Rosa", "grandmother"),
    Relative("Emil", "grandfather"),
    Relative("Mia", "mother", ("Rosa", "Emil")),
    Relative("Otto", "uncle", ("Rosa", "Emil")),
    Relative("Paul", "father"),
    Relative(TARGET, "herself", ("Mia", "Paul")),
    Relative("Ben", "brother", ("Mia", "Paul")),
    Relative("Cleo", "sister", ("Mia", "Paul")),
)


def family_model(frequent: float = FREQUENT) -> BayesNet:
    """Mendel's law of who has how many copies.

    >>> family_model().member().marginal(5).round(3).tolist()
    [0.81, 0.18, 0.01]
    """
    founder = [[(1 - frequent) ** 2, 2 * frequent * (1 - frequent), frequent**2]]
    born = [inherited(mother, father).tolist() for mother, father in product(range(3), repeat=2)]
    return BayesNet.of(
        [Variable(one.name, COPIES, one.parents, born if one.parents else founder) for one in FAMILY]
    )


def inherited(mother: int, father: int) -> FloatArray:
    """Give the law of a child's copies, where its parents have so many."""
    one, other = mother / 2, father / 2
    return np.array([(1 - one) * (1 - other), one * (1 - other) + other * (1 - one), one * other])


def family_stage(leakage: Amount, target: str | None = None) -> Stage:
    """Publish how many of the family carry the trait."""
    model = family_model()
    place, law = place_of(model, target or TARGET), model.member()
    promised = float(positive_fraction(leakage, "Leakage"))
    names, values = tuple(one.name for one in FAMILY), (COPIES,) * len(FAMILY)
    bare = Stage(
        "family",
        model,
        place,
        law,
        promised,
        NOTHING,
        NOTHING,
        names,
        values,
        beside={"relatives": relatives_say(law, place)},
    )
    return staged(bare, lambda noise: (carriers(law, noise),), 1)


def carriers(law: ProductLaw, noise: Additive) -> NoisyVector:
    """How many people have at least one copy."""
    carrying = np.array([[0], [1], [1]])
    return NoisyVector(tuple(Addend((unit,), carrying) for unit in law.people), noise)


def relatives_say(law: ProductLaw, target: int) -> list[Document]:
    """Give the target's chance to carry the trait where one relative is known to, or known not to."""
    said = []
    for unit, one in enumerate(FAMILY):
        if unit != target:
            chances = law.joint([unit, target], {})[:, 1:].sum(axis=1) / law.marginal(unit)
            carrying = law.marginal(unit)[1:]
            said.append(
                {
                    "name": one.name,
                    "relation": one.relation,
                    "parents": list(one.parents),
                    "if_not": float(chances[0]),
                    "if_carrier": float(chances[1:] @ carrying / carrying.sum()),
                }
            )
    return said
