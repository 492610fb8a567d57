"""From a planned survey to a request file: one histogram a question, each with its share of the loss."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from entwined.errors import Refused
from entwined.schema import Categorical, Coded, Schema
from entwined.survey.sense import Decided
from entwined.survey.survey import Survey, SurveyPlan

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
WORKED_OUT: Final = """\
# You confirmed that each of these is worked out from the other; the report says so in bold.
worked_out = {{ {pairs} }}
"""
CHECK: Final = """
[[query]]
name = {name}
kind = "count"
where = {where}
share = {share:.{digits}g}
"""


def request_text(
    plan: SurveyPlan, questions: Schema, models: Sequence[str], *, check_rules: bool = False, **places: str
) -> str:
    """Write a planned survey as release.toml; `models` names the files of its laws, `places` the others and the cap.

    With `check_rules` it also asks how many rows contradict what was confirmed of columns that others decide.
    """
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
    unsaid, decided = plan.survey.unsaid, plan.survey.decided
    more = UNSAID.format(names=json.dumps(unsaid)) if unsaid else ""
    pairs = ", ".join(f"{json.dumps(one.column)} = {json.dumps(one.by)}" for one in decided)
    more += WORKED_OUT.format(pairs=pairs) if decided else ""
    for (title, _), model in zip(plan.laws, models, strict=True):
        head += LAW.format(name=json.dumps(title), model=json.dumps(model)) + more
    checks = _checks(plan, questions) if check_rules else ()
    return head + "".join([*_queries(plan, questions), *checks, *_worked_out(plan)])


def _queries(plan: SurveyPlan, schema: Schema) -> Iterator[str]:
    for name, loss in plan.losses.items():
        blank = plan.survey.blanks.get(name)
        kind, more = "histogram", ""
        if blank and plan.filled:
            kind, more = "filled_histogram", f"weights = {list(plan.weights_filling(blank, schema))}\n"
        elif blank:
            more = f"where = {json.dumps(_condition(blank.by, blank.asked, schema))}\n"
        yield (
            f'\n[[query]]\nkind = "{kind}"\ncolumn = {json.dumps(name)}\n{more}share = {loss:.{DIGITS}g}\n'
        )


def _condition(name: str, codes: Sequence[int], schema: Schema) -> str:
    """Say where a column has some codes, in the words of conditions."""
    column = schema.coded(name)
    quoted = '"' + name.replace('"', '""') + '"'
    there = [_constant(column, code) for code in codes if code != column.missing_code]
    missing = f"{quoted} is null" if column.missing_code in codes else ""
    return " or ".join(filter(None, [f"{quoted} in ({', '.join(there)})" if there else "", missing]))


def _constant(column: Coded, code: int) -> str:
    text = str(column.value(code))
    return "'" + text.replace("'", "''") + "'" if isinstance(column, Categorical) else text.lower()


def contradicted(one: Decided, schema: Schema) -> str:
    """Say which rows contradict that a column is decided by another, in the words of conditions."""
    size, found = schema.coded(one.column).size, []
    for answer in sorted({answer for answer in one.answers if answer >= 0}):
        settled = [code for code, each in enumerate(one.answers) if each == answer]
        others = [code for code in range(size) if code != answer]
        found.append(
            f"({_condition(one.by, settled, schema)}) and ({_condition(one.column, others, schema)})"
        )
    return " or ".join(f"({each})" for each in found)


def checked_rules(survey: Survey) -> tuple[Decided, ...]:
    """The columns that others decide of which it can be counted how many rows contradict it.

    A question that some forms leave out may be read only where it is asked, and not beside another.
    """
    return tuple(one for one in survey.decided if one.by not in survey.blanks)


def _checks(plan: SurveyPlan, schema: Schema) -> Iterator[str]:
    """Ask how many rows contradict what was confirmed, each for half of what the deciding column's histogram gets."""
    if plan.filled:
        raise Refused(
            "Blanks are filled, which is bounded where every statistic reads one column, and rows that contradict a "
            "rule are seen in two. Leave out --check-rules, or plan with knowledge any."
        )
    for one in checked_rules(plan.survey):
        yield CHECK.format(
            name=json.dumps(f"rows that contradict that {one.by} decides {one.column}"),
            where=json.dumps(contradicted(one, schema)),
            share=plan.losses[one.by] / 2,
            digits=DIGITS,
        )


def _worked_out(plan: SurveyPlan) -> Iterator[str]:
    """Say which histograms are added up from others, as comments."""
    for one in plan.survey.decided:
        yield f"\n# {json.dumps(one.column)} is worked out from {json.dumps(one.by)}: it costs nothing more.\n"
