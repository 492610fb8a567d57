"""`entwined budget reserve`: how much may be reserved for each column, for several batches under a δ."""

from typing import Annotated

import typer

from entwined.cli.arguments import JsonOption, RequestFile
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput

AsAsked = Annotated[
    bool, typer.Option("--as-asked", help="In proportion to what the request takes of each column.")
]


def reserve(
    request_file: RequestFile,
    leakage: Annotated[
        str | None, typer.Option("--leakage", help="What all of it may leak together; by default the cap.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="A column to ask about, or a condition on one; by default all.",
        ),
    ] = None,
    like_request: AsAsked = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Work out what may be reserved for each column, to be written into the request before the first release."""
    from entwined.request.request_file import read_request, read_terms
    from entwined.request.reserving import as_asked, reserving

    with progress():
        request = read_request(request_file) if like_request else read_terms(request_file)
        most = leakage if leakage is not None else request.cap
        if most is None:
            raise BadInput("Neither a leakage is given nor a cap in the request. Give --leakage.")
        if like_request and column:
            raise BadInput("--as-asked takes the columns of the request. Leave --column out.")
        found = reserving(request.promise, most, as_asked(request) if like_request else column or ())
    if as_document:
        as_json(found.document)
        return
    say(
        f"All of it leaks at most {number(float(found.price.worst))}. Write it into {request_file} before the first"
    )
    say("release, at its end or before the first [[…]]; it cannot be enlarged later:")
    say()
    for line in found.toml.splitlines():
        say(line)
