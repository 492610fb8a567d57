"""Surveys: the error of all histograms beside plain Laplace noise, and what learning takes.

One half of the rows, drawn at random, plays a public pilot wave: the model is learned from it, and what it shows of
the survey's design is taken as confirmed. The other half is released. The surveys are those of ENTWINED_DATA.
"""

import csv
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.random import Generator

from bench.counts import python_of
from entwined.bounds import Knowledge
from entwined.bounds.allocate import share
from entwined.bounds.calibrate import invert
from entwined.bounds.messages import message_passing_bound
from entwined.dependence import BayesNet
from entwined.door.door import Door
from entwined.learning.codes import NOT_ASKED, Codes, public_codes
from entwined.learning.models import learn
from entwined.learning.pairs import pair_counts
from entwined.learning.private import Budget, NoisyTables, learn_privately
from entwined.learning.structure import network, tree
from entwined.ledger import Ledger
from entwined.loss import Leakage, Loss
from entwined.noise import DiscreteLaplace
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.request.verbs import release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Coded, Integer, Real, Schema
from entwined.survey.sense import blank_codes, decided_columns, forms
from entwined.survey.sharing import OnTree
from entwined.survey.survey import Survey, SurveyPlan, plan_survey
from entwined.tables import open_table

FILES: Final = {
    "anes_pilot_2006": "anes_pilot_2006/anes_pilot_2006.csv",
    "anes_pilot_2020": "anes_pilot_2020/anes_pilot_2020ets.csv.gz",
}
TARGETS: Final = (0.1, 1.0, 10.0)
KNOWLEDGE: Final[tuple[Knowledge, ...]] = ("any", "model")
SEEDS: Final = (0, 1, 2)
TRIALS: Final = 20
RANDOM_FORM: Final = 0.02  # nats that a question asked of all may tell about a form that was drawn at random
WIDTHS: Final = (50, 100, 200, 400, 700, 1000)
PEERS: Final = {
    "pyagrum": ["pyagrum==3.3.1", "pandas<3"],
    "pgmpy": [  # with torch, which it asks for and does not need here, left out
        "--no-deps", "pgmpy==0.1.22", "numpy<2", "pandas<2.2", "scipy<1.14", "scikit-learn<1.6", "networkx<3.4",
        "statsmodels", "patsy", "joblib", "threadpoolctl", "tqdm", "opt_einsum", "pyparsing", "packaging",
        "python-dateutil", "pytz", "tzdata", "six", "cloudpickle", "loky", "typing_extensions", "wrapt",
    ],
}  # fmt: skip


def folder_of_data() -> Path:
    """Find the data."""
    return Path(os.environ.get("ENTWINED_DATA", "../shared/data"))


def file_of(name: str) -> Path:
    """Find a survey."""
    return folder_of_data() / FILES[name]


