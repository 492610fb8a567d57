"""What a reader sees, held against the whole table: intervals must cover the truth, and labels must be honest.

Tables are drawn that nobody prepared: skewed categories, amounts that are mostly zero, groups whose size goes with
their members' values, rows in an order that tells of them. Each is released many times; every number in the file of
values is compared with the truth of the whole table, or with that of the sentence that says what it is about. Where the rows of a group were sampled, the interval of the noise is
joined with the exact error of the sample, which the sentence leaves out.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

import entwined as ew
from entwined.queries import Count, GroupBy, Histogram, Marginal, Mean, Share, Total
from entwined.report.findings import findings
from entwined.report.values import arrow_table
from entwined.schema import Boolean, Categorical, Integer, Text
from entwined.schema.unit import Person

Z = 1.96  # standard errors in an interval
WRONG = 1 / 3  # a published number that is further off than this, as a part of the truth, is a wrong label
SIZES = (120, 400, 1_500, 6_000)
LOSSES = (Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(3))


@dataclass(frozen=True, eq=False)
class Population:
    """A table, how it is released, and what counts as a row: all alike, or each group's rows up to a bound."""

    name: str
    frame: pd.DataFrame
    schema: ew.Schema
    dependence: tuple = ()
    group: str = ""
    bound: int = 0

    @property
    def weights(self):
        """What each row counts for: rows of a group beyond the bound share it."""
        if not self.group:
            return np.ones(len(self.frame))
        sizes = self.frame.groupby(self.group)[self.group].transform("size").to_numpy()
        return np.minimum(1.0, self.bound / sizes)


@dataclass(frozen=True, eq=False)
class Tally:
    """Numbers released, how many intervals covered the truth, labels given, and published numbers far off."""

    numbers: int = 0
    covered: int = 0
    published: int = 0
    wrong: int = 0

    def __add__(self, other):
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def coverage(self):
        return self.covered / self.numbers


def rows_of(rng, size):
    """Skewed answers, a rare one, amounts that are mostly zero, and values that go with the order of the rows."""
    tail = rng.uniform(0.5, 2.5)
    chances = np.arange(1, 9) ** -tail
    answers = rng.choice(list("abcdefgh"), size, p=chances / chances.sum())
    amounts = np.where(rng.random(size) < 0.7, 0, rng.gamma(1.0, 300, size)).astype(int)
    ages = np.sort(rng.integers(18, 90, size)) if rng.random() < 0.5 else rng.integers(18, 90, size)
    women = rng.random(size) < 0.2 + 0.6 * (ages > 50)
    return pd.DataFrame({"answer": answers, "amount": amounts, "age": ages, "woman": women})


COLUMNS = (
    Categorical("answer", tuple("abcdefgh")),
    Integer("amount", 0, 2_000),
    Integer("age", 18, 90),
    Boolean("woman"),
)


def of_rows(rng, size=0):
    """Rows that are persons."""
    frame = rows_of(rng, size or int(rng.choice(SIZES)))
    public = {"rows": len(frame)} if rng.random() < 0.5 else {"most_rows": 10_000}
    return Population("rows", frame, ew.Schema(COLUMNS, **public).approve())


