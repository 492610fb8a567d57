"""One target and three attackers: one believes in independence, one knows the model, one meets certified noise."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.audit.attack import RELEASES, Attack, attack, known_units
from entwined.audit.staging import Noised, Stage
from entwined.canonical import Document
from entwined.dependence import ProductLaw
from entwined.dependence.luck import made_up_luck

FORMAT: Final = "entwined attack 1"
SLACK: Final = 1e-9  # of a promise: rounding
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class Faced:
    """What three attackers learned who know the same share of the others."""

    share: float
    naive: Attack
    plain: Attack
    kept: Attack

    @property
    def document(self) -> Document:
        """The three attacks as JSON."""
        named = {"believes_independence": self.naive, "plain": self.plain, "certified": self.kept}
        return {"known_share": self.share, **{name: one.document for name, one in named.items()}}


@dataclass(frozen=True, eq=False)
class Attacked:
    """A stage with one target, attacked with every share of the others known."""

    stage: Stage
    faced: tuple[Faced, ...]

    @property
    def most_added(self) -> float:
        """The largest shift of log odds that plain noise allowed."""
        return max(one.plain.gained.at_worst for one in self.faced)

    @property
    def most_kept(self) -> float:
        """The largest shift of log odds that certified noise allowed."""
        return max(one.kept.gained.at_worst for one in self.faced)

    @property
    def document(self) -> Document:
        """The comparison as JSON."""
        stage = self.stage
        place = stage.law.people.index(stage.target)
        return {
            "model": stage.name,
            "kind": stage.model.kind,
            "units": len(stage.law.people),
            "target": stage.target,
            "target_name": stage.units[place],
            "values": list(stage.values[place]),
            "promised": stage.promised,
            "plain_leaks_at_most": stage.plain.certified,
            "certified_leaks_at_most": stage.kept.certified,
            "plain_added": self.most_added,
            "certified_added": self.most_kept,
            "plain_breaks_its_promise": self.most_added > stage.promised * (1 + SLACK),
            "left_out": list(stage.left_out),
            **stage.beside,
            "attacks": [one.document for one in self.faced],
        }


def compare(
    stage: Stage,
    *,
    shares: Sequence[float] = SHARES,
    releases: int = RELEASES,
    generator: np.random.Generator | None = None,
) -> Attacked:
    """Attack the target of a stage, in three ways for every share of the others that is known."""
    rng = generator or made_up_luck()
    return Attacked(stage, tuple(_faced(stage, share, releases, rng) for share in shares))


def _faced(stage: Stage, share: float, releases: int, rng: np.random.Generator) -> Faced:
    known = known_units(stage.law, stage.target, share, rng)
    (luck,) = rng.spawn(1)

    def met(noised: Noised, believed: ProductLaw, watched: int | None = None) -> Attack:
        return attack(
            stage.law,
            noised.shown,
            stage.target,
            known=known,
            releases=releases,
            believed=believed,
            watched=watched,
            generator=deepcopy(luck),  # all three meet the same people
        )

    plain = met(stage.plain, stage.law)
    watched = plain.ordinary.number
    naive = met(stage.plain, stage.law.independent, watched)
    return Faced(share, naive, plain, met(stage.kept, stage.law, watched))


def attack_document(found: Sequence[Attacked]) -> Document:
    """Write comparisons of one release as one JSON document."""
    return {"format": FORMAT, "people": "generated", "charged": 0, "models": [one.document for one in found]}
