"""The paper's experiments: accuracy, chunk size, time by component, and what its claims are worth."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.papers.tabular_ddp.claims import Judgement, Setting, check
from entwined.papers.tabular_ddp.leaks import Leak, exact_counts_leakage, leak
from entwined.papers.tabular_ddp.mechanism import LearnedNetwork, l2_errors, plain_scales, timed
from entwined.papers.tabular_ddp.populations import (
    chain_of_bits,
    independent_bits,
    monty_hall,
    noisy_xor,
    star_of_bits,
)
from entwined.papers.tabular_ddp.readings import BY_FIGURES, BY_LEMMA, PRINTED, TOTALS, Reading
from entwined.papers.tabular_ddp.surveys import PaperSurvey
from entwined.progress import report

EPSILONS: Final = (0.1, 1.0, 10.0)
WIDTHS: Final = (5, 10, 15)
WIDTH: Final = 10  # of figures 5, 8 and 9
TRIALS: Final = 100
RUNS: Final = 5  # of figure 8
SIMULATIONS: Final = 20_000
SEED: Final = 8  # figures are the same on every machine; noise for people never comes from here
PLAIN: Final = "plain Laplace"
READINGS: Final = (PRINTED, BY_LEMMA, BY_FIGURES)
SETTINGS: Final = (Setting(10, 10), Setting(100, 10))


class Accuracy(NamedTuple):
    """The mean L2 error of a method over all histograms of a survey; `width` is None where there are no chunks."""

    survey: str
    method: str
    private: bool
    width: int | None
    epsilon: float
    error: float
    standard_error: float


class Timing(NamedTuple):
    """Mean CPU seconds of one run over a survey, by component."""

    survey: str
    width: int
    learning: float
    sensitivity: float
    noise: float


class Weighed(NamedTuple):
    """DS under one reading; `gain` is how many times smaller the noise is than that of plain Laplace."""

    survey: str
    width: int
    ratio: str
    zeros: str
    total: str
    edges: int
    mean_sensitivity: float
    gain: float
    questions_without_noise: int
    spent: float


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was found, and nothing that could be released."""

    surveys: tuple[PaperSurvey, ...]
    trials: int
    accuracy: tuple[Accuracy, ...]
    times: tuple[Timing, ...]
    weighed: tuple[Weighed, ...]
    verdicts: tuple[Judgement, ...]
    leaks: tuple[Leak, ...]
    exact_counts: tuple[float, tuple[int, ...]]

    def document(self) -> Document:
        """The same as JSON, `infinite` spelled out."""
        return {
            "trials": self.trials,
            "surveys": [
                {
                    "survey": one.name,
                    "source": one.source,
                    "questions": one.questions,
                    "responses": one.responses,
                    "questions_and_responses_in_the_paper": one.reported,
                }
                for one in self.surveys
            ],
            "accuracy": [_plain(one._asdict()) for one in self.accuracy],
            "seconds": [_plain(one._asdict()) for one in self.times],
            "sensitivity": [_plain(one._asdict()) for one in self.weighed],
            "claims": [_plain({**asdict(one), "refuted": one.refuted}) for one in self.verdicts],
            "leaks": [_plain(asdict(one)) for one in self.leaks],
            "exact_counts": _plain({"leakage": self.exact_counts[0], "counts": self.exact_counts[1]}),
        }


def _plain(fields: Document) -> Document:
    return {name: "infinite" if value == np.inf else value for name, value in fields.items()}