def codebook(path: Path) -> Schema:
    """Declare the questions with 2 to 12 answers, as a codebook would; an empty answer is one where it occurs."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        rows = csv.reader(file)
        names = next(rows)
        answers: list[set[str]] = [set() for _ in names]
        for row in rows:
            for found, answer in zip(answers, row, strict=True):
                found.add(answer)
    questions = [
        Categorical(name, tuple(sorted(found - {""})), missing="value" if "" in found else "drop")
        for name, found in zip(names, answers, strict=True)
        if 2 <= len(found - {""}) <= 12
    ]
    return Schema(tuple(questions))


@dataclass(frozen=True, eq=False)
class Halves:
    """A survey cut in two."""

    survey: Survey
    plain: Survey
    rest: Codes


def complete(schema: Schema) -> tuple[str, ...]:
    """List the questions that nobody left out."""
    return tuple(
        column.name for column in schema.columns if isinstance(column, Coded) and column.missing == "drop"
    )


def halves(codes: Codes, seed: int, dropped: tuple[str, ...]) -> Halves:
    """Learn the design from one half at random."""
    order = np.random.default_rng(seed).permutation(codes.rows)
    pilot, rest = codes.some(order[: codes.rows // 2]), codes.some(order[codes.rows // 2 :])
    table = "one half of the rows, as a pilot wave"
    plain = Survey(pilot, table, missing_says_nothing=dropped, dropped=dropped)
    return Halves(designed(pilot, table, dropped), plain, rest)


def designed(pilot: Codes, table: str, dropped: tuple[str, ...]) -> Survey:
    """Take what a pilot shows of the design as confirmed, and that answers which nobody left out say so of nothing.

    Wherever an answer is missing, missing is an answer.
    """
    pairs = pair_counts(pilot)
    proposed = forms(pairs, blank_codes(pairs))
    form = next((one for one in proposed[:1] if one.information < RANDOM_FORM), None)
    decided = decided_columns(pairs, (form.column,) if form else ())
    return Survey(pilot, table, decided, form, missing_says_nothing=dropped, dropped=dropped)


def histogram(codes: Codes, name: str) -> Any:
    """Count the answers to one question."""
    at = codes.place(name)
    there = codes.values[:, at][codes.values[:, at] != NOT_ASKED]
    return np.bincount(there, minlength=codes.sizes[at])


def simulated(plan: SurveyPlan, rest: Codes, random: Generator) -> float:
    """Release all histograms once with the real noise, and give their squared error."""
    survey = plan.survey
    laws = survey.fillings if plan.filled else {}
    noisy: dict[str, Any] = {}
    truth = {name: histogram(rest, name)[: survey.cells[name]] for name in rest.names}
    for name in reversed(survey.released):  # the form first
        exact = truth[name]
        noise = DiscreteLaplace.for_loss(plan.losses[name], 2)  # type: ignore[arg-type]  # a whole number
        blank = survey.blanks.get(name)
        if blank is None:
            noisy[name] = noise.add(exact)
            continue
        answers = np.delete(exact, blank.code)
        others = np.delete(noisy[blank.by], list(blank.asked)).sum()
        if name in laws:
            filled = random.multinomial(int(exact[blank.code]), laws[name] / laws[name].sum())
            answers = noise.add(answers + filled) - others * laws[name]
        else:
            answers = noise.add(answers)
        noisy[name] = np.insert(answers.astype(float), blank.code, others)
    for one in survey.decided:
        found = np.zeros(len(histogram(rest, one.column)) + 1)  # −1, an answer nobody gave, is the last
        np.add.at(found, list(one.answers[: len(noisy[one.by])]), noisy[one.by])
        noisy[one.column] = found[: survey.cells[one.column]]
    return sum(float(np.sum((noisy[name] - truth[name]) ** 2)) for name in rest.names)


def errors(codes: Codes, dropped: tuple[str, ...]) -> list[dict[str, Any]]:
    """Compare expected L2 errors; simulate some, so that the formula is held against the noise itself."""
    found = []
    for seed in SEEDS:
        cut = halves(codes, seed, dropped)
        for knowledge in KNOWLEDGE:
            for target in TARGETS if seed == 0 else (1.0,):
                planned = plan_survey(cut.survey, target, knowledge, cut.rest.rows)
                record: dict[str, Any] = {
                    "half": seed, "knowledge": knowledge, "leakage": target, "filled": planned.filled,
                    "gain": planned.gain, "l2": planned.squared_error**0.5,
                    "plain_l2": planned.plain_squared_error**0.5,
                }  # fmt: skip
                if seed == 0:
                    answer = replace(cut.survey, missing_says_nothing=())
                    record["gain_if_missing_is_an_answer"] = plan_survey(
                        answer, target, knowledge, cut.rest.rows
                    ).gain
                if cut.survey.form is not None:
                    public = replace(cut.survey, public_form=True)
                    record["gain_if_the_form_is_public"] = plan_survey(public, target, knowledge, 0).gain
                if seed == 0 and target == 1.0:
                    random = np.random.default_rng(7)
                    drawn = [simulated(planned, cut.rest, random) for _ in range(TRIALS)]
                    record["simulated_l2"] = float(np.mean(drawn)) ** 0.5
                    record["without_survey_sense"] = plan_survey(cut.plain, target, knowledge, 0).gain
                    record["curve"] = curve(planned)
                found.append(record)
                print("  " + ", ".join(f"{key} {value}" for key, value in record.items()))
    return found


def curve(plan: SurveyPlan) -> dict[str, float]:
    """Give the leakage of the same losses if every log odds were larger."""
    terms = plan.survey.terms(plan.knowledge, filled=plan.filled)
    answers = plan.survey.learned.model
    found = {}
    for larger in (0.1, 0.25, 0.5):
        model = cast(BayesNet, answers.stronger(larger))
        found[f"{larger:.0%}"] = terms.with_answers(model).leakage(plan.shared.losses).worst
    return found


def seconds(columns: int, codes: Codes | None = None) -> dict[str, float]:
    """Measure learning a tree, and a network with two parents, from so many columns of 3,080 rows."""
    if codes is None:
        random = np.random.default_rng(columns)
        first = random.integers(0, 6, (3080, 1))
        keep = random.random((3080, columns)) < 0.4
        values = np.where(keep, first, random.integers(0, 6, (3080, columns)))
        codes = Codes.of({f"q{n}": 6 for n in range(columns)}, values)
    began = time.process_time()
    pairs = pair_counts(codes)
    tree(pairs)
    middle = time.process_time()
    network(pairs, 2)
    return {"tree_cpu": middle - began, "network_cpu": time.process_time() - middle}


def whole(path: Path, knowledge: Knowledge, *, public: bool) -> None:
    """In a process of its own, through the door: two files in, all histograms and a certificate out."""
    schema = replace(codebook(path), unit=Cells())
    with tempfile.TemporaryDirectory() as name:
        pilot, rest, rows = split(path, Path(name))
        schema = replace(schema, rows=rows).approve()
        began = time.process_time()
        seen = designed(public_codes(pilot, schema), pilot.name, complete(schema))
        survey = replace(seen, public_form=public)
        planned = plan_survey(survey, 1.0, knowledge, rows, at_the_door=True)
        queries, shares = planned.questions(schema)
        model = Declared(planned.model, name=survey.learned.title, missing_says_nothing=survey.unsaid)
        accountant = Promise.of(schema, [model], knowledge)
        with (
            Ledger.create(
                Path(name) / "ledger.db", Fraction(1), accountant, anchor=Path(name) / "anchor"
            ) as ledger,
            open_table(rest, schema) as table,
        ):
            given = release(
                table,
                queries,
                ledger=ledger,
                leakage=1,
                dependence=[model],
                knowledge=knowledge,
                shares=shares,
            )
            leakage = float(ledger.spent().price.worst)
        taken = time.process_time() - began
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024
    found = {
        "knowledge": knowledge, "model": model.model.kind, "public_form": public, "cpu": taken, "megabytes": peak,
        "histograms": len(queries), "leakage": leakage,
        "theorem": given.certificate["models"][0]["certificate"]["theorem"]["name"],
        "gain": planned.gain * float(Fraction(given.certificate["loss_of_each_statistic"])),
        "verified": verify(given.certificate, schema).valid,
    }  # fmt: skip
    print(json.dumps(found))


def split(path: Path, folder: Path) -> tuple[Path, Path, int]:
    """Write two random halves of the rows as files of their own."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        head, *rows = file.read().splitlines(keepends=True)
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    half = len(rows) // 2
    files = folder / "pilot.csv", folder / "rest.csv"
    for to, part in zip(files, (order[:half], order[half:]), strict=True):
        to.write_text(head + "".join(rows[at] for at in part))
    return *files, len(rows) - half


