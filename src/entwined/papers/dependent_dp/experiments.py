"""Everything that the paper shows, computed anew on the data at hand."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput, BadTable
from entwined.numbers import FloatArray
from entwined.papers.dependent_dp import accuracy, classification, degree_counts, star, towns
from entwined.papers.dependent_dp import twins as twin_data
from entwined.papers.dependent_dp.classification import Alike, Profiles, alikeness
from entwined.papers.dependent_dp.closeness import Colours, Region, colours, layout, pair_distances, regions
from entwined.papers.dependent_dp.clustering import clustering
from entwined.papers.dependent_dp.composition import Claim, claims
from entwined.papers.dependent_dp.degree_counts import SocialGraph
from entwined.papers.dependent_dp.example import Separation, separations
from entwined.papers.dependent_dp.inference import Attackable, Guessed, Prior, guesses, prior_of_one
from entwined.papers.dependent_dp.noise_factors import (
    PLAIN,
    PUBLISHED,
    Coefficients,
    NoiseMethod,
    coefficients,
    kernel_log_odds,
    linear_factor,
    methods,
    sound_factor,
    strongest_ties,
)
from entwined.papers.dependent_dp.per_kilometre import PerKilometre, per_kilometre
from entwined.papers.dependent_dp.towns import Town
from entwined.papers.dependent_dp.twins import Twins
from entwined.papers.dependent_dp.utility import Utility

FOLDER: Final = "ENTWINED_DATA"
TRIALS: Final = 100  # splits and draws; the paper's figure 9(a) has 1000
SEED: Final = 3  # figures are the same on every machine; noise for people never comes from here
FEWEST_TARGETS: Final = 20
QUIET: Final = NoiseMethod("without noise", 1e-6)
UNDERESTIMATES: Final = (0.8, 0.9)


@dataclass(frozen=True, slots=True)
class PaperData:
    """What the figures are drawn from."""

    town: Town
    profiles: Profiles
    graph: SocialGraph
    twins: list[Twins]
    twins_source: str


class TiedTable(NamedTuple):
    """One table: how its people depend on each other, every method, and how weak ties must be for a sound bound."""

    table: str
    source: str
    people: int
    most_ties: int
    component: int
    methods: list[NoiseMethod]
    strongest: float | None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything that was found, and nothing that could be released."""

    trials: int
    data: PaperData
    separations: list[Separation]
    claims: list[Claim]
    coefficients: list[Coefficients]
    regions: list[Region]
    colours: Colours
    drawn: FloatArray
    distances: dict[str, FloatArray]
    prior: Prior
    guesses: list[Guessed]
    added: list[star.AddedLeak]
    per_kilometre: list[PerKilometre]
    ties: list[TiedTable]
    reaches: list[accuracy.Exceeded]
    needed: list[accuracy.Needed]
    tenth: list[accuracy.Tenth]
    alike: Alike
    utilities: list[Utility]

    def document(self) -> Document:
        """The same as JSON, `infinite` spelled out."""
        return {
            "trials": self.trials,
            "separations": rows(self.separations),
            "theorems": [{**plain(one._asdict()), "holds": one.holds} for one in self.claims],
            "coefficients": rows(self.coefficients),
            "table_1": rows(self.regions),
            "figure_2": {"inside": self.colours.inside, "by_chance": self.colours.by_chance},
            "figure_3_median_kilometres": {
                kind: float(np.median(one)) for kind, one in self.distances.items()
            },
            "attacks": rows(self.guesses),
            "added": rows(self.added),
            "per_kilometre": rows(self.per_kilometre),
            "methods": [
                {"table": table.table, **one._asdict(), "promises": one.promises}
                for table in self.ties
                for one in table.methods
            ],
            "ties": [
                {name: value for name, value in table._asdict().items() if name != "methods"}
                for table in self.ties
            ],
            "figure_8a": rows(self.reaches),
            "figure_8b": rows(self.needed),
            "theorem_10": [{**one._asdict(), "refuted": one.refuted} for one in self.tenth],
            "largest_printed_similarity": self.alike.printed_largest,
            "utility": rows(self.utilities),
        }


def rows(found: Any) -> list[Document]:
    """Named tuples as documents."""
    return [plain(one._asdict()) for one in found]


def plain(fields: Document) -> Document:
    """JSON has no infinity."""
    return {
        name: "infinite" if isinstance(value, float) and value == np.inf else value
        for name, value in fields.items()
    }


