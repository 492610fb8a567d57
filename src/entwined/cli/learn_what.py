"""`entwined learn`: what depends on what between columns, along the steps of series, or between people."""

import typer

from entwined.cli import learn, learn_chain, learn_covariance, learn_ties
from entwined.cli.first_unnamed import FirstUnnamed


class ColumnsLearned(FirstUnnamed):
    """`entwined learn TABLE` learns what depends on what between columns."""

    first = "columns"


app = typer.Typer(
    name="learn",
    cls=ColumnsLearned,
    help="Learn a dependence model: between columns, a chain over steps, a covariance, or ties between people.",
)
app.command("columns")(learn.command)
app.command("chain")(learn_chain.command)
app.command("covariance")(learn_covariance.command)
app.command("ties")(learn_ties.command)