def adult_schema() -> Schema:
    """Declare Adult, one answer a unit; what another column decides (education) is left out."""
    words = (
        "workclass",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native-country",
        "income",
    )
    listed: dict[str, set[str]] = {word: set() for word in words}
    for name in ("adult_train", "adult_test"):
        with gzip.open(folder_of_data() / "adult" / f"{name}.csv.gz", "rt") as file:
            for row in csv.DictReader(file):
                for word in words:
                    listed[word].add(row[word])
    steps = {"age": 10, "fnlwgt": 100_000, "capital-gain": 10_000, "capital-loss": 500, "hours-per-week": 10}
    ends = {
        "age": 100,
        "fnlwgt": 1_500_000,
        "capital-gain": 100_000,
        "capital-loss": 5000,
        "hours-per-week": 100,
    }
    grids = [Real(name, Fraction(0), Fraction(ends[name]), Fraction(step)) for name, step in steps.items()]
    categories = [Categorical(word, tuple(sorted(found))) for word, found in listed.items()]
    years = Integer("education-num", 1, 16)
    return Schema((*grids, years, *categories), unit=Cells(), rows=32_561).approve()


def adult() -> list[dict[str, Any]]:
    """Learn a tree from the test part as a proxy, or from the rows themselves with a budget inside the total."""
    schema, folder = adult_schema(), folder_of_data() / "adult"
    weights = np.array([column.size for column in schema.columns if isinstance(column, Coded)], dtype=float)
    plain = len(weights) * np.sqrt(weights.sum())
    proxy = learn(public_codes(folder / "adult_test.csv.gz", schema), "the test part of Adult").model
    found = []
    for target in TARGETS:
        noisy, spent = adult_privately(schema, folder, Fraction(str(target)))
        for knowledge in KNOWLEDGE:
            record: dict[str, Any] = {"knowledge": knowledge, "leakage": target}
            terms = OnTree(proxy, knowledge)
            record["proxy"] = plain / target / share(terms, weights, target).cost ** 0.5
            terms = OnTree(noisy.smoothed().model, knowledge)
            shape = share(terms, weights, target).losses
            record["private"] = plain / target / beside(terms.leakage, spent, shape, weights, target)
            record["learning_alone_leaks"] = terms.leakage(spent).worst
            if knowledge == "any":
                margin = partial(messages, noisy.with_margin("0.95").model)
                held = beside(margin, spent, np.cbrt(weights), weights, target)
                record["private_with_margin"] = plain / target / held
            found.append(record)
            print("  " + ", ".join(f"{key} {value}" for key, value in record.items()))
    return found


