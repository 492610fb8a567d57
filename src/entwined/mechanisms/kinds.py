"""Every kind of mechanism, by the name in its document: a certificate is derived again from there."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from entwined.door.mechanism import Mechanism
from entwined.errors import BadCertificate
from entwined.mechanisms.batch import Batch
from entwined.mechanisms.classifiers.regression import LinearSVM, LogisticRegression
from entwined.mechanisms.degrees import Degrees
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.identity import Identity
from entwined.mechanisms.k_means import KMeans
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.moments import NoisyMoments
from entwined.mechanisms.offered import Offered
from entwined.mechanisms.streams.followed import Followed
from entwined.mechanisms.streams.stream import Stream
from entwined.mechanisms.structure_search import StructureSearch
from entwined.mechanisms.transitions import TransitionCounts
from entwined.mechanisms.veiled import VeiledAnswers
from entwined.mechanisms.veiled_regression import VeiledRegression
from entwined.promise.promise import Promise


class Readable(Protocol):
    """A class of mechanisms that can be read back."""

    kind: str

    def from_document(self, document: Mapping[str, Any], promise: Promise) -> Mechanism[Any]:
        """Read a mechanism as it was written."""


OFFERED: Final[Mapping[str, type[Offered]]] = {
    one.kind: one
    for one in (
        *(KMeans, Degrees, Identity, LogisticRegression, LinearSVM, VeiledRegression),
        *(Synthesis, HouseholdTables, Stream),
    )
}
"""What a release file may ask for."""
WITH_NOISE_OPTIONS: Final[frozenset[str]] = frozenset({Stream.kind})
"""What may go without the δ that a release allows, where its error is smaller so."""
KINDS: Final[tuple[Readable, ...]] = (
    Batch,
    StructureSearch,
    TransitionCounts,
    NoisyMoments,
    KMeans,
    Degrees,
    Identity,
    LogisticRegression,
    LinearSVM,
    Synthesis,
    HouseholdTables,
    VeiledAnswers,
    VeiledRegression,
    Stream,
    Followed,
)
_BY_NAME: Final = {kind.kind: kind for kind in KINDS}


def mechanism_from(document: Mapping[str, Any], promise: Promise) -> Mechanism[Any]:
    """Read a mechanism from its document."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in _BY_NAME:
        raise BadCertificate(
            f"It is about a mechanism of kind {kind!r:.60}. Known are {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[kind].from_document(document, promise)