def paper_data() -> PaperData:
    """What lies below the folder that ENTWINED_DATA names; what does not, or without it, is generated."""
    named = os.environ.get(FOLDER)
    files = (f"{towns.FOLDER}/{towns.FILES[0]}", classification.FILE, degree_counts.FILE, twin_data.FILE)
    there = [bool(named) and (Path(str(named)) / file).is_file() for file in files]
    if named and not any(there):
        raise BadTable(
            f"{FOLDER}={named} has none of {', '.join(files)}. Put one there, or unset {FOLDER} to use generated data."
        )
    folder = Path(named or ".")
    return PaperData(
        towns.gowalla(folder) if there[0] else towns.made_up(),
        classification.adult(folder) if there[1] else classification.made_up(),
        degree_counts.facebook(folder) if there[2] else degree_counts.made_up(),
        twin_data.twins(folder) if there[3] else twin_data.made_up(),
        files[3] if there[3] else "generated pairs",
    )


def run(data: PaperData, trials: int = TRIALS) -> Reproduction:
    """Run every experiment."""
    if trials < 1:
        raise BadInput(f"{trials} trials cannot be run. Give 1 or more.")
    generator = np.random.default_rng(SEED)
    alike = alikeness(data.profiles)
    ties = [_friends(data.town), _profiles(data.profiles, alike), _graph(data.graph)]
    friends, profiles, graph = (one.methods for one in ties)
    targets = max(FEWEST_TARGETS, 2 * trials)
    place = Attackable.of(data.town, targets, generator)
    utilities = [
        *clustering(data.town, friends, trials, generator),
        *classification.classification(data.profiles, [QUIET, *profiles], trials, generator),
        *degree_counts.degree_counts(data.graph, graph, trials, generator),
    ]
    return Reproduction(
        trials=trials,
        data=data,
        separations=separations(),
        claims=claims(generator),
        coefficients=[coefficients(loss) for loss in (0.1, 1.0)],
        regions=regions(data.town),
        colours=colours(data.town, generator),
        drawn=layout(data.town, generator),
        distances=pair_distances(data.town, generator),
        prior=prior_of_one(place),
        guesses=guesses(place, _attacked(friends, data.town), generator),
        added=_added(data, targets, generator),
        per_kilometre=per_kilometre(data.town),
        ties=ties,
        reaches=accuracy.reaches(friends),
        needed=accuracy.needed(friends),
        tenth=accuracy.tenth(generator),
        alike=alike,
        utilities=utilities,
    )


def _added(data: PaperData, draws: int, generator: np.random.Generator) -> list[star.AddedLeak]:
    """What plain counts add about the person with most friends, and about twins."""
    found = star.friends_attack(int(data.town.degrees.max()), draws, generator)
    for one in data.twins:
        found += star.twins_attack(one.law, one.kind)
    return found


def _attacked(friends: list[NoiseMethod], town: Town) -> list[NoiseMethod]:
    """Plain noise, the paper's, and the paper's with underestimated coefficients (figure 7)."""
    by_name = {one.name: one for one in friends}
    rho = coefficients(0.1).published
    less = [
        NoiseMethod(f"{PUBLISHED}, ρ × {share:g}", 1 + share * rho * int(town.degrees.max()))
        for share in UNDERESTIMATES
    ]
    return [by_name[PLAIN], by_name[PUBLISHED], *less]


def _friends(town: Town) -> TiedTable:
    sound = sound_factor(town.size, town.friends, kernel_log_odds())
    most = int(town.degrees.max())
    every = methods(town.size, town.component, most, sound, linear_factor(town.vectors))
    return TiedTable(
        "friends",
        town.source,
        town.size,
        most,
        town.component,
        every,
        _strongest(town.size, town.friends, every),
    )


def _profiles(profiles: Profiles, alike: Alike) -> TiedTable:
    every = methods(profiles.size, alike.component, alike.most_ties, alike.component, alike.most_similarity)
    return TiedTable(
        "profiles", profiles.source, profiles.size, alike.most_ties, alike.component, every, None
    )


def _graph(graph: SocialGraph) -> TiedTable:
    most = int(graph.degrees.max())
    every = methods(graph.people, graph.component, most, graph.component, None)
    strongest = _strongest(graph.people, graph.ties, every)
    return TiedTable("graph", graph.source, graph.people, most, graph.component, every, strongest)


def _strongest(people: int, ties: "np.ndarray[Any, np.dtype[np.int64]]", every: list[NoiseMethod]) -> float:
    """How weak ties must be for the sound bound to ask for no more noise than the paper's mechanism."""
    return strongest_ties(people, ties, next(one.factor for one in every if one.name == PUBLISHED))