def messages(model: BayesNet, losses: Any) -> Leakage:
    """Bound what losses leak under the worst law of a class."""
    return message_passing_bound(Loss(losses), model)


def beside(leakage: Callable[[Any], Leakage], spent: Any, shape: Any, weights: Any, target: float) -> float:
    """Give the root of the weighted squared scales of the largest losses that fit beside what is spent."""
    multiple = invert(lambda at: leakage(spent + at * shape).worst, target)
    return float(np.sqrt(np.sum(weights / (multiple * shape) ** 2)))


def adult_privately(schema: Schema, folder: Path, target: Fraction) -> tuple[NoisyTables, Any]:
    """Learn with a thousandth of the total for the choices and a fiftieth for the tables; give what it cost."""
    with (
        tempfile.TemporaryDirectory() as place,
        open_table(
            shutil.copy(folder / "adult_train.csv.gz", place), schema
        ) as table,  # a table has one ledger
        Ledger.create(
            Path(place) / "ledger.db", Fraction(100), Promise.of(schema), anchor=Path(place) / "anchor"
        ) as ledger,
    ):
        noisy = learn_privately(Door(table, Promise.of(schema), ledger), Budget(target / 1000, target / 50))
        spent = {json.loads(part.key)["column"]: float(part.both) for part in ledger.spent().parts}
    return noisy, np.array([spent[name] for name in noisy.names])


def peers(codes: Codes, folder: Path) -> dict[str, float]:
    """Let others learn from the same codes: the whole tree if they can, else networks of ten columns each."""
    np.save(folder / "codes.npy", codes.values)
    found = {"entwined": seconds(0, codes)["tree_cpu"]}
    for peer, packages in PEERS.items():
        script = Path(__file__).parent / "peers" / f"{peer}_trees.py"
        words = [str(python_of(peer, packages)), str(script), str(folder / "codes.npy")]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found[peer] = float(done.stdout.split()[-1])
    return found


def run(names: Sequence[str] = tuple(FILES)) -> dict[str, Any]:
    """Print and return all figures."""
    figures: dict[str, Any] = {"columns": {}}
    if not folder_of_data().is_dir():
        print("Only the time of learning: set ENTWINED_DATA to the folder of the surveys for the rest.")
    else:
        print("adult")
        figures["adult"] = adult()
    for columns in WIDTHS:
        figures["columns"][columns] = seconds(columns)
        print(f"{columns} columns: {figures['columns'][columns]}")
    for name in (one for one in names if file_of(one).exists()):
        print(name)
        schema = codebook(file_of(name))
        codes = public_codes(file_of(name), schema)
        figures[name] = {"rows": codes.rows, "questions": len(codes.names)}
        figures[name]["errors"] = errors(codes, complete(schema))
        figures[name]["whole"] = []
        for knowledge, public in itertools.product(KNOWLEDGE, ("secret", "public")):
            words = [sys.executable, "-m", "bench.surveys", str(file_of(name)), knowledge, public]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            figures[name]["whole"].append(json.loads(done.stdout))
        with tempfile.TemporaryDirectory() as folder:
            figures[name]["tree_cpu"] = peers(codes, Path(folder))
        print(f"  {figures[name]['whole']}, {figures[name]['tree_cpu']}")
    for_the_paper({name: figures[name]["errors"] for name in names if name in figures})
    return figures


def for_the_paper(errors_of: dict[str, list[dict[str, Any]]]) -> None:
    """Keep our errors in the form that `entwined paper tabular-ddp --beside` shows, counted as that paper counts.

    It takes a histogram to move by 1 where an answer changes, which is half of what it does.
    """
    titles = {"anes_pilot_2006": "ANES Pilot 2006", "anes_pilot_2020": "ANES Pilot 2020"}
    with (Path(__file__).parent / "results" / "surveys_beside.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["survey", "method", "private", "width", "epsilon", "error", "standard_error"])
        for name, found in errors_of.items():
            for one in (one for one in found if one["half"] == 0):
                method = f"entwined, knowledge {one['knowledge']}"
                rows.writerow([titles[name], method, True, "", one["leakage"], one["l2"] / 2, 0.0])


if __name__ == "__main__":
    whole(Path(sys.argv[1]), "any" if sys.argv[2] == "any" else "model", public=sys.argv[3] == "public")