def run(surveys: Sequence[PaperSurvey], trials: int = TRIALS, beside: Sequence[Accuracy] = ()) -> Results:
    """Run every experiment; `beside` are error figures of other methods, to be shown with the paper's."""
    if trials < 1:
        raise BadInput(f"{trials} trials cannot be run. Give 1 or more.")
    generator = np.random.default_rng(SEED)
    accuracy, times, weighed = [*beside], [], []
    for survey in surveys:
        accuracy += [_plain_laplace(survey, epsilon, trials, generator) for epsilon in EPSILONS]
        for width in WIDTHS:
            learned, timing = _timed(survey, width, min(RUNS, trials), generator)
            times.append(timing)
            weighed += [_weighed(learned, reading) for reading in _all_readings()]
            for reading, epsilon in product(READINGS, EPSILONS):
                accuracy.append(_published(learned, reading, epsilon, trials, generator))
    verdicts = [one for setting in SETTINGS for one in check(setting, SIMULATIONS, generator)]
    exact = exact_counts_leakage(independent_bits(), 3, 0)
    return Results(
        tuple(surveys),
        trials,
        tuple(accuracy),
        tuple(times),
        tuple(weighed),
        tuple(verdicts),
        tuple(demonstrations()),
        exact,
    )


def demonstrations() -> list[Leak]:
    """Populations whose true leakage is infinite or above the promised 1, and some where it happens to hold."""
    cases: list[tuple[Any, Reading, int | None]] = [
        (independent_bits(), PRINTED, None),
        (chain_of_bits(2, 90), PRINTED, 1),
        (chain_of_bits(2, 60), PRINTED, None),
        (chain_of_bits(2, 90), PRINTED, None),
        (noisy_xor(), PRINTED, None),
        (chain_of_bits(5, 80), PRINTED, None),
        (chain_of_bits(5, 80), BY_FIGURES, None),
        (star_of_bits(4, 80), BY_FIGURES, None),
        (monty_hall(), Reading(zeros="kept"), None),
        (monty_hall(), PRINTED, None),
        (monty_hall(), Reading("family"), None),
    ]
    found = []
    for done, (population, reading, width) in enumerate(cases):
        found.append(leak(population, reading, width))
        report("true leakage", done + 1, len(cases))
    return found


def _all_readings() -> list[Reading]:
    ratios, zeros = ("pair", "family"), ("skipped", "smoothed", "kept")
    return [Reading(*one) for one in product(ratios, zeros, TOTALS)]  # type: ignore[arg-type]  # their own literals


def _timed(
    survey: PaperSurvey, width: int, runs: int, generator: np.random.Generator
) -> tuple[LearnedNetwork, Timing]:
    """Learn as often as figure 8 did and average; every run learns the same networks."""
    made = [timed(survey, width, PRINTED, generator) for _ in range(runs)]
    seconds = np.mean([(one.learning, one.sensitivity, one.noise) for _, one in made], axis=0)
    return made[0][0], Timing(survey.name, width, *(float(one) for one in seconds))


def _weighed(learned: LearnedNetwork, reading: Reading) -> Weighed:
    sensitivities = learned.sensitivities(reading)
    noise = learned.noise_against_plain(sensitivities)
    return Weighed(
        learned.survey.name,
        learned.width,
        reading.ratio,
        reading.zeros,
        TOTALS[reading.total],
        sum(len(list(chunk.network.edges)) for chunk in learned.chunks),
        float(np.mean(sensitivities)),
        1 / noise if noise else np.inf,
        learned.bare_questions(sensitivities),
        learned.spent,
    )


def _plain_laplace(
    survey: PaperSurvey, epsilon: float, trials: int, generator: np.random.Generator
) -> Accuracy:
    errors = l2_errors(plain_scales(survey, epsilon), trials, generator)
    return Accuracy(survey.name, PLAIN, True, None, epsilon, *_mean(errors))  # noqa: FBT003  (a named field)


def _published(
    learned: LearnedNetwork, reading: Reading, epsilon: float, trials: int, generator: np.random.Generator
) -> Accuracy:
    errors = l2_errors(learned.scales(learned.sensitivities(reading), epsilon), trials, generator)
    method = f"Tabular-DDP, {TOTALS[reading.total]}"
    return Accuracy(learned.survey.name, method, False, learned.width, epsilon, *_mean(errors))  # noqa: FBT003


def _mean(errors: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    if not np.isfinite(errors).all():
        return float("inf"), 0.0
    return float(errors.mean()), float(errors.std() / np.sqrt(len(errors)))
