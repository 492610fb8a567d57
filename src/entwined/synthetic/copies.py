"""What several synthetic tables of one description say together.

Of m tables with k rows each, made from n people, let q_k be an estimate and u_k its variance as if the rows were
people. The estimate of all is their mean q̄, and (k/n + 1/m) ū is its variance, sampling of the people included
(Raab, Nowok, Dibben 2016, for tables that follow one fitted law). With many rows ū is small; k/n makes up for it.
What noise did to the law is in all tables alike, so that no number of them shows it: it is added, as the description
tells it of each marginal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from entwined.errors import BadInput


@dataclass(frozen=True, slots=True)
class Combined:
    """An estimate from several tables, with its deviation."""

    value: float
    deviation: float


def combined(
    estimates: Sequence[float], variances: Sequence[float], noise: float = 0.0, rows_per_person: float = 1.0
) -> Combined:
    """Combine estimates of the same from several tables; `noise` is the deviation that released noise adds.

    `rows_per_person` is k/n: how many rows each table has for each of the people described.

    >>> combined([10.0, 12.0], [4.0, 4.0])
    Combined(value=11.0, deviation=2.449489742783178)
    """
    if len(estimates) != len(variances) or not estimates or min(variances) < 0 or noise < 0:
        raise BadInput("Give as many variances as estimates, at least one of each, none below zero.")
    if not 0 < rows_per_person < math.inf:
        raise BadInput(
            f"{rows_per_person} rows per person. Give how many rows a table has for each, above none."
        )
    many = len(estimates)
    spread = (rows_per_person + 1 / many) * math.fsum(variances) / many
    return Combined(math.fsum(estimates) / many, math.sqrt(spread + noise**2))
