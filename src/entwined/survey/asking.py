"""From a planned survey to a request file: one histogram a question, each with its share of the loss."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from entwined.schema import Categorical, Coded, Schema
from entwined.survey.sense import Blank
from entwined.survey.survey import SurveyPlan

DIGITS: Final = 9
HEAD: Final = """\
# All histograms of a survey of {rows:,} respondents, planned with what {pilot} shows. The unit of protection is one
# answer of one respondent, not whether somebody took part.
# Expected L2 error of all histograms: {error:,.0f}; with {noise} for the same promise {plain:,.0f}.
title = {title}
table = {table}
schema = {schema}
ledger = {ledger}
cap = {cap}
leakage = {leakage}
{delta}knowledge = "{knowledge}"
"""
LAW: Final = """
[[dependence]]
name = {name}
model = {model}
"""
UNSAID: Final = """\
# You confirmed that it says nothing about anything whether one of these is missing; the report says so in bold.
missing_says_nothing = {names}
"""


def request_text(plan: SurveyPlan, questions: Schema, models: Sequence[str], **places: str) -> str:
    """Write a planned survey as release.toml; `models` names the files of its laws, `places` the others and the cap."""
    pilot = plan.survey.table
    head = HEAD.format(
        rows=plan.rows,
        pilot=pilot,
        error=plan.squared_error**0.5,
        plain=plan.plain_squared_error**0.5,
        noise=plan.plain_noise,
        leakage=plan.target,
        delta="" if plan.delta is None else f"delta = {float(plan.delta)!r}   # shares are of ρ\n",
        knowledge=plan.knowledge,
        cap=places.pop("cap"),
        title=json.dumps(f"All questions, planned with {pilot}"),
        **{key: json.dumps(value) for key, value in places.items()},
    )
    unsaid = plan.survey.unsaid
    more = UNSAID.format(names=json.dumps(unsaid)) if unsaid else ""
    for (title, _), model in zip(plan.laws, models, strict=True):
        head += LAW.format(name=json.dumps(title), model=json.dumps(model)) + more
    return head + "".join(_queries(plan, questions)) + "".join(_worked_out(plan))


def _queries(plan: SurveyPlan, schema: Schema) -> Iterator[str]:
    for name, loss in plan.losses.items():
        blank = plan.survey.blanks.get(name)
        kind, more = "histogram", ""
        if blank and plan.filled:
            kind, more = "filled_histogram", f"weights = {list(plan.weights_filling(blank, schema))}\n"
        elif blank:
            more = f"where = {json.dumps(_condition(blank, schema))}\n"
        yield (
            f'\n[[query]]\nkind = "{kind}"\ncolumn = {json.dumps(name)}\n{more}share = {loss:.{DIGITS}g}\n'
        )


def _condition(blank: Blank, schema: Schema) -> str:
    """Say where a question is asked, in the words of conditions."""
    column = schema.coded(blank.by)
    quoted = '"' + blank.by.replace('"', '""') + '"'
    there = [_constant(column, code) for code in blank.asked if code != column.missing_code]
    missing = f"{quoted} is null" if column.missing_code in blank.asked else ""
    return " or ".join(filter(None, [f"{quoted} in ({', '.join(there)})" if there else "", missing]))


def _constant(column: Coded, code: int) -> str:
    text = str(column.value(code))
    return "'" + text.replace("'", "''") + "'" if isinstance(column, Categorical) else text.lower()


def _worked_out(plan: SurveyPlan) -> Iterator[str]:
    """Say which histograms are added up from others, as comments."""
    for one in plan.survey.decided:
        yield f"\n# {json.dumps(one.column)} is worked out from {json.dumps(one.by)}: it costs nothing more.\n"
