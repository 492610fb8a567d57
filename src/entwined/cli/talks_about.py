"""`entwined plan --talks-about`: which columns a release would talk about if it had no noise."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.show import number, say, table
from entwined.errors import BadInput, HolderError

if TYPE_CHECKING:
    from entwined.attributes import Talk
    from entwined.queries import Query
    from entwined.request.request import Request
    from entwined.request.tasks import Task

TalksOption = Annotated[
    Path | None,
    typer.Option(
        "--talks-about",
        metavar="PUBLIC",
        help="Say which columns the release would talk about without noise: by a public table of such rows, or by a "
        "JSON file with their columns and covariance.",
    ),
]


def talks(request: "Request", public: Path) -> "list[Talk]":
    """Say of every column how far the release without noise would talk about its mean."""
    from entwined.attributes import talks_about, talks_of
    from entwined.attributes.talks import covariance_of
    from entwined.learning import public_codes

    asked = _columns(request)
    if public.suffix == ".json":
        try:
            return talks_of(json.loads(public.read_text(encoding="utf-8")), asked)
        except (ValueError, AttributeError, TypeError):
            raise BadInput(
                f"{public} holds no law of columns. Give their names and covariance as JSON."
            ) from None
    codes = public_codes(public, request.schema)
    _refuse_own_rows(request, codes.origin)
    names, covariance = covariance_of(codes, request.schema)
    return talks_about(names, covariance.tolist(), asked)


def show_talks(found: "list[Talk]") -> None:
    """Print what the release would talk about, most first."""
    say()
    table(
        "Without noise this release would talk about",
        ["whether this is high or low on average", "#odds move by a factor of", "#guessed right"],
        [
            [
                one.column,
                "any" if one.factor == float("inf") else number(one.factor),
                f"{100 * one.guess:.1f} %",
            ]
            for one in found
        ],
    )
    say(
        "High and low are one deviation of the mean above and below what is expected; who guesses holds both for "
        "equally "
        "likely and the columns for jointly normal. Declare a [[secret]] about what must not be told."
    )


def _columns(request: "Request") -> list[str]:
    """The columns whose means are asked about; refuse what is no mean of a column."""
    found = []
    for query in (*request.queries, *(query for task in request.tasks for query in _queries(task))):
        sum_of = query.by_public_rows(request.schema).bound(request.schema).plain(request.schema)
        alone = query.columns[0] if len(query.columns) == 1 else ""
        counted = bool(alone) and request.schema.coded(alone).levels == 2  # noqa: PLR2004  (a count is a mean of these)
        if sum_of is None or not (sum_of.column or counted):
            raise BadInput(
                f"What a {query.kind} talks about is not worked out. Ask for means, totals, or counts of true or false."
            )
        found.append(sum_of.column or alone)
    return found


def _queries(task: "Task") -> "list[Query]":
    from entwined.queries import Query

    return [one for one in task.given.values() if isinstance(one, Query)]


def _refuse_own_rows(request: "Request", origin: object) -> None:
    """Refuse a table that is the private one, in whatever order and spelling."""
    from entwined.dependence import LearnedFrom
    from entwined.tables import open_table

    with open_table(request.source, request.schema) as rows:
        if isinstance(origin, LearnedFrom) and rows.holds(origin):
            raise HolderError(
                "The public table has the rows of the private one, so it is not public. Give another."
            )
