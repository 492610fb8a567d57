"""Theorems from outside the package: other distributions register them, and who trusts these by name has them asked.

    [project.entry-points."entwined_theorems"]
    couples = "couples_theorem:couples_bound"         what a distribution writes in its pyproject.toml

A wrong theorem claims less than leaks, and its code runs with the holder's rights: neither can be checked here. So
nothing is loaded because it is installed. `trusting` names the distributions whose theorems are asked beside those of
the package; what they prove says where it comes from, by name and version, wherever it is shown, and a certificate is
derived again only by who trusts the same. Checked are the form (a function under `@theorem`, with its five parts) and,
each time, that a leakage has one number a unit and is not below the losses themselves, which no theorem can be.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from entwined.bounds.theorem import KNOWLEDGE, Outsider, Theorem, read_statement
from entwined.dependence import Dependence
from entwined.errors import BadInput, Refused

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP: Final = "entwined_theorems"
SAY_SO: Final = "trusting=[{name!r}] in Python, --trusting {name} on the command line"


def registered() -> tuple[Outsider, ...]:
    """List the distributions that register theorems here; nothing of them is loaded."""
    from importlib.metadata import entry_points

    found = {point.dist.name: point.dist.version for point in entry_points(group=GROUP) if point.dist}
    return tuple(Outsider(name, version) for name, version in sorted(found.items()))


def theorems_of(trusting: Iterable[str]) -> tuple[Theorem, ...]:
    """Load the theorems of the distributions that are trusted, each checked for its form."""
    if isinstance(trusting, str):
        raise BadInput(f"trusting = {trusting!r:.60} is a text. Give a list of distributions' names.")
    return tuple(found for name in dict.fromkeys(trusting) for found in _theorems(name))


def _theorems(name: str) -> tuple[Theorem, ...]:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution(name)
    except (PackageNotFoundError, ValueError):
        raise Refused(
            f"The theorems of {name!r:.60} are trusted, and it is not installed here. Install it, or leave it out."
        ) from None
    points = tuple(installed.entry_points.select(group=GROUP))
    if not points:
        raise BadInput(
            f"{name!r:.60} registers no theorem: it has no entry point in {GROUP!r}. Leave it out."
        )
    return _loaded(points, Outsider(_plain(installed), installed.version))


def _plain(installed: "Distribution") -> str:
    return installed.name.lower().replace("_", "-")


@lru_cache(maxsize=64)
def _loaded(points: "tuple[EntryPoint, ...]", origin: Outsider) -> tuple[Theorem, ...]:
    """Load each once for a version."""
    found = tuple(_checked(point, origin) for point in points)
    if len({theorem.name for theorem in found}) < len(found):
        raise BadInput(
            f"{origin} registers two theorems of one name. Ask whoever wrote it for another version."
        )
    return found


def _checked(point: "EntryPoint", origin: Outsider) -> Theorem:
    where = f"The theorem {point.name!r:.60} of {origin}"
    try:
        found = point.load()
    except Exception as reason:  # noqa: BLE001  (whatever another package does when it is imported)
        raise BadInput(
            f"{where} cannot be loaded: {type(reason).__name__}: {reason!s:.200}. Mend it, or leave it out."
        ) from None
    if not isinstance(found, Theorem):
        raise BadInput(f"{where} is a {type(found).__name__}. Put the function under @theorem.")
    try:
        read_statement(found.claim)
    except TypeError as reason:
        raise BadInput(f"{where}: {reason}") from None
    if found.knowledge not in KNOWLEDGE or not _is_model(found.about):
        raise BadInput(f"{where} is not about a model and an adversary that entwined has.")
    if not hasattr(found.takes, "from_document"):
        raise BadInput(f"{where} starts from {found.takes!r:.60}, which no certificate could name.")
    return replace(found, name=f"{found.name} ({origin})", origin=origin)


def _is_model(about: object) -> bool:
    return isinstance(about, type) and issubclass(about, Dependence)


def refuse_strangers(named: Iterable[str], trusting: Iterable[str]) -> None:
    """Refuse to load theorems that a document names and nobody here said to trust."""
    for name in sorted({*named} - {*trusting}):
        raise Refused(
            f"It rests on theorems that are not entwined's own. If you trust those of {name!r:.60}, say so: "
            f"{SAY_SO.format(name=name)}."
        )


def stated(written: Mapping[str, Any], trusting: Iterable[str]) -> Theorem:
    """Find the theorem from outside that a certificate names, at the very version that it names."""
    origin = Outsider(str(written["from"]["distribution"]), str(written["from"]["version"]))
    name = origin.distribution
    refuse_strangers([name], trusting)
    for theorem in theorems_of([name]):
        if theorem.origin == origin and theorem.name == written["name"]:
            return theorem
    (here,) = {theorem.origin.version for theorem in theorems_of([name]) if theorem.origin is not None}
    raise Refused(
        f"It rests on the theorem {written['name']!r:.80}, and {name} {here} is installed here, which has none of that "
        f"name and version. Install {name}=={origin.version}."
    )
