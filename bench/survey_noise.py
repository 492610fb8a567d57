"""Surveys with Gaussian noise: the L2 error of all histograms at ε and δ beside every other noise, and what it takes.

The pilot is one half of the rows, as in `bench.surveys`; the other half is released with the noise itself. Each plan
is made in a process of its own, so that its time and its memory are its own.
"""

import json
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.surveys import (
    FILES,
    KNOWLEDGE,
    TARGETS,
    TRIALS,
    Halves,
    codebook,
    complete,
    file_of,
    halves,
    histogram,
)
from entwined.bounds import Knowledge
from entwined.bounds.profiles.curves import largest_shift
from entwined.learning.codes import Codes, public_codes
from entwined.noise import DiscreteGaussian
from entwined.noise.filling import drawn
from entwined.survey.sharing import UnderNoise
from entwined.survey.survey import WEIGHED, SurveyPlan, plan_survey

DELTA: Final = Fraction(1, 10**6)


@lru_cache(maxsize=1)
def cut_in_two(name: str) -> Halves:
    """Learn the design and the tree from one half."""
    schema = codebook(file_of(name))
    return halves(public_codes(file_of(name), schema), 0, complete(schema))


def simulated(plan: SurveyPlan, rest: Codes) -> float:
    """Release all histograms once with the real noise, and give their squared error."""
    survey = plan.survey
    noisy: dict[str, Any] = {}
    truth = {name: histogram(rest, name)[: survey.cells[name]] for name in rest.names}
    for name in reversed(survey.released):  # the form first
        noise = DiscreteGaussian.for_rho(plan.losses[name], Fraction(2))
        blank = survey.blanks.get(name)
        if blank is None:
            noisy[name] = noise.add(truth[name])
            continue
        others, answers = (
            np.delete(noisy[blank.by], list(blank.asked)).sum(),
            np.delete(truth[name], blank.code),
        )
        if plan.filled:
            law = survey.fillings[name]
            blanks = rest.rows - int(answers.sum())
            weights = np.maximum(1, np.round(law * WEIGHED)).astype(np.int64).tolist()
            answers = noise.add(answers + drawn(blanks, weights)) - others * law
        else:
            answers = noise.add(answers)
        noisy[name] = np.insert(answers.astype(float), blank.code, others)
    for one in survey.decided:
        found = np.zeros(len(truth[one.column]) + 2)  # −1, an answer nobody gave, is the last
        np.add.at(found, list(one.answers[: len(noisy[one.by])]), noisy[one.by])
        noisy[one.column] = found[: survey.cells[one.column]]
    return sum(float(np.sum((noisy[name] - truth[name]) ** 2)) for name in rest.names)


def planned(name: str, knowledge: Knowledge, target: float) -> dict[str, Any]:
    """Plan one survey for one promise, and hold it against what else could be done."""
    cut = cut_in_two(name)
    survey, rows = cut.survey, cut.rest.rows
    found = survey.learned.model.units  # learned before the clock starts
    began = time.process_time()
    plan = plan_survey(survey, target, knowledge, rows, at_the_door=True, delta=DELTA)
    taken = time.process_time() - began
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024
    pure = plan_survey(survey, target, knowledge, rows, at_the_door=True)
    errors = [simulated(plan, cut.rest) for _ in range(TRIALS)]
    leaks = plan.shared.leakage.per_unit / target
    terms = UnderNoise(survey.terms(knowledge, filled=plan.filled), DELTA)
    alone = largest_shift(Fraction(target), DELTA) ** 2 / 2
    record: dict[str, Any] = {
        "knowledge": knowledge, "leakage": target, "questions": found, "cpu": taken, "megabytes": peak,
        "worst": plan.shared.leakage.worst, "gain_over_plain_gaussian":
        (plan.plain_errors["plain Gaussian noise"] / plan.squared_error) ** 0.5,
        "l2": plan.squared_error**0.5, "simulated_l2": float(np.mean(errors)) ** 0.5, "filled": plan.filled,
        **{noise: error**0.5 for noise, error in plan.plain_errors.items()},
        "Laplace noise, shared": pure.squared_error**0.5,
        "share_of_answers_at_the_target": float(np.mean(leaks > 0.95)), "median_answer": float(np.median(leaks)),
        "form_takes": float(terms.base(plan.shared.losses).rhos[-1]) / alone if survey.form else 0.0,
    }  # fmt: skip
    if target == 1.0:
        others = {"if_smoothed_by_1/4": replace(survey, smoothing=0.25)}
        others |= {"if_the_form_is_public": replace(survey, public_form=True)} if survey.form else {}
        for name_of, other in others.items():
            error = plan_survey(other, target, knowledge, rows, delta=DELTA).squared_error
            record[f"gain_{name_of}"] = (
                record["gain_over_plain_gaussian"] * (plan.squared_error / error) ** 0.5
            )
    return record


def run(names: tuple[str, ...] = tuple(FILES)) -> dict[str, Any]:
    """Print and return all figures."""
    figures: dict[str, Any] = {}
    for name in (one for one in names if file_of(one).exists()):
        figures[name] = []
        for target in TARGETS:
            for knowledge in KNOWLEDGE:
                words = [sys.executable, "-m", "bench.survey_noise", name, knowledge, str(target)]
                done = subprocess.run(words, capture_output=True, text=True, check=True)
                figures[name].append(json.loads(done.stdout))
                print(f"  {name}: {figures[name][-1]}")
    if not figures:
        print("Set ENTWINED_DATA to the folder of the surveys.")
    return figures


if __name__ == "__main__":
    print(json.dumps(planned(sys.argv[1], "any" if sys.argv[2] == "any" else "model", float(sys.argv[3]))))
