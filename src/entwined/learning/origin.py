"""Where a learned model comes from: the one way in which a model becomes one that was learned.

A model learned from a public table carries the fingerprint of its rows, so that a release of the same rows under it is
refused, in whatever order, spelling and format. One learned from private rows with a budget names the ledger and the
receipt of its charge: a release under that ledger needs the entry, and the rollback guard keeps the same rows from
another ledger. The fingerprint of private rows would be an exact function of them, in a file that is published.
"""

from dataclasses import replace
from typing import Final, TypeVar

from entwined.dependence import BayesNet, Gaussian, LearnedFrom, LearningCharge, MarkovChain, MaxCorrelation
from entwined.dependence.model import Source
from entwined.ledger import Ledger

PRIVATE: Final = "the private table with a budget"
Model = TypeVar("Model", BayesNet, MarkovChain, Gaussian, MaxCorrelation)


def learned_model(model: Model, origin: LearnedFrom, *, planning_only: bool = False) -> Model:
    """Mark a model as learned: from public rows, with a budget, or from private rows for planning alone."""
    source: Source = "exploratory" if planning_only else "proxy" if origin.charge is None else "learned"
    return replace(model, source=source, learned_from=origin)


def charged_to(ledger: Ledger) -> LearnedFrom:
    """Name the ledger that learning was just charged to, and its last entry."""
    return LearnedFrom(PRIVATE, charge=LearningCharge(ledger.id, ledger.head().receipt))
