"""Example 1 and Figure 1: a school hides family incomes and releases counts of heights and SAT scores."""

from typing import Final, NamedTuple

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.parameter_law import max_influence
from entwined.bounds.attributes.quilts import quilt_noise
from entwined.bounds.attributes.separation import published_quilts, published_scale
from entwined.dependence import BayesNet, Variable

ROWS: Final = 100
LEVELS: Final = ("low", "high")
TIES: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
EPSILONS: Final = (0.1, 0.5, 1.0, 2.0)
QUERIES: Final = {
    "taller than 66 inches": ColumnQuery.count(["height"], ROWS),
    "taller than 66 inches and SAT above 1300": ColumnQuery.count(["height", "sat"], ROWS),
    "both as two counts": ColumnQuery.count(["height"], ROWS) + ColumnQuery.count(["sat"], ROWS),
}


def school_network(tie: float) -> BayesNet:
    """Figure 1, parameters high or low: those of gender and SAT follow income with chance `tie` and 0.8, heights and
    weights follow gender. The paper has no numbers; these are made up.
    """
    follows = [[tie, 1 - tie], [1 - tie, tie]]
    network = BayesNet.of(
        [
            Variable("income", LEVELS, (), [[0.5, 0.5]]),
            Variable("sat", LEVELS, ("income",), [[0.8, 0.2], [0.2, 0.8]]),
            Variable("gender", LEVELS, ("income",), follows),
            Variable("height", LEVELS, ("gender",), [[0.9, 0.1], [0.1, 0.9]]),
            Variable("weight", LEVELS, ("gender",), [[0.8, 0.2], [0.2, 0.8]]),
        ]
    )
    return network.hiding([name for name in network.names if name != "income"])


class SchoolNoise(NamedTuple):
    """The Laplace scale that a count needs: by the paper's quilt, by its algorithm, and by the best quilt here."""

    query: str
    tie: float
    epsilon: float
    gender_shows: float
    height_shows: float
    by_gender: float | None
    published: float
    ours: float


def school_noise() -> list[SchoolNoise]:
    """Every query under every tie and ε."""
    found = []
    for tie in TIES:
        network = school_network(tie)
        shows = [max_influence(network, "income", [column]) for column in ("gender", "height")]
        for name, query in QUERIES.items():
            gender = next(
                one for one in published_quilts(network, "income", query) if one.shown == ("gender",)
            )
            for epsilon in EPSILONS:
                by_gender = gender.scale(epsilon)
                scales = (
                    published_scale(network, query, epsilon, ["income"]),
                    quilt_noise(network, query, epsilon).scale,
                )
                told = None if by_gender == float("inf") else by_gender
                found.append(SchoolNoise(name, tie, epsilon, shows[0], shows[1], told, *scales))
    return found
