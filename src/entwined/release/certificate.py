"""The certificate of a release: what was charged, and what it leaks under every declared model.

Anyone can derive it again without the data: the losses by part give the loss of a unit, and each model's own
certificate gives the leakage of that loss.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Verdict, certify
from entwined.bounds import verify as verify_bound
from entwined.bounds.certificate import digest
from entwined.errors import BadCertificate, EntwinedError
from entwined.ledger import Part, Price
from entwined.ledger.canonical import fraction_text
from entwined.release.accountant import Accountant
from entwined.release.plan import Plan
from entwined.schema import Cells, Schema

FORMAT: Final = "entwined release certificate 1"
NEIGHBOURS: Final = {
    "replace": "replace the value of one unit",
    "add_remove": "add or remove one unit; under a model, replace its value or take it away",
}
ROWS_APART: Final = "Different rows are independent of each other; the models are over the cells of one row."
NO_MODEL: Final = "Different units are independent of each other."


def certificate(plan: Plan, total: Price, cap: Fraction) -> dict[str, Any]:
    """Write down what a batch costs on its own, and what everything released so far amounts to."""
    accountant = plan.accountant
    base = accountant.base(plan.parts)
    content = {
        "format": FORMAT,
        "says": _says(plan),
        "schema": accountant.schema.digest,
        "unit": accountant.schema.unit.document,
        "neighbours": NEIGHBOURS[accountant.schema.neighbours],
        "knowledge": accountant.knowledge,
        "loss_of_each_statistic": fraction_text(plan.loss),
        "losses": [part.row for part in plan.parts],
        "nominal": fraction_text(base.nominal),
        "models": {
            name: {"declared": _about(accountant, name), "certificate": certify(bound)}
            for name, bound in accountant.bounds(base).items()
        },
        "trusted": _trusted(accountant),
        "total": total.document | {"cap": fraction_text(cap)},
    }
    return {**content, "digest": digest(content)}
