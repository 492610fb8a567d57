"""A theorem: a pure function from exposure and model to leakage, whose docstring is the theorem."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeVar, get_args, get_type_hints

import numpy as np

from entwined.bounds.exposure import Exposure, Given
from entwined.canonical import Document
from entwined.dependence import Dependence
from entwined.errors import BadInput, BadLoss, DoesNotApply, EntwinedError, Refused
from entwined.loss import Leakage

Knowledge = Literal["any", "values", "model"]
"""What the adversary knows besides the law, the most first.

any       of every other unit its value, or anything that depends on that value alone: a set that it is in, a
          function of it, a noisy reading of it. Each such thing tilts the law of that unit: it multiplies the
          joint law by a weight of one unit's value.
values    the values of any other units, and nothing of the rest
model     nothing
"""
KNOWLEDGE: Final[tuple[Knowledge, ...]] = get_args(Knowledge)
Model = TypeVar("Model", bound=Dependence)

ROUNDING: Final = 1e-12
OUT_OF_RANGE: Final = (
    "Losses or probabilities are too large, too small or too far apart for floats. Give less extreme ones."
)
PARTS = ("Theorem", "Checked", "Trusted", "Proof", "Source")


@dataclass(frozen=True, slots=True)
class Secret:
    """What an adversary wants to tell apart: `per` is said after the factor, `trusted` wherever it is claimed."""

    between: str
    per: str = ""
    trusted: str = ""


UNIT_VALUE: Final = Secret("any two values of any one unit")


@dataclass(frozen=True, slots=True)
class Outsider:
    """The distribution outside the package that a theorem comes from."""

    distribution: str
    version: str

    def __str__(self) -> str:
        """Name and version."""
        return f"{self.distribution} {self.version}"

    @property
    def document(self) -> Document:
        """The same as a part of a certificate."""
        return {"distribution": self.distribution, "version": self.version}

    @property
    def trusted(self) -> str:
        """What is believed by who takes a theorem from there."""
        return f"The theorems of {self}, which are not entwined's own, are right, and so is their code."


@dataclass(frozen=True)
class Theorem:
    """A bound with its statement: what it says, what is checked, what must be believed, and why.

    `takes` is the kind of exposure that it starts from, `needs` the facts that must be true of it, `about` the kind
    of model, `secret` what it protects. Where a theorem that it `yields_to` applies, this one says no less. `origin` is
    the distribution that one from outside the package comes from. Whatever it says of a unit, calling it says no less
    than the unit's own loss.
    """

    name: str
    knowledge: Knowledge
    secret: Secret
    title: str
    statement: str
    checked: str
    trusted: str
    proof: str
    source: str
    takes: type[Exposure]
    about: type[Dependence]
    claim: Callable[..., Leakage]
    needs: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    origin: Outsider | None = None

    def covers(self, knowledge: Knowledge) -> bool:
        """Whether the adversary of this theorem knows at least this much."""
        if knowledge not in KNOWLEDGE:
            raise BadInput(f"Knowledge {knowledge!r} is unknown. Use {', '.join(map(repr, KNOWLEDGE))}.")
        return KNOWLEDGE.index(self.knowledge) <= KNOWLEDGE.index(knowledge)

    def __call__(self, exposure: Exposure, model: Dependence) -> Leakage:
        """Bound the leakage of each unit, or say why this theorem does not apply."""
        if not isinstance(exposure, self.takes):
            raise DoesNotApply(f"It starts from {self.takes.plural}, not from {exposure.plural}.")
        if not isinstance(model, self.about):
            raise DoesNotApply(f"It is about {plural(self.about)}, not about {model.plural}.")
        if not model.fits(exposure.units):
            raise BadLoss(f"The loss has {exposure.units} units, the model {model.units}. Give one a unit.")
        if self.origin is not None:
            return self._gated(self._from_outside(exposure, model), exposure, model)
        with np.errstate(
            over="ignore", invalid="raise"
        ):  # what overflows is no bound, and what is no number none
            try:
                claimed = (
                    remembered(self.claim, exposure, model) if self.needs else self.claim(exposure, model)
                )
            except (FloatingPointError, OverflowError):
                raise DoesNotApply(OUT_OF_RANGE) from None
        return self._gated(claimed, exposure, model)

    def _gated(self, claimed: object, exposure: Exposure, model: Dependence) -> Leakage:
        """Let through one number ≥ 0 a unit, none below what ordinary differential privacy gives the unit by itself.

        A law may say that a unit is constant or that a value cannot be, and then a theorem has nothing to bound; a row
        that is otherwise is not covered by the model, and its own loss is what protects it. A larger number bounds too.
        """
        if not isinstance(claimed, Leakage) or claimed.per_unit.shape != (exposure.units,):
            raise Refused(f"The theorem {self.name!r} gives no leakage of each unit. Do not trust it.")
        if not (claimed.per_unit >= 0).all():
            raise Refused(f"The theorem {self.name!r} gives a leakage below 0. Do not trust it.")
        own = exposure.own_loss(self.knowledge)
        if self.origin is not None:
            short = np.delete(claimed.per_unit < own * (1 - ROUNDING), list(model.unprotected))
            if short.any():
                raise Refused(
                    f"The theorem {self.name!r} claims that less leaks than the losses themselves show, which cannot "
                    "be: a mechanism may show a unit to who knows all the others. Do not trust it."
                )
        at_least = np.maximum(claimed.per_unit, own)
        aside = list(model.unprotected)
        at_least[aside] = claimed.per_unit[aside]
        return Leakage(at_least, hidden=model.hidden)

    def _from_outside(self, exposure: Exposure, model: Dependence) -> object:
        """Ask what another package wrote; refuse whatever it fails with."""
        try:
            return self.claim(exposure, model)
        except EntwinedError:
            raise
        except Exception as reason:
            raise Refused(
                f"The theorem {self.name!r} failed: {type(reason).__name__}. Do not trust it."
            ) from reason


@lru_cache(maxsize=32)
def remembered(claim: Callable[..., Leakage], exposure: Exposure, model: Dependence) -> Leakage:
    """Ask once what takes long: a price, its certificate and its curve begin with the same bound."""
    return claim(exposure, model)


def theorem(
    knowledge: Knowledge,
    *,
    secret: Secret = UNIT_VALUE,
    trusted: str = "",
    needs: tuple[str, ...] = (),
    yields_to: tuple[str, ...] = (),
) -> Callable[[Callable[[Given, Model], Leakage]], Theorem]:
    """Make a function a theorem; refuse one whose docstring lacks a part.

    `trusted` is what several theorems say in the same words: it is said before what the docstring says, and after
    it what the secret asks for.
    """

    def state(function: Callable[[Given, Model], Leakage]) -> Theorem:
        title, parts = read_statement(function)
        takes, about = list(get_type_hints(function).values())[:2]
        return Theorem(
            name=function.__name__.removesuffix("_bound").replace("_", " "),
            knowledge=knowledge,
            secret=secret,
            title=title,
            statement=parts["Theorem"],
            checked=parts["Checked"],
            trusted=" ".join(filter(None, (trusted, parts["Trusted"], secret.trusted))),
            proof=parts["Proof"],
            source=parts["Source"],
            takes=takes,
            about=about,
            claim=function,
            needs=needs,
            yields_to=yields_to,
        )

    return state


def read_statement(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """Split a docstring into its title and its five parts."""
    title, *paragraphs = re.split(r"\n\s*\n", inspect.getdoc(function) or "")
    parts: dict[str, str] = {}
    current = ""
    for paragraph in paragraphs:
        text = " ".join(paragraph.split())
        head, _, rest = text.partition(". ")
        if head in PARTS:
            current = head
            parts[head] = rest
        elif current:
            parts[current] += "\n" + text
    missing = [part for part in PARTS if not parts.get(part)]
    if missing or not title:
        raise TypeError(
            f"{function.__name__} is no theorem: its docstring lacks {', '.join(missing) or 'a title'}."
        )
    return " ".join(title.split()), parts


def plural(about: type[Dependence]) -> str:
    """Name the models that a theorem is about."""
    return getattr(about, "plural", f"{getattr(about, 'kind', about.__name__)} models")
