"""What a service is started with, and everything that it keeps open while it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from entwined.errors import BadInput
from entwined.web.addresses import Addresses
from entwined.web.issuer import Issuer
from entwined.web.offers import Offer
from entwined.web.padding import STEP
from entwined.web.passes import SHOWN, Pass, Passes
from entwined.web.rates import Rate
from entwined.web.records import Records
from entwined.web.turns import Turns

PASSES: Final = "analysts.json"
RECORDS: Final = "service.sqlite"
STATE: Final = ".entwined"
"""The folder of the service's own files, inside the folder that it is for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken at once; times are in seconds."""

    fresh_at_once: int = 4
    waiting_each: int = 32
    visits_per_second: float = 100
    visits_at_once: float = 200
    wrong_passes_per_second: float = 0.2
    wrong_passes_at_once: float = 10
    step: float = STEP


@dataclass(frozen=True, eq=False)
class House:
    """The tables on offer, who may ask, and the queues before the door."""

    folder: Path
    offers: Mapping[str, Offer]
    passes: Passes
    records: Records
    limits: Limits = Limits()
    addresses: Addresses = field(default_factory=Addresses)
    issuer: Issuer | None = None
    visits: Rate = field(init=False)
    wrong: Rate = field(init=False)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        given = self.limits
        object.__setattr__(self, "visits", Rate(given.visits_per_second, given.visits_at_once))
        object.__setattr__(self, "wrong", Rate(given.wrong_passes_per_second, given.wrong_passes_at_once))
        object.__setattr__(self, "turns", Turns(given.fresh_at_once, given.waiting_each))

    @classmethod
    def open(
        cls,
        folder: Path,
        requests: Sequence[Path] = (),
        limits: Limits | None = None,
        addresses: Addresses | None = None,
        issuer: Issuer | None = None,
    ) -> Self:
        """Open the tables of request files, each known by the name of its file."""
        if not folder.is_dir():
            raise BadInput(f"{folder!s:.200} is no folder. Name the folder of the tables.")
        if len({path.stem for path in requests}) < len(requests):
            raise BadInput("Two requests have the same name. Rename one of the files.")
        state = folder / STATE
        state.mkdir(mode=0o700, exist_ok=True)
        passes, offers = Passes(state / PASSES), dict[str, Offer]()
        try:
            for path in requests:
                offers[path.stem] = Offer.open(path, passes.earmark)
            records = Records(state / RECORDS)
            return cls(folder, offers, passes, records, limits or Limits(), addresses or Addresses(), issuer)
        except BaseException:
            for one in offers.values():
                one.close()
            raise

    def shown(self, header: str) -> Pass:
        """Find the pass of an Authorization header: our own token, or one of the issuer whose tokens are taken."""
        scheme, _, token = header.partition(" ")
        token = token.strip()
        if self.issuer is None or scheme.lower() != "bearer" or SHOWN.fullmatch(token) or not token:
            return self.passes.shown(header)
        return self.passes.of_subject(self.issuer.name, self.issuer.subject(token))

    def close(self) -> None:
        """Close every door and the records."""
        for one in self.offers.values():
            one.close()
        self.records.close()
