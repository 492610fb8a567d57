"""Blanks filled by draws in what was charged: what the bounds for them cover, and what they start from.

They hold for one batch whose every part reads the form alone, or one question with all its blanks filled by one draw
each. So nothing reads a question that some forms leave out in any other way, and none is filled twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from entwined.bounds import ConcentratedLoss, Exposure, Knowledge
from entwined.bounds.filled_blanks import laws_of_columns
from entwined.bounds.separable_filled import FilledConcentrated
from entwined.dependence import Dependence, Forms
from entwined.errors import Refused
from entwined.numbers import FloatArray
from entwined.promise.gates import Gates
from entwined.promise.measure import Measure
from entwined.promise.part import Part
from entwined.promise.places import PartPlace, place_of

Fillings: TypeAlias = Mapping[str, tuple[int, ...]]


def fillings_of(
    parts: Iterable[Part], gates: Sequence[Gates], models: int, measure: Measure, knowledge: Knowledge
) -> Fillings:
    """By which weights blanks are filled, or nothing; refuse what the bounds for filled blanks do not cover."""
    places = [place_of(part.key) for part in parts]
    if not any(place.filling for place in places):
        return {}
    if len(gates) != models or not gates:
        raise Refused(
            "Blanks are filled, and not every model says which form asks what. Declare a questionnaire in forms "
            "alone, or ask for histograms."
        )
    return _fillings(places, gates, measure, knowledge)


def _fillings(
    places: Iterable[PartPlace], gates: Sequence[Gates], measure: Measure, knowledge: Knowledge
) -> Fillings:
    """By which weights the blanks of each question are filled, some being filled; refuse what no bound covers."""
    if measure.is_pure or knowledge != "model":
        raise Refused(
            "Blanks are filled, which is bounded only with a δ and for an adversary who knows no answers. Give a "
            'delta and knowledge = "model", or ask only where the form asks.'
        )
    gated = {name for one in gates for name in one.asked}
    found: dict[str, tuple[int, ...]] = {}
    for place in places:
        if not place.filling:
            _refuse_beside(place, gated)
        elif found.setdefault(place.column, place.filling) != place.filling:
            raise Refused(
                f"The question {place.column!r} is filled by two laws, and each of its blanks may be filled once. Ask "
                "for one filled histogram of it."
            )
    return found


def _refuse_beside(place: PartPlace, gated: set[str]) -> None:
    """Refuse what may not be read beside filled blanks."""
    read = {*place.columns, *place.where.columns}
    if read & gated:
        raise Refused(
            f"The question {min(read & gated)!r} is read where the form asks it, and blanks of a question are filled. "
            "Fill the blanks of all such questions, or of none."
        )
    if len(read) > 1:
        raise Refused(
            f"The columns {', '.join(map(repr, sorted(read)))} are read together, and blanks are filled, which is "
            "bounded where every statistic reads one column. Ask about each column alone."
        )


def filled_exposure(exposed: Exposure, model: Dependence, filling: Fillings) -> Exposure:
    """What losses show where blanks are filled; what is asked of everybody is never filled, whatever its law here."""
    if not isinstance(model, Forms) or not isinstance(exposed, ConcentratedLoss):
        raise Refused("Blanks are filled, and the model says nothing of forms. Ask for histograms.")
    laws = zip(model.answers.names, laws_of_columns(model.answers), strict=True)
    return FilledConcentrated(
        exposed, tuple(_law(filling[name]) if name in filling else law for name, law in laws)
    )


def _law(weights: tuple[int, ...]) -> FloatArray:
    """The chances of the answers, blanks left out."""
    return np.array([weight / sum(weights) for weight in weights if weight])
