"""`entwined plan`: what a release would cost and give, in every way to protect it; no row is read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption, RequestFile
from entwined.cli.bound import WhoOption, show_drivers
from entwined.cli.left_out import show_counted, show_left_out
from entwined.cli.show import about, as_json, number, progress, say, show_hints, table
from entwined.cli.talks_about import TalksOption, show_talks, talks
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.request.outlook import Outlook
    from entwined.request.request import Request
    from entwined.request.tasks_outlook import TasksOutlook


def command(
    request_file: RequestFile,
    as_document: JsonOption = False,  # noqa: FBT002
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the plan as a page to this file.")
    ] = None,
    who: WhoOption = 0,
    public: TalksOption = None,
) -> None:
    """Compare the ways to protect a release before anything is spent: noise, errors, leakage, budget."""
    from entwined.request.request_file import read_request

    with progress():
        request = read_request(request_file)
        looked = looked_ahead(request)
        document = looked.document
        talked = None if public is None else talks(request, public)
        if talked is not None:
            document["talks_about"] = [one.document for one in talked]
        if html is not None:
            from entwined.report import plan_page

            write_whole(html, plan_page(document))
    if as_document:
        as_json(document)
        return
    show(document)
    show_left_out(request_file, request)
    if talked is not None:
        show_talks(talked)
    for name, found in looked.bounds.items() if who else ():
        say()
        say(f"{name}:")
        show_drivers(found, who)
    if html is not None:
        say()
        say(f"The page is in {html}.")


def looked_ahead(request: "Request") -> "Outlook | TasksOutlook":
    """Look ahead: at the questions, with the mechanisms beside them, or at mechanisms alone."""
    from entwined.request.outlook import outlook
    from entwined.request.tasks_outlook import tasks_outlook

    return outlook(request) if request.questions else tasks_outlook(request)


def show(document: Document) -> None:
    """Print the plan for people."""
    learned = [model["name"] for model in document["models"] if model["source"] == "exploratory"]
    if learned:
        say(f"FOR PLANNING ONLY: {', '.join(learned)} was learned from the private table without a budget.")
    for sentence in (*document.get("first_lines", ()), *document["failed_checks"]):
        say(sentence)
    say(document["title"] or "A release")
    if "ways" not in document:
        show_mechanisms(document["mechanisms"])
        show_counted(document.get("counted_rows", ()))
        unprotected = any("individuals" in one["asked"] for one in document["mechanisms"])
        say(closing_line(document["budget"]) if unprotected else budget_line(document["budget"]))
        return
    say(asked(document))
    show_warning(document["quality"])
    say()
    show_ways(document)
    show_rivals(document)
    say()
    show_statistics(document)
    show_counted(document.get("counted_rows", ()))
    say()
    show_checks(document)
    show_remarks(document)
    show_stronger(document)
    show_further(document)
    show_mechanisms(document.get("mechanisms", ()))
    say(f"Proposed: {_proposed(document)['title']}. {document['because']}")
    say(budget_line(document["budget"]))


def closing_line(budget: Document) -> str:
    """Say that nothing else leaves a table whose individuals are not protected, or why this does not."""
    if budget["refused"]:
        return f"The ledger would refuse this release. {budget['refused']}"
    return f"No row is priced. After this release {budget['ledger']} is closed, and nothing else leaves the table."


def show_mechanisms(planned: Sequence[Document]) -> None:
    """Print what each mechanism will cost and give."""
    for one in planned:
        say()
        leaks = f" By itself it leaks at most {number(worst(one['price']))}."
        say(f"{one['name']}: {one['says']}.{'' if 'individuals' in one['asked'] else leaks}")
        show_sheet("What to expect", one["expected"])


def show_sheet(title: str, sheet: Document) -> None:
    """Print the table of a mechanism, and the sentences about it."""
    rows = [[told(row[name]) for name in sheet["columns"]] for row in sheet["rows"]]
    table(title, [f"#{name}" for name in sheet["columns"]], rows)
    for note in sheet["notes"]:
        say(note)


def told(cell: object) -> str:
    """Write a cell of a sheet."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return about(cell) if isinstance(cell, int | float) else "–" if cell is None else str(cell)


