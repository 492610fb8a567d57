"""`entwined learn`: what depends on what between columns, or along the steps of series."""

import typer

from entwined.cli import learn, learn_chain, learn_covariance
from entwined.cli.first_unnamed import FirstUnnamed


class ColumnsLearned(FirstUnnamed):
    """`entwined learn TABLE` learns what depends on what between columns."""

    first = "columns"


app = typer.Typer(
    name="learn",
    cls=ColumnsLearned,
    help="Learn what depends on what: between columns, a chain over steps, a covariance.",
)
app.command("columns")(learn.command)
app.command("chain")(learn_chain.command)
app.command("covariance")(learn_covariance.command)
