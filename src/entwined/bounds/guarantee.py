"""What a theorem promises, in plain words: who is protected against whom, and how well."""

from typing import Final

from entwined.bounds.exposure import Exposure
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.dependence import Dependence, Forms

KNOWS: Final[dict[Knowledge, str]] = {
    "any": "knows the dependence model and, of every other unit, its value or anything that depends on that "
    "value alone",
    "values": "knows the dependence model and the values of any other units, each exactly or not at all,",
    "model": "knows the dependence model but no values",
}
KNOWS_OF_BLANKS: Final = (
    "knows the dependence model and, of every other cell, nothing, or that it is blank, or that it is not "
    "and anything that depends on its answer alone,"
)


def promised(
    leakage: float, knowledge: Knowledge, theorem: Theorem, model: Dependence, exposure: Exposure
) -> str:
    """Say what an adversary can learn at most from such an exposure, and with which chance it fails."""
    secret = theorem.secret
    but = f", but for a chance of {float(exposure.delta):.3g}" if exposure.delta else ""
    alone = model.check.alone if model.check is not None else ""
    return (
        f"{alone}From {exposure.released}, an adversary who {knower(knowledge, model)}{theorem.about.assuming} can "
        f"change the odds between {secret.between}{model.secrets} "
        f"by a factor of at most exp({leakage:.6g}){secret.per}{but}."
    )


def knower(knowledge: Knowledge, model: Dependence) -> str:
    """Say what such an adversary knows under a model."""
    if knowledge == "any" and model.kind == "gaussian":
        return KNOWS["values"]
    if knowledge == "any" and isinstance(model, Forms) and not model.public:
        return KNOWS_OF_BLANKS
    return KNOWS[knowledge]


def origin(model: Dependence) -> str:
    """Say where the model comes from."""
    return {
        "declared": "The dependence model is declared as public knowledge.",
        "proxy": "The dependence model was learned from another, public table and holds for this one.",
        "learned": "The dependence model was learned from the private table with a budget of its own.",
        "exploratory": "The dependence model was learned without a budget: for planning only.",
    }[model.source]