def asked(document: Document) -> str:
    """Say what was asked for, in a line."""
    names = ", ".join(model["name"] for model in document["models"])
    under = (
        f"under {names}, whatever else is known" if document["knowledge"] == "any" else f"under {names} alone"
    )
    but = f", but for a chance of {number(document['delta'])}." if document["delta"] else "."
    match document["asked"]:
        case {"leakage": amount}:
            return f"Asked: a leakage of at most {number(amount)}" + (f" {under}" if names else "") + but
        case {"loss": amount}:
            return f"Asked: a nominal loss of ε = {number(amount)}{but}"
    return "Asked: answers within the half-widths given."


def show_warning(quality: Document) -> None:
    """Say first of all that numbers could not be published, and what would help; nothing where all could."""
    if not quality["warning"]:
        return
    say()
    say(f"WARNING: {quality['warning']}")
    if quality["best"]:
        say(f"Best: {quality['best']}")
    for one in quality["helps"][1:]:
        say(
            f"Or: {one['do']}: ± {about(one['reach'])}{'' if one['enough'] else ', which is not enough alone'}."
        )


def show_ways(document: Document) -> None:
    """Print one line a way that applies."""
    applying = [way for way in document["ways"] if way["applies"]]
    names = [model["name"] for model in document["models"]]
    first = document["statistics"][0]["name"]
    rows = [
        [
            f"{way['title']} (proposed)" if way["way"] == document["proposed"] else way["title"],
            about(way["loss"]),
            *(about(way["leakage"].get(name)) for name in names),
            "yes" if way["keeps_promise"] else "NO",
            about(reach(way["statistics"][0])),
        ]
        for way in applying
    ]
    leaks = [f"#leaks: {name}" for name in names]
    table("Ways to protect", ["way", "#ε of a unit", *leaks, "keeps the promise", f"#± of {first}"], rows)
    unfit = [way for way in document["ways"] if not way["applies"]]
    for way in unfit:
        if way["made_for"]:
            say(f"Not here: {way['title']}. {way['why']}")
    others = sum(not way["made_for"] for way in unfit)
    if others:
        say(f"{others} other theorems do not apply here; --json says why for each.")


def show_rivals(document: Document) -> None:
    """Print how much noise the same questions would have otherwise."""
    rows = [
        [one["title"], f"× {about(one['times'])}" if one["times"] else "–", one["why_not"] or one["how"]]
        for one in document["rivals"]
    ]
    if rows:
        table("The same promise otherwise", ["instead", "#noise", "how"], rows)


STATISTICS: Final = (
    *("statistic", "#cells", "#noise scale", "#expected error", "#95 % ±", "#row noise ±", "#wanted ±"),
    *("#publish from", "#with care from", "quality", "figures"),
)
"""The columns of what to expect of each statistic."""


def show_statistics(document: Document) -> None:
    """Print what to expect of each statistic on the proposed way."""
    rows = []
    for asked_, found in zip(document["statistics"], _proposed(document)["statistics"], strict=True):
        within = reach(found)
        unit = " ranks" if "ranks_within" in found else ""
        rows.append(
            [
                asked_["name"],
                about(asked_["cells"]),
                about(found["scale"]),
                about(found["mean_error"]),
                about(within) + unit,
                about(asked_["row_level_gaussian"]),
                wish(asked_["wanted"], within),
                about(asked_["publish_from"]),
                about(asked_["with_care_from"]),
                asked_["quality"],
                figures(found),
            ]
        )
    used = [at for at in range(len(STATISTICS)) if any(row[at] not in ("", "–") for row in rows)]
    shown_rows = [[row[at] for at in used] for row in rows]
    table("What to expect, of a cell", [STATISTICS[at] for at in used], shown_rows)
    say(
        f"{document['quality']['summary']} A number can be published if its standard error is at most 16.5 % of the "
        "least that it can be by its interval, with care up to 33.3 %."
    )
    if any(asked_["row_level_gaussian"] is not None for asked_ in document["statistics"]):
        say("Row noise: plain Gaussian noise for whole rows.")
    for text in dict.fromkeys(_assumptions(document)):
        say(text)


