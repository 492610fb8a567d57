"""What released numbers are about, where not every row counts once: a sentence for each bound on rows."""

from typing import Any, Final

from entwined.dependence import EndlessChain
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.schema import Person, Schema

SAMPLED: Final = (
    "Every {unit} counts for at most {rows}; the rows of a {unit} with more share {these} equally: a pseudo-random "
    "sample of {rows} is used, the same for every question."
)
SCALED: Final = (
    "Every {unit} counts for at most {rows}; the rows of a {unit} with more share {these} equally: each is weighted by "
    "{most:,} over their number."
)
GROUPED: Final = (
    "Rows that share a value of {by} count for at most {rows}; more rows share {these} equally: a pseudo-random sample "
    "of {rows} is used, the same for every question."
)
TOGETHER: Final = (
    "{units} that share a value of {by} count for at most {most:,} of them; of more a pseudo-random sample of {most:,} "
    "is used, the same for every question."
)
STEPS: Final = (
    "A series of {by} counts with its first {most:,} steps by {order}, not with later ones; of several {many} at a "
    "step one is used, picked pseudo-randomly."
)
ONE_A_STEP: Final = (
    "Of several {many} at a step of {order} in a series of {by} one is used, picked pseudo-randomly."
)
CUT: Final = "Every node keeps at most {most:,} edges; edges are taken in a pseudo-random order, which favours no node."
SAMPLE_ERROR: Final = (
    "Intervals hold for the rows that are used: they cover the noise, not the error of the sample, whose standard "
    "error is at most √c for a count of c."
)


def counted_rows(promise: Promise) -> tuple[str, ...]:
    """Say which rows the numbers of a release are about, and what their intervals cover; nothing if all rows count."""
    schema, kept = promise.schema, promise.kept
    person = schema.unit.person
    sentences = [] if person is None or _is_panel(kept, person) else [_of_person(person)]
    if kept is not None:
        sentences.append(_of_groups(kept, schema))
    if schema.unit.nodes is not None:
        sentences.append(CUT.format(most=schema.unit.nodes.most))
    is_sampled = any("sample" in sentence for sentence in sentences)
    return (*sentences, SAMPLE_ERROR) if is_sampled else tuple(sentences)


def _is_panel(kept: Declared | None, person: Person) -> bool:
    """Whether steps are a person's rows, of which each counts with one row."""
    return kept is not None and kept.panel and kept.by == person.column


def _of_person(person: Person) -> str:
    sentence = SAMPLED if person.row_share is None else SCALED
    return sentence.format(unit=person.name, **_bounded(person.most))


def _bounded(most: int) -> dict[str, Any]:
    """Name a bound on rows in the forms that sentences have it in."""
    if most == 1:
        return {"most": 1, "rows": "1 row", "these": "this one"}
    return {"most": most, "rows": f"{most:,} rows", "these": f"these {most:,}"}


def _of_groups(kept: Declared, schema: Schema) -> str:
    has_persons = schema.unit.person is not None
    units = f"{schema.unit.name}s" if has_persons else "rows"
    many = "rows" if kept.panel else units
    named = {"by": repr(kept.by), "order": repr(kept.order), "many": many, "units": units.capitalize()}
    named |= _bounded(kept.most)
    if kept.order is not None:
        all_steps = kept.panel or isinstance(kept.model, EndlessChain)
        return (ONE_A_STEP if all_steps else STEPS).format(**named)
    return (TOGETHER if has_persons else GROUPED).format(**named)
