"""`entwined key`: a key of the holder's own, to sign approvals and certificates with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import as_json, say

if TYPE_CHECKING:
    from entwined.signing import Key

app = typer.Typer(
    name="key", help="Make a key to sign approvals and certificates with.", no_args_is_help=True
)
KeyPath = Annotated[Path, typer.Argument(metavar="KEYFILE", help="The file of the key.", readable=False)]


@app.command("new")
def new(path: KeyPath, as_document: JsonOption = False) -> None:  # noqa: FBT002
    """Make a key in a new file that only you may read, and show its public half."""
    from entwined.signing import Key

    show(Key.new(path), as_document=as_document)
    if not as_document:
        say(f"Whoever has {path} can sign in your name: keep it to yourself, and keep a copy of it safe.")


@app.command("show")
def show_key(path: KeyPath, as_document: JsonOption = False) -> None:  # noqa: FBT002
    """Show the public half of a key, for others to check signatures by."""
    from entwined.signing import Key

    show(Key.read(path), as_document=as_document)


def show(key: "Key", *, as_document: bool) -> None:
    """Print the public half of a key and its fingerprint."""
    public = key.public
    if as_document:
        as_json({"public": public.text, "fingerprint": public.fingerprint})
        return
    say(f"Public key:  {public.text}")
    say(f"Fingerprint: {public.fingerprint}")
