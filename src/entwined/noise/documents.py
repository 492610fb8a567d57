"""Laws and their documents: each is written as its name and one exact fraction, and read back as the same."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from entwined.errors import BadInput, BadLoss, BadNoise
from entwined.noise.choice import ExponentialChoice
from entwined.noise.gaussian import DiscreteGaussian
from entwined.noise.laplace import DiscreteLaplace
from entwined.noise.protocol import Additive, Law

LAWS: Final[Mapping[str, tuple[str, Callable[[Fraction], Law]]]] = {
    DiscreteLaplace.name: ("scale", DiscreteLaplace),
    DiscreteGaussian.name: ("scale", DiscreteGaussian),
    ExponentialChoice.name: ("rate", ExponentialChoice),
}
EXACT: Final = re.compile(r"[0-9]{1,1000}/[0-9]{1,1000}")


def law_from(document: object) -> Law:
    """Read a law back; refuse what no law could have written.

    >>> law_from({"law": "discrete Laplace", "scale": "3/2"})
    DiscreteLaplace(scale=Fraction(3, 2))
    """
    match document:
        case {"law": str(name), **rest} if name in LAWS and rest.keys() == {LAWS[name][0]}:
            number, make = LAWS[name]
            law = _made(make, rest[number])
            if law is not None and law.document == document:
                return law
    raise BadInput(f"{document!r:.100} is no law of noise. Give one as entwined wrote it.")


def noise_from(document: object) -> Additive:
    """Read a noise that is added back; refuse a choice."""
    return additive(law_from(document))


def additive(given: object) -> Additive:
    """Refuse whatever is no noise that can be added and whose law is known."""
    if not isinstance(given, DiscreteLaplace | DiscreteGaussian | Additive):  # asking a protocol takes long
        raise BadNoise(
            f"{type(given).__name__} is not added to an answer by a law that is known here. "
            "Use discrete Laplace or discrete Gaussian noise."
        )
    return given


def _made(make: Callable[[Fraction], Law], given: object) -> Law | None:
    if not isinstance(given, str) or EXACT.fullmatch(given) is None:
        return None
    try:
        return make(Fraction(given))
    except (ZeroDivisionError, BadNoise, BadLoss):
        return None
