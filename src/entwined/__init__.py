"""Release statistics from rows and columns that depend on each other, and prove what they leak.

1. `tables`      where the rows live
2. `schema`      what is public
3. `dependence`  what depends on what
4. `queries`     what is asked
5. `bounds`      what an answer can leak
6. `noise`       what is added
7. `ledger`      what has been spent
8. `release`     the one door out
9. `report`      what people see

>>> import entwined
>>> chain = entwined.MarkovChain(100, entwined.Box.exact([[0.9, 0.1], [0.1, 0.9]]))
>>> found = entwined.bound(chain, entwined.Loss.uniform(0.1, units=100))
>>> round(found.leakage.worst, 3)
0.893
>>> round(1 / entwined.calibrate(chain, leakage=1.0).multiple, 2)
8.91
>>> entwined.verify(entwined.certify(found)).valid
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from entwined.version import __version__

if TYPE_CHECKING:
    from entwined.bounds import Bound, Calibration, Verdict, allocate, bound, calibrate, certify, verify
    from entwined.dependence import (
        BayesNet,
        Box,
        Correlations,
        Edge,
        Gaussian,
        Graph,
        Groups,
        Independent,
        MarkovChain,
        MaxCorrelation,
        RandomField,
        Variable,
        read_model,
        write_model,
    )
    from entwined.errors import EntwinedError
    from entwined.loss import Leakage, Loss

_HOMES = {
    "entwined.bounds": (
        "Bound",
        "Calibration",
        "Verdict",
        "allocate",
        "bound",
        "calibrate",
        "certify",
        "verify",
    ),
    "entwined.dependence": (
        "BayesNet",
        "Box",
        "Correlations",
        "Edge",
        "Gaussian",
        "Graph",
        "Groups",
        "Independent",
        "MarkovChain",
        "MaxCorrelation",
        "RandomField",
        "Variable",
        "read_model",
        "write_model",
    ),
    "entwined.errors": ("EntwinedError",),
    "entwined.loss": ("Leakage", "Loss"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  (looked up when first used, so that the command starts fast)
    "__version__",
    "BayesNet",
    "Bound",
    "Box",
    "Calibration",
    "Correlations",
    "Edge",
    "EntwinedError",
    "Gaussian",
    "Graph",
    "Groups",
    "Independent",
    "Leakage",
    "Loss",
    "MarkovChain",
    "MaxCorrelation",
    "RandomField",
    "Variable",
    "Verdict",
    "allocate",
    "bound",
    "calibrate",
    "certify",
    "read_model",
    "verify",
    "write_model",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"entwined has no {name!r}. Its names are: {', '.join(__all__)}.")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
