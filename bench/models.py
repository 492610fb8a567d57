"""Does the model hold? The tree of each survey held against richer laws and a strong learner, on a pilot half.

The noise is Gaussian and leaks 1 under the tree: equal for all questions, or as it is allocated to them; `held_against`
takes any other. The laws are those of the answers to all questions, whatever the form.
"""

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from bench.surveys import FILES, KNOWLEDGE, codebook, complete, file_of, folder_of_data, halves
from entwined.bounds import ConcentratedLoss, Knowledge
from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.curve import curve
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.learning.check import Planned, check
from entwined.learning.codes import public_codes
from entwined.survey.checking import planned_noise
from entwined.survey.survey import Survey, plan_survey

DELTA: Final = Fraction(1, 10**6)
LEAKAGE: Final = 1.0


def equal_noise(survey: Survey, knowledge: Knowledge) -> ConcentratedLoss:
    """Find the largest equal ρ of every question that leaks 1 under the tree."""
    model = survey.learned.model
    shape = ConcentratedLoss.uniform(1, model.units, DELTA, gaussian=True, separable=True)
    theorem = separable_transport_bound if knowledge == "model" else separable_messages_bound
    return largest_multiple(theorem, model, shape, LEAKAGE, knowledge).exposure


def held_against(survey: Survey, planned: Planned, knowledge: Knowledge) -> dict[str, Any]:
    """Check the tree against this noise, and say how the leakage grows with every log odds."""
    began = time.process_time()
    figures = check(survey.learned, survey.answered, planned, knowledge).figures
    taken = time.process_time() - began
    theorem = separable_transport_bound if knowledge == "model" else separable_messages_bound
    points = (
        curve(survey.learned.model, planned, knowledge, theorems=[theorem]).points if planned.delta else ()
    )
    stronger = {f"{point.share:.0%}": point.leakage for point in points}
    deviations = {"largest_rho": float(max(planned.rhos))} if isinstance(planned, ConcentratedLoss) else {}
    return figures.document | deviations | {"cpu": taken, "if_log_odds_were_larger": stronger}


def run(names: Sequence[str] = tuple(FILES)) -> dict[str, Any]:
    """Print and return all figures."""
    figures: dict[str, Any] = {}
    if not folder_of_data().is_dir():
        print("Set ENTWINED_DATA to the folder of the surveys.")
    for name in (one for one in names if file_of(one).exists()):
        schema = codebook(file_of(name))
        survey = halves(public_codes(file_of(name), schema), 0, complete(schema)).survey
        figures[name] = {}
        for knowledge in KNOWLEDGE:
            allocated = plan_survey(
                survey, LEAKAGE, knowledge, survey.pilot.rows, at_the_door=True, delta=DELTA
            )
            for way, planned in (
                ("equal", equal_noise(survey, knowledge)),
                ("allocated", planned_noise(allocated)),
            ):
                found = held_against(survey, planned, knowledge)
                figures[name][f"{knowledge}, {way}"] = found
                show(f"{name}, knowledge {knowledge}, {way} noise", found)
    return figures


def show(title: str, found: dict[str, Any]) -> None:
    """Print the figures of one check."""
    print(f"{title}: {found['cpu']:.0f} CPU-s")
    for law in found["laws"]:
        shown = ", ".join(f"{key} {value:.4g}" for key, value in law.items() if isinstance(value, float))
        print(f"  {law['law']}: {shown}{' (needed)' if law['law'] in found['needed'] else ''}")
    print(f"  price of what is needed {found['price']:.3f}, of all {found['price_of_all']:.3f}")
    print(f"  if log odds were larger: {found['if_log_odds_were_larger']}", flush=True)