def _assumptions(document: Document) -> Iterator[str]:
    """Give what the expected errors and classes rest on."""
    yield from (found["assumes"] for found in _proposed(document)["statistics"] if found["assumes"])
    yield from (asked_["reason"] for asked_ in document["statistics"] if asked_["reason"])


def show_checks(document: Document) -> None:
    """Print what the check of each model on public data showed."""
    from entwined.report.model_checks import checks_in

    for one in checks_in(document):
        say(f"Does {one.name} hold? {' '.join(one.words)}")
        say()


def show_remarks(document: Document) -> None:
    """Print what a model rests on beside itself, and how its leakage is spread over the units."""
    for model in document["models"]:
        for sentence in model["remarks"]:
            say(f"{model['name']}: {sentence}")
            say()


def show_stronger(document: Document) -> None:
    """Print a line a model: what the proposed noise leaks if the dependence is stronger than declared."""
    from entwined.report.stronger import stronger_in

    told = stronger_in(document)
    if told:
        say("If the dependence is stronger than declared:")
        for one in told:
            say(f"  {one.sentence}")
        say()


def show_further(document: Document) -> None:
    """Print what further knowledge would lower what the proposed noise leaks."""
    said = [
        f"{model['name']}: {hint['says']}" for model in document["models"] for hint in model.get("hints", ())
    ]
    if said:
        show_hints(said)
        say()


def figures(found: Document) -> str:
    """Say how sure the figures are."""
    if reach(found) is None:
        return "unknown"
    return "exact" if found["exact"] else "approximate"


def reach(found: Document) -> float | None:
    """Give the half-width of an answer, or the ranks of a choice."""
    within: float | None = found.get("ranks_within", found["half_width"])
    return within


def wish(wanted: float | None, found: float | None) -> str:
    """Say what was wanted and whether it is met."""
    if wanted is None:
        return ""
    return about(wanted) + (" ok" if found is not None and found <= wanted else " not met")


def _proposed(document: Document) -> Document:
    found: Document = next(way for way in document["ways"] if way["way"] == document["proposed"])
    return found


def budget_line(budget: Document) -> str:
    """Say what the ledger will say."""
    if budget["again"]:
        return (
            f"Budget ({budget['ledger']}): the same questions with the same noise were answered before. From the "
            "same table the stored answer is given again, and costs nothing more."
        )
    if budget["refused"]:
        return f"The ledger {budget['ledger']} would refuse: {budget['refused']}"
    before, after = worst(budget["spent"]), worst(budget["after"])
    return (
        f"Budget ({budget['ledger']}): {number(before)} of {number(budget['cap'])} is spent; after this "
        f"release {number(after)}, and {number(budget['left'])} is left.{periods_left(budget)}{counted_whole(budget)}"
        f"{unguarded(budget)}{''.join(f' {line}' for line in budget.get('unanswered', ()))}"
    )


def unguarded(budget: Document) -> str:
    """Warn where the rollback guard of the table cannot be kept beside its rows, and of a δ that is too large."""
    warnings = (budget.get(key) for key in ("unguarded", "delta_warning"))
    return "".join(f" WARNING: {warning}" for warning in warnings if warning)


def counted_whole(budget: Document) -> str:
    """Say what the losses of a whole series of a panel come to, beside what leaks of a step under its chain."""
    if "series_in_all" not in budget:
        return ""
    under = number(worst(budget["after"]))
    whole = number(budget["series_in_all"])
    return f" Of any one step that is under the chain {under}; counted for a whole series without the chain {whole}."


def periods_left(budget: Document) -> str:
    """Say what the calendar leaves."""
    return "".join(f" In {one['name']} {number(one['left'])} is left." for one in budget["calendar"])


def worst(price: Document) -> float:
    """Give the number that the cap is on."""
    return float(max(price["leakage"].values(), default=price["nominal"]))
