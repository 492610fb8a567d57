"""`entwined learn --budget`: a dependence model from the private rows themselves, charged to their ledger."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from entwined.canonical import Document
from entwined.cli.arguments import confirmed
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.learning.models import Learned
    from entwined.learning.on_request import Spending
    from entwined.learning.private import NoisyTables

HALF = Fraction(1, 2)


def learn_with_budget(  # noqa: PLR0913  (options of one command)
    request_file: Path,
    budget: str,
    output: Path,
    *,
    parents: int,
    smoothing: str,
    confidence: str | None,
    as_document: bool,
    yes: bool,
) -> None:
    """Spend a loss on learning, half of it on which columns depend on which, half on how much."""
    from entwined.dependence import write_model
    from entwined.dependence.files import require_model_file
    from entwined.learning.expected import rehearsed_tables
    from entwined.learning.on_request import learn_on_request
    from entwined.learning.private import Budget, price_of
    from entwined.numbers import positive_fraction
    from entwined.request.request_file import read_terms

    require_free(output)
    total = positive_fraction(budget, "Budget")
    spending = Budget(total * HALF, total * HALF)
    with progress():
        request = read_terms(request_file)
        cost = price_of(request.promise, spending, parents)
        within, numbers = rehearsed_tables(request.promise, spending, parents, smoothing, confidence)
        require_model_file(output, numbers)
    spent_on = f"Spend up to {number(float(cost.worst))} on learning?"
    confirmed(f"Each count of the tables would be learned within ± {within:,}. {spent_on}", yes=yes)
    with progress():
        done = learn_on_request(request, spending, parents)
    model = _model(done.tables, smoothing, confidence)
    write_model(model.model, output)
    told = _told(model, output, total, done) | {"count_within": within}
    as_json(told) if as_document else _say(told, request_file)


def require_free(output: Path) -> None:
    """Refuse to write over a file."""
    if output.exists():
        raise BadInput(f"{output} is there already. Give another name, so that no model is lost.")


def _told(model: "Learned", output: Path, total: Fraction, done: "Spending") -> Document:
    spent, cap = float(done.after.worst), float(done.cap)
    told = {"model": str(output), "learned": model.title, "columns": model.model.units, "loss": float(total)}
    return told | {"spent": spent, "cap": cap, "left": max(cap - spent, 0.0)}


def _say(told: Document, request_file: Path) -> None:
    say(f"A model of {told['columns']} columns, {told['learned']}, is in {told['model']}.")
    say(f"Each count of the tables was learned within ± {told['count_within']:,} (95 %).")
    say(f"Spent so far: {number(told['spent'])} of {number(told['cap'])}; {number(told['left'])} is left.")
    say(
        "To release under it, name it in the request and carry what was spent over: entwined budget migrate "
        f"{request_file}"
    )


def _model(tables: "NoisyTables", smoothing: str, confidence: str | None) -> "Learned":
    return tables.smoothed(smoothing) if confidence is None else tables.with_margin(confidence)
