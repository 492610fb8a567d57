"""`entwined attack`: what an adversary learns of one generated person; no row is read and nothing is charged."""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption
from entwined.cli.show import about, as_json, progress, say, table
from entwined.errors import BadInput
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.audit.comparison import Attacked
    from entwined.audit.staging import Stage

LARGEST_FILE = 1_000_000
WAYS = {
    "believes_independence": "independence, plain",
    "plain": "the model, plain",
    "certified": "the model, certified",
}
GENERATED = (
    "Everybody here is generated from the declared model. No row of a table was read and nothing was charged."
)


class Publishing(StrEnum):
    """What is published where only a model is given."""

    count = "count"  # type: ignore[assignment]  # texts can count, and here it is a name
    histogram = "histogram"
    each = "each"


Place = Annotated[
    Path | None,
    typer.Argument(metavar="RELEASE.toml|MODEL", help="A planned release, or a model.", readable=False),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", help="Whom to attack: a name or number; by default whoever leaks most."),
]
SharesOption = Annotated[
    list[float] | None,
    typer.Option("--known", help="The share of the others whose values are known; repeatable."),
]
ReleasesOption = Annotated[int, typer.Option("--releases", help="How many releases are simulated.")]
PromiseOption = Annotated[str, typer.Option("--leakage", help="With a model: the ε that is promised.")]
PublishOption = Annotated[
    Publishing, typer.Option("--publish", help="With a model: a count, a histogram, or each unit on its own.")
]
ValuesOption = Annotated[
    int, typer.Option("--values", help="With a model that leaves it open: how many values a unit has.")
]
FamilyOption = Annotated[
    bool, typer.Option("--family", help="Instead of a file: a generated family and a trait that runs in it.")
]
PageOption = Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    place: Place = None,
    target: TargetOption = None,
    known: SharesOption = None,
    releases: ReleasesOption = 200,
    leakage: PromiseOption = "1",
    publish: PublishOption = Publishing.count,
    values: ValuesOption = 2,
    family: FamilyOption = False,  # noqa: FBT002
    html: PageOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Attack a planned release on generated people: what was known before, and what the release adds."""
    from entwined.audit.comparison import SHARES, attack_document, compare

    if (place is None) != family:
        raise BadInput("Give a release.toml or a model to attack, or --family and no file.")
    with progress():
        stages = staged(place, target, leakage, publish, values) if place else family_stages(target, leakage)
        wanted = tuple(known) if known else SHARES
        found = [compare(stage, shares=wanted, releases=releases) for stage in stages]
        document = attack_document(found)
        if html is not None:
            from entwined.report import attack_page

            write_whole(html, attack_page(document))
    if as_document:
        as_json(document)
        return
    say(GENERATED)
    for one in found:
        show(one)
    if html is not None:
        say()
        say(f"The page is in {html}.")


def family_stages(target: str | None, leakage: str) -> "list[Stage]":
    """Take the generated family."""
    from entwined.audit.family import family_stage

    return [family_stage(leakage, target)]


def staged(place: Path, target: str | None, leakage: str, publish: Publishing, values: int) -> "list[Stage]":
    """Read a release or a model, whichever it is."""
    from entwined.audit.planned import staged_release
    from entwined.audit.staging import staged_model
    from entwined.dependence.files import read_model
    from entwined.request.request_file import read_request

    if is_release(place):
        return staged_release(read_request(place), target)
    if values < 2:  # noqa: PLR2004  (fewer are no secret)
        raise BadInput(f"Units of {values} values have no secrets. Give 2 at least.")
    return [staged_model(read_model(place), leakage, target=target, publish=publish.value, values=values)]


def is_release(place: Path) -> bool:
    """Say whether a file is a release.toml: TOML without the kind that every model has."""
    from entwined.dependence.syntax import LONG_KEY

    if place.suffix.lower() != ".toml" or not place.is_file():
        return False
    with place.open("rb") as file:
        text = file.read(LARGEST_FILE + 1)
    try:
        words = text.decode()
        return len(text) > LARGEST_FILE or bool(LONG_KEY.search(words)) or "kind" not in tomllib.loads(words)
    except (ValueError, RecursionError):
        return True


def show(found: "Attacked") -> None:
    """Print one model's attacks for people: the two figures in tables of their own."""
    document = found.document
    say()
    say(
        f"{document['model']}: {document['target_name']} of {document['units']} units. Promised: ε = "
        f"{about(document['promised'])}."
    )
    say()
    show_before(document)
    say()
    show_added(document)
    say(verdict(document))
    for left in document["left_out"]:
        say(f"Not looked at: {left}.")


def show_before(document: Document) -> None:
    """Print what was known before anything was published."""
    rows = [
        [
            f"{one['known_share']:.0%}",
            thousandths(one["plain"]["known_before"]["nats"]),
            thousandths(one["plain"]["known_before"]["bits"]),
            thousandths(one["plain"]["known_before"]["log_odds"]),
            f"{one['plain']['guesses']['naive']['share']:.0%}",
        ]
        for one in document["attacks"]
    ]
    columns = ["#others known", "#nats", "#bits", "#largest log odds", "#guessed right"]
    table("Known before any release: from the model and the known values", columns, rows)


def show_added(document: Document) -> None:
    """Print what releases added."""
    certificates = {
        "plain": document["plain_leaks_at_most"],
        "certified": document["certified_leaks_at_most"],
    }
    rows = [
        [
            f"{one['known_share']:.0%}",
            name,
            thousandths(one[way]["added"]["nats"]),
            thousandths(one[way]["added"]["standard_error_nats"]),
            thousandths(one[way]["added"]["bits"]),
            thousandths(one[way]["added"]["largest_log_odds_at_any_answer"]),
            thousandths(certificates[way]) if way in certificates else "–",
            f"{one[way]['guesses']['attack']['share']:.0%}",
            f"{one[way]['guesses']['control']['share']:.0%}",
        ]
        for one in document["attacks"]
        for way, name in WAYS.items()
    ]
    columns = ["#others known", "adversary, noise", "#nats", "#±", "#bits", "#largest log odds", "#at most"]
    table("Added by the release", [*columns, "#guessed right", "#record left out"], rows)


def verdict(document: Document) -> str:
    """Say in a sentence what plain and certified noise kept."""
    broke = "more than it promises" if document["plain_breaks_its_promise"] else "no more than it promises"
    return (
        f"Plain noise adds up to {about(document['plain_added'])}, {broke} ({about(document['promised'])}); certified "
        f"noise up to {about(document['certified_added'])}, within {about(document['certified_leaks_at_most'])}."
    )


def thousandths(value: float | str) -> str:
    """Write a figure with three decimals; one without bound is said so."""
    return "unbounded" if isinstance(value, str) else f"{value:.3f}".replace("-0.000", "0.000")