def of_groups(rng, size=0):
    """Rows in homes of up to seven, whose members are the older the larger the home; at most three of each count."""
    frame = rows_of(rng, size or int(rng.choice(SIZES))).sort_values("age", ignore_index=True)
    homes = np.repeat(np.arange(len(frame)), 1 + (7 * np.arange(len(frame)) // len(frame)))[: len(frame)]
    frame["home"] = homes
    schema = ew.Schema((*COLUMNS, Text("home", compare="exact")), most_rows=10_000).approve()
    return Population("groups", frame, schema, (ew.Declared(ew.Groups(largest=3), by="home"),), "home", 3)


def of_persons(rng, size=0):
    """Visits of persons: who comes often reads other pages, and the bound leaves most of their visits out."""
    people = (size or int(rng.choice(SIZES))) // 4 + 20
    visits = 1 + rng.geometric(0.25, people).clip(max=40)
    who = np.repeat(np.arange(people), visits)
    often = np.repeat(visits, visits) > 5
    frame = rows_of(rng, len(who))
    frame["answer"] = np.where(often & (rng.random(len(who)) < 0.7), "a", frame["answer"])
    frame["person"] = who
    schema = ew.Schema(
        (*COLUMNS, Text("person", compare="exact")), unit=Person("person", 5), most_rows=100_000
    ).approve()
    return Population("persons", frame, schema, (), "person", 5)


POPULATIONS = {"rows": of_rows, "groups": of_groups, "persons": of_persons}
QUESTIONS = {
    "answers": Histogram("answer"),
    "answers of women and men": Marginal(("answer", "woman")),
    "over 60": Count(where="age > 60"),
    "women among those over 40": Share(where="woman", of="age > 40"),
    "mean amount": Mean("amount"),
    "mean age of women": Mean("age", where="woman"),
    "total amount": Total("amount"),
    "amounts by answer": GroupBy(("answer",), "amount"),
}


def truths(population):
    """The whole table's answer to every question, each row counting for its weight, and the error of the sample."""
    frame = population.frame
    ones, women, over_40 = np.ones(len(frame)), frame["woman"].to_numpy(), frame["age"].to_numpy() > 40
    amount, age = frame["amount"].clip(0, 2_000).to_numpy(), frame["age"].to_numpy()
    by_answer = [(answer, (frame["answer"] == answer).to_numpy()) for answer in "abcdefgh"]
    of_sex = [("false", ~women), ("true", women)]
    for answer, there in by_answer:
        yield ("answers", answer, None), total(population, there)
        yield ("amounts by answer", answer, None), total(population, amount * there)
        for sex, same in of_sex:
            yield ("answers of women and men", answer, sex), total(population, there & same)
    yield ("over 60", None, None), total(population, age > 60)
    yield ("total amount", None, None), total(population, amount)
    yield ("women among those over 40", None, None), ratio(population, women & over_40, over_40)
    yield ("mean amount", None, None), ratio(population, amount, ones)
    yield ("mean age of women", None, None), ratio(population, age * women, women)


def total(population, adds):
    """Add up weighted rows; the standard error is that of simple random samples within the groups beyond the bound."""
    adds, weights = np.asarray(adds, dtype=float), population.weights
    value = float(weights @ adds)
    if not population.group:
        return value, 0.0
    groups = pd.Series(adds).groupby(population.frame[population.group].to_numpy())
    sizes, spread = groups.size().to_numpy(), groups.var().fillna(0.0).to_numpy()
    large = sizes > population.bound
    return value, float(np.sqrt((population.bound * spread * (1 - population.bound / sizes))[large].sum()))


def ratio(population, above, below):
    """Divide two totals; the error of the sample is that of the linearised numerator."""
    (up, _), (down, _) = total(population, above), total(population, below)
    error = total(population, np.asarray(above, dtype=float) - up / down * np.asarray(below))[1]
    return up / down, error / down


def looked_at(folder, population, loss, releases):
    """Release the questions many times, at losses that hardly differ, and compare every number with its truth."""
    true, result = dict(truths(population)), Tally()
    with ew.open(
        population.frame,
        population.schema,
        dependence=population.dependence,
        ledger=folder / "ledger.sqlite",
        cap=100 * releases,
    ) as door:
        for at in range(releases):
            release = door.release(QUESTIONS, loss=loss + Fraction(at, 10**6))
            numbers = arrow_table(findings(release, list(QUESTIONS), population.schema)).to_pandas()
            result += compared(numbers, true)
    return result


def compared(numbers, true):
    """Hold a file of values against the truth."""
    numbers = numbers.replace({np.nan: None})
    result = Tally()
    for row in numbers.to_dict("records"):
        key = row["statistic"], row.get("answer"), row.get("answer_2")
        if key not in true:  # cells that nobody is in, such as missing
            continue
        value, (truth, sample_error) = row["value"], true[key]
        low, high = (
            value + np.copysign(np.hypot(end - value, Z * sample_error), end - value)
            for end in (row["low"], row["high"])
        )
        published = row["quality"] == "publish"
        far = abs(value - truth) > WRONG * abs(truth)
        result += Tally(1, low <= truth <= high, published, published and far)
    return result
