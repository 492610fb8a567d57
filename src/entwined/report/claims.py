"""What a certificate promises, in words for someone who is in the table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from entwined.dependence.gaussian import GaussianLaws, members_of
from entwined.report.words import figure, readable
from entwined.schema.unit import Unit, unit_from

LONGEST_SENTENCE: Final = 600
BELIEFS: Final = (0.01, 0.1, 0.5)
NEARLY: Final = 0.999
ADVERSARIES: Final = {
    "any": "knows how the data depend on each other and may even know every other value, or anything that "
    "depends on one of them",
    "values": "knows how the data depend on each other and may even know every other value, each exactly or not at all",
    "model": "knows how the data depend on each other, but nobody's values",
}
SOURCES: Final = {
    "declared": "declared as public knowledge",
    "proxy": "learned from another, public table",
    "learned": "learned from this table with a budget of its own",
    "exploratory": "learned from this table without a budget, for planning only",
}


@dataclass(frozen=True, slots=True)
class Belief:
    """How far a reader's belief can be moved: a chance before, and the most it can be after."""

    before: str
    after_this: str
    after_all: str


@dataclass(frozen=True)
class Claims:
    """The certificate of a release, read for people."""

    certificate: Mapping[str, Any]

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """The certified models."""
        return list(self.certificate["models"])

    @property
    def secret(self) -> str:
        """What the promise is about."""
        if self.models and len(self._by_distance) == len(self.models):
            return " and ".join(map(_between, self._by_distance))
        may_leave = not self.models and self.certificate["neighbours"] == "add_remove"
        return self.unit.presence if may_leave else self.unit.content

    @property
    def unit(self) -> Unit:
        """Whose secret it is."""
        return unit_from(self.certificate["unit"])

    @property
    def adversary(self) -> str:
        """Who it is promised against."""
        if not self.models:
            return "may know everybody else's values, all of them independent of yours"
        known = self.certificate["knowledge"]
        exactly = any(_is_gaussian(model["declared"]["model"]) for model in self._by_distance)
        return ADVERSARIES["values" if known == "any" and exactly else known]

    @property
    def _by_distance(self) -> list[Mapping[str, Any]]:
        """The models that are about values by their distance."""
        return [
            model
            for model in self.models
            if _is_gaussian(model["declared"]["model"]) or _within(model) is not None
        ]

    @property
    def leakage(self) -> float:
        """The most that this release leaks on its own, under the worst of its models."""
        if not self.models:
            return float(exact(self.certificate["nominal"]))
        return max(float(model["certificate"]["leakage"]) for model in self.models)

    @property
    def delta(self) -> str:
        """The chance with which nothing is promised, rounded up; empty for noise that always keeps it."""
        return figure(float(exact(self.certificate["delta"])), up=True) if "delta" in self.certificate else ""

    @property
    def total(self) -> float:
        """The most that everything released so far leaks together."""
        return worst(self.certificate["total"])

    @property
    def cap(self) -> float:
        """The most that everything ever released may leak."""
        return float(exact(self.certificate["total"]["cap"]))

    @property
    def beliefs(self) -> list[Belief]:
        """The most that a belief can become, for a few beliefs."""
        return [
            Belief(
                f"{100 * before:.0f} %", share(after(before, self.leakage)), share(after(before, self.total))
            )
            for before in BELIEFS
        ]

    @property
    def counted_rows(self) -> list[str]:
        """Which rows the numbers are about, where not every row counts once."""
        return [readable(sentence, LONGEST_SENTENCE) for sentence in self.certificate["counted_rows"]]

    @property
    def trusted(self) -> list[str]:
        """Everything that must be believed, each once."""
        said = [*self.certificate["trusted"]]
        for model in self.models:
            said += model["certificate"]["trusted"]
        return list(dict.fromkeys(said))


def _is_gaussian(model: Mapping[str, Any]) -> bool:
    """Whether a model is about values by their distance."""
    return model.get("kind") == GaussianLaws.kind


