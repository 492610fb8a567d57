"""Secrets about whole columns as a part of a promise, and what is said of single rows beside them.

Attribute privacy counts the randomness of the data as noise, so what it lets out may carry little noise or none: it
protects no row. So a promise with secrets says one of two things. Either individuals are not protected: that is said
first wherever the release is shown, no price is asked for rows, and nothing else leaves the table, neither before nor
after. Or rows are priced as always, under a δ, and one noise keeps both promises.

How secrets compose is proved for answers that leave together. So everything leaves in one batch, as under other
promises of one batch: the ledger refuses a second one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.guards import SecretGuard
from entwined.bounds.attributes.joint_secrets import TOGETHER, JointGuard
from entwined.bounds.attributes.laplace_noise import is_pure
from entwined.bounds.attributes.quilt_guard import QuiltGuard
from entwined.canonical import Document
from entwined.errors import BadInput, Refused
from entwined.schema import Schema

NOT_PROTECTED: Final = "not protected"
PROTECTED: Final = "protected"
FIRST_LINE: Final = (
    "INDIVIDUALS ARE NOT PROTECTED: what was released may show what single rows say, for it has no more noise than "
    "the secrets below need."
)
KEPT_BY: Final = "keeps"
"""What a mechanism that keeps the secrets of its promise has in its document: how."""


@dataclass(frozen=True, slots=True)
class KeptSecrets:
    """The secrets that everything released keeps, and whether individuals are protected beside them."""

    guards: tuple[SecretGuard, ...]
    individuals: bool

    def __post_init__(self) -> None:
        titles = [one.secret.title for one in self.guards]
        if not titles or len(set(titles)) < len(titles):
            raise BadInput(
                f"The secrets {', '.join(titles)[:80]!r}. Give at least one, and each a name of its own."
            )

    def check(self, schema: Schema, *, models: bool, pure: bool) -> None:
        """Refuse a schema or models that these secrets cannot stand beside."""
        if schema.unit.by_column:
            raise Refused(
                "The schema protects cells, and secrets about whole columns are kept beside rows or persons alone. "
                "Declare "
                "another unit, or leave the secrets out."
            )
        for one in self.guards:
            if schema.rows is not None and schema.rows != one.secret.rows:
                raise BadInput(
                    f"The secret {one.secret.title!r} is about {one.secret.rows:,} rows, and the schema has "
                    f"{schema.rows:,}. "
                    "Give the same number."
                )
        if models and not self.individuals:
            raise BadInput(
                f'individuals = "{NOT_PROTECTED}", so a model of how they depend on each other bounds nothing. '
                "Leave the "
                "models out, or give a leakage."
            )
        if not pure and not self.individuals:
            raise BadInput(f'delta is for rows, and individuals = "{NOT_PROTECTED}". Leave delta out.')
        certain = is_pure(self.guards)
        if certain and not pure:
            raise Refused(
                "Secrets without a δ are kept by Laplace noise, and so are rows then. Leave delta out, or give each "
                "secret one."
            )
        if pure and self.individuals and not certain:
            raise Refused(
                "Secrets are kept by Gaussian noise, and that protects rows under a δ alone. Give delta = 1e-6 "
                "beside the "
                f'leakage, or say individuals = "{NOT_PROTECTED}".'
            )

    def require_kept(self, document: Mapping[str, Any]) -> None:
        """Refuse a mechanism that does not keep them."""
        if KEPT_BY not in document:
            raise Refused(
                f"{document.get('kind')!r:.60} does not keep the secrets of this promise. Ask for counts, means "
                "and totals "
                "of the release file, which do."
            )

    @property
    def says(self) -> str:
        """What is promised about them, in words."""
        said = " ".join(
            f"An observer cannot tell {one.secret.words}: whatever is seen, the odds of one against the other "
            "change by a "
            f"factor of at most exp({float(one.secret.epsilon):.6g}){but_for(one.secret.delta)}."
            for one in self.guards
        )
        return said if self.individuals else f"{FIRST_LINE} {said}"

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed, each sentence once."""
        told = [line for one in self.guards for line in one.trusted]
        return tuple(dict.fromkeys([*told, *(_read(one) for one in self.guards)]))

    @property
    def document(self) -> Document:
        """The secrets with their laws as JSON."""
        return {
            "individuals": PROTECTED if self.individuals else NOT_PROTECTED,
            "kept": [one.document for one in self.guards],
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read secrets as they were written."""
        individuals = {PROTECTED: True, NOT_PROTECTED: False}[given["individuals"]]
        return cls(tuple(map(_guard, given["kept"])), individuals)


def but_for(delta: Fraction) -> str:
    """Say the chance with which odds may change further, if there is one."""
    return f", but for a chance of {float(delta):.3g}" if delta else ""


def _guard(given: Mapping[str, Any]) -> SecretGuard:
    """Read what keeps a secret: laws of answers, those of several columns, or a network of parameters."""
    if TOGETHER in given:
        return JointGuard.from_document(given)
    return QuiltGuard.from_document(given) if "network" in given else Guarded.from_document(given)


def _read(one: SecretGuard) -> str:
    """Say how a set is read."""
    return {
        "worst point": f"{one.secret.title}: a set is read by its worst point, so every two points of it are kept "
        "apart.",
        "averaged": f"{one.secret.title}: a set is read as an average over its points, as the declared law of rows "
        "weighs "
        "them; single points of it may be told apart.",
    }[one.secret.reading]
