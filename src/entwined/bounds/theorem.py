"""A theorem: a pure function from loss and model to leakage, whose docstring is the theorem."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_type_hints

from entwined.dependence import Dependence
from entwined.errors import BadInput, BadLoss, DoesNotApply
from entwined.loss import Leakage, Loss

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

PARTS = ("Theorem", "Checked", "Trusted", "Proof", "Source")


@dataclass(frozen=True)
class Theorem(Generic[Model]):
    """A bound with its statement: what it says, what is checked, what must be believed, and why."""

    name: str
    knowledge: Knowledge
    title: str
    statement: str
    checked: str
    trusted: str
    proof: str
    source: str
    about: type[Model]
    bound: Callable[[Loss, Model], Leakage]

    def covers(self, knowledge: Knowledge) -> bool:
        """Whether the adversary of this theorem knows at least this much."""
        if knowledge not in KNOWLEDGE:
            raise BadInput(f"Knowledge {knowledge!r} is unknown. Use {', '.join(map(repr, KNOWLEDGE))}.")
        return KNOWLEDGE.index(self.knowledge) <= KNOWLEDGE.index(knowledge)

    def __call__(self, loss: Loss, model: Dependence) -> Leakage:
        """Bound the leakage of each unit, or say why this theorem does not apply."""
        if not isinstance(model, self.about):
            raise DoesNotApply(f"It is about {plural(self.about)}, not about {model.plural}.")
        if not model.fits(loss.units):
            raise BadLoss(f"The loss has {loss.units} units, the model {model.units}. Give one a unit.")
        return self.bound(loss, model)


def theorem(knowledge: Knowledge) -> Callable[[Callable[[Loss, Model], Leakage]], Theorem[Model]]:
    """Make a function a theorem; refuse one whose docstring lacks a part."""

    def state(function: Callable[[Loss, Model], Leakage]) -> Theorem[Model]:
        title, parts = read_statement(function)
        about: type[Model] = get_type_hints(function)["model"]
        name = function.__name__.removesuffix("_bound").replace("_", " ")
        texts = {part.lower(): parts[part] for part in PARTS[1:]}
        return Theorem(name, knowledge, title, parts["Theorem"], **texts, about=about, bound=function)

    return state


def read_statement(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
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
