"""The figures of long runs that the pages quote: how much smaller the error of a survey is than with other noise.

What it finds is kept in bench/results/claims.json, and `docs/write_figures.py` writes it into the pages.
"""

from dataclasses import replace
from typing import Any

from bench.survey_noise import DELTA, cut_in_two
from bench.surveys import FILES, file_of
from entwined.survey.survey import plan_survey

LEAKAGE = 1.0


def gains(name: str) -> dict[str, float]:
    """Compare L2 errors at one leakage: of Laplace noise with plain Laplace noise, of Gaussian with plain Gaussian."""
    cut = cut_in_two(name)
    survey, rows = cut.survey, cut.rest.rows
    found = {"laplace": plan_survey(survey, LEAKAGE, "any", rows).gain}
    if survey.form is not None:
        public = replace(survey, public_form=True)
        found["laplace_public_form"] = plan_survey(public, LEAKAGE, "any", rows).gain
    for knowledge in ("any", "model"):
        plan = plan_survey(survey, LEAKAGE, knowledge, rows, at_the_door=True, delta=DELTA)
        plain = plan.plain_errors
        found["plain_gaussian"] = (plain["plain Laplace noise"] / plain["plain Gaussian noise"]) ** 0.5
        found[f"gaussian_{knowledge}"] = (plain["plain Gaussian noise"] / plan.squared_error) ** 0.5
        rough = plan_survey(replace(survey, smoothing=0.25), LEAKAGE, knowledge, rows, delta=DELTA)
        found[f"gaussian_{knowledge}_smoothed_by_a_quarter"] = (
            plain["plain Gaussian noise"] / rough.squared_error
        ) ** 0.5
    return found


def run() -> dict[str, Any]:
    """Print and return all figures."""
    if not all(file_of(name).exists() for name in FILES):
        raise SystemExit("Set ENTWINED_DATA to the folder of the surveys.")  # what was kept stays
    figures = {name: gains(name) for name in FILES}
    for name, found in figures.items():
        print(f"  {name}: " + ", ".join(f"{key} {gain:.2f}" for key, gain in found.items()))
    return figures
