"""Release statistics from rows and columns that depend on each other, and prove what they leak.

1. `tables`      where the rows live
2. `schema`      what is public
3. `dependence`  what depends on what
4. `queries`     what is asked
5. `bounds`      what an answer can leak
6. `noise`       what is added
7. `promise`     what is promised
8. `ledger`      what has been spent
9. `door`        the one way out
10. `estimate`   from noise to numbers

`mechanisms` are all that the door admits, `forecast` says what to expect of one, `request` is how people ask, `report`
what they see; `learning` and `survey` are built of these rooms.

`open` gives a door to a table; the other names here are the ones most used, and everything else is in its room.

>>> import entwined as ew
>>> homes = ew.Groups(largest=3)
>>> round(ew.calibrate(homes, leakage=1.0).multiple, 4)     # the loss of a row that leaks 1
0.3333
>>> proved = ew.bound(homes, ew.Loss.uniform(0.1, units=3))
>>> round(proved.leakage.worst, 3), ew.verify(ew.certify(proved).document).valid
(0.3, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from entwined.showing import draw_with
from entwined.version import __version__

if TYPE_CHECKING:
    from entwined.bounds import bound, calibrate, certify
    from entwined.dependence import BayesNet, Graph, Groups, MarkovChain, read_model
    from entwined.errors import EntwinedError
    from entwined.estimate.population import population
    from entwined.estimate.trends import trend
    from entwined.loss import Loss
    from entwined.promise.declared import Declared
    from entwined.queries import (
        Count,
        GroupBy,
        Histogram,
        Marginal,
        Mean,
        Median,
        Sampling,
        Share,
        Total,
        col,
    )
    from entwined.request.desk import open_desk as open  # noqa: A004  (its name in the package alone)
    from entwined.request.verbs import release
    from entwined.request.verification import verify
    from entwined.schema import Schema, read_schema
    from entwined.tables import describe, open_table
    from entwined.web.client import connect

_HOMES = {
    "entwined.request.desk": ("open_desk",),
    "entwined.web.client": ("connect",),
    "entwined.request.verbs": ("release",),
    "entwined.request.verification": ("verify",),
    "entwined.tables": ("open_table", "describe"),
    "entwined.schema": ("Schema", "read_schema"),
    "entwined.dependence": ("Groups", "MarkovChain", "BayesNet", "Graph", "read_model"),
    "entwined.promise.declared": ("Declared",),
    "entwined.queries": (
        *("col", "Count", "Histogram", "Marginal", "GroupBy", "Total", "Mean", "Median", "Share", "Sampling"),
    ),
    "entwined.estimate.population": ("population",),
    "entwined.estimate.trends": ("trend",),
    "entwined.bounds": ("bound", "calibrate", "certify"),
    "entwined.loss": ("Loss",),
    "entwined.errors": ("EntwinedError",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_CALLED = {"open": "open_desk"}  # a name that is Python's own anywhere else

__all__ = [  # noqa: RUF022  (in the order of the path; looked up when first used, so that the command starts fast)
    "__version__",
    "open",
    "connect",
    "release",
    "verify",
    "open_table",
    "describe",
    "Schema",
    "read_schema",
    "Groups",
    "MarkovChain",
    "BayesNet",
    "Graph",
    "read_model",
    "Declared",
    "col",
    "Count",
    "Histogram",
    "Marginal",
    "GroupBy",
    "Total",
    "Mean",
    "Median",
    "Share",
    "Sampling",
    "population",
    "trend",
    "bound",
    "calibrate",
    "certify",
    "Loss",
    "EntwinedError",
]

draw_with(lambda: import_module("entwined.report.shown"))


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"entwined has no {name!r}. Its names are: {', '.join(__all__)}.")
    called = _CALLED.get(name, name)
    return getattr(import_module(_HOME[called]), called)


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
