"""Everything that the lecture shows, computed anew on the data at hand."""

from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.papers.datasynthesizer.lecture import (
    Agreed,
    Composed,
    Sensitive,
    consistent_answers,
    four_queries,
    sensitivities,
)
from entwined.papers.datasynthesizer.modes import EPSILONS, ModeTried, modes_tried
from entwined.papers.datasynthesizer.networks import (
    SLIDE_NETWORK,
    Dag,
    TableCompared,
    information,
    mean_off,
    searched,
    slide_compared,
)
from entwined.papers.datasynthesizer.people import FourColumns, compas
from entwined.papers.datasynthesizer.reconstruction import Reconstructed, reconstructions

TRIALS: Final = 20
SEED: Final = 2  # figures are the same on every machine; noise for people never comes from here


class Structure(NamedTuple):
    """A network that was found, with how much its parents say in all, and how often noise finds it again."""

    parents: int
    network: Dag
    information: float
    again: dict[float, float]


@dataclass(frozen=True, slots=True)
class LectureFound:
    """Everything that was found, and nothing that could be released."""

    trials: int
    data: FourColumns
    sensitivities: list[Sensitive]
    composed: list[Composed]
    agreed: list[Agreed]
    reconstructed: list[Reconstructed]
    slide: list[TableCompared]
    slide_information: float
    off: dict[float, float]
    structures: list[Structure]
    modes: list[ModeTried]
    compas: list[ModeTried]

    def document(self) -> Document:
        """The same as JSON."""
        return {
            "trials": self.trials,
            "source": self.data.source,
            "rows": self.data.codes.rows,
            "sensitivities": _rows(self.sensitivities),
            "four_queries": _rows(self.composed),
            "consistent": _rows(self.agreed),
            "reconstruction": _rows(self.reconstructed),
            "slide": [
                one._asdict() | {"same": one.same, "rounds": one.rounds, "misprint": one.is_misprint}
                for one in self.slide
            ],
            "slide_information": self.slide_information,
            "mean_off": {str(epsilon): off for epsilon, off in self.off.items()},
            "structures": [
                one._asdict() | {"network": said(one.network, self.data.codes.names)}
                for one in self.structures
            ],
            "modes": _rows(self.modes),
            "compas": _rows(self.compas),
        }


def said(network: Dag, names: tuple[str, ...]) -> str:
    """Write a network as a line."""
    parts = []
    for column, parents in network.parents[1:]:
        given = ", ".join(names[at] for at in parents)
        parts.append(f"{{{given}}} → {names[column]}" if len(parents) > 1 else f"{given} → {names[column]}")
    return ", ".join(parts)


def run(data: FourColumns, trials: int = TRIALS) -> LectureFound:
    """Run everything."""
    if trials < 1:
        raise BadInput(f"{trials} trials cannot be run. Give 1 or more.")
    generator = np.random.default_rng(SEED)
    codes, others = data.codes, compas()
    return LectureFound(
        trials=trials,
        data=data,
        sensitivities=sensitivities(),
        composed=four_queries(),
        agreed=consistent_answers(),
        reconstructed=reconstructions(trials, generator),
        slide=slide_compared(codes),
        slide_information=_said_in_all(data, SLIDE_NETWORK),
        off={epsilon: mean_off(codes, epsilon, trials, generator) for epsilon in EPSILONS},
        structures=[_structure(data, parents, trials, generator) for parents in (1, 2)],
        modes=modes_tried(codes, max(1, trials // 4), generator),
        compas=[] if others is None else modes_tried(others, max(1, trials // 4), generator),
    )


def _said_in_all(data: FourColumns, network: Dag) -> float:
    return sum(information(data.codes, column, some) for column, some in network.parents if some)


def _structure(data: FourColumns, parents: int, trials: int, generator: np.random.Generator) -> Structure:
    best = searched(data.codes, parents, inf, generator)
    again = {
        epsilon: float(
            np.mean([searched(data.codes, parents, epsilon / 2, generator) == best for _ in range(trials)])
        )
        for epsilon in EPSILONS
    }
    return Structure(parents, best, _said_in_all(data, best), again)


def _rows(found: Any) -> list[Document]:
    return [one._asdict() for one in found]