def _within(model: Mapping[str, Any]) -> float | None:
    """How far apart two places of a secret are at most, where a certificate is about places by their distance."""
    loss = model["certificate"]["inputs"]["loss"]
    return float(exact(loss["within"])) if isinstance(loss, Mapping) and "within" in loss else None


def _between(model: Mapping[str, Any]) -> str:
    """Say which secrets a model of distances is about."""
    within = _within(model)
    if within is not None:
        told = readable(" and ".join(model["declared"]["columns"]))
        return f"which of any two places at most {figure(within)} apart you are at, by {told}"
    low, high = (figure(float(exact(end))) for end in model["certificate"]["inputs"]["loss"]["bounds"])
    (column,) = model["declared"]["columns"]
    return f"which of any two values between {low} and {high} the row about you has in {readable(column)}"


def worst(price: Mapping[str, Any]) -> float:
    """The number that a cap is on: the largest leakage, or the nominal ε where no model is declared."""
    leakage = [exact(amount) for amount in price["leakage"].values()]
    return float(max(leakage) if leakage else exact(price["nominal"]))


def exact(amount: str | float) -> Fraction | float:
    """Read an amount as documents hold it."""
    return Fraction(amount) if isinstance(amount, str) else amount


def after(before: float, leakage: float) -> float:
    """Bound a belief: odds grow by at most exp(leakage).

    >>> round(after(0.5, 1.0), 3)
    0.731
    """
    return 1 / (1 + (1 - before) / before * math.exp(-leakage))


def share(chance: float) -> str:
    """Write a chance, rounded up.

    >>> share(0.7310585), share(0.99999)
    ('73.2 %', 'over 99.9 %')
    """
    return "over 99.9 %" if chance > NEARLY else f"{math.ceil(chance * 1000) / 10:.1f} %"


def model_words(declared: Mapping[str, Any]) -> str:
    """Say what a declared model says about the table."""
    model = declared["model"]
    by = f" that share a value of {readable(declared['by'])}" if declared.get("by") else ""
    match model:
        case {"kind": "groups", "largest": largest}:
            return (
                f"groups of at most {largest:,}{by}: inside one anything may depend on anything, "
                "and different groups are independent"
            )
        case {"kind": "markov_chain" | "endless_chain"}:
            steps = (
                f"of at most {model['length']:,} steps" if "length" in model else "of steps without an end"
            )
            return f"series {steps}{by}, each of which depends on the one before it"
        case {"kind": "bayes_net", "variables": variables}:
            return f"a network of causes between {len(variables):,} quantities{_hidden(model)}"
        case {"kind": "forms", "form": form, "asked": asked, "answers": {"variables": variables}}:
            return (
                f"a questionnaire in {len(asked):,} forms drawn at random, named by {readable(form)}, with a network "
                f"of causes between the answers to {len(variables):,} questions{_hidden(model['answers'])}"
            )
        case {"kind": "random_field", "variables": variables}:
            return f"a field of {len(variables):,} quantities that pull at their neighbours"
        case {"kind": "graph"}:
            return f"a network{by} in which neighbours depend on each other{_capped(model)}"
        case {"kind": "gaussian"}:
            told = readable(", ".join(declared.get("columns", ())) or "values")
            return (
                f"{told} of groups of at most {members_of(model):,}{by}: numbers that vary together, Gaussian"
            )
        case {"kind": "places"}:
            told = ", ".join(declared.get("columns", ()))
            where = f", which {readable(told)} say" if told else ""
            return f"a city{by} in which friends are near each other{where}"
        case {"kind": "independent"}:
            return "nothing depends on anything else"
    return f"a model of kind {readable(model.get('kind', 'unknown'))}"


def _capped(model: Mapping[str, Any]) -> str:
    most = model.get("most_ties")
    return "" if most is None else f"; of anyone's ties no more than {most:,} say anything"


def _hidden(model: Mapping[str, Any]) -> str:
    count = len(model.get("hidden", ()))
    return f", {count:,} of them hidden" if count else ""


def times(leakage: float) -> str:
    """Say what a leakage does to odds."""
    return figure(math.exp(leakage), up=True) if leakage < 50 else "more than 10²¹"  # noqa: PLR2004  (e^50)
