"""Pages made of templates: every value is escaped, and the page itself forbids the network and scripts.

A page of many statistics has one script, which finds questions; the page's policy names its digest, so that it is
the only one that runs.
"""

import base64
import hashlib
import re
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from entwined.report.drawings import Drawing
from entwined.report.words import figure, number, plural, readable
from entwined.version import __version__

BRACED: Final = re.compile(r"_\{([^{}<>]*)\}")
INDEX: Final = re.compile(r"_(\w)(?!\w)")
SEARCH: Final = "search.js"
LONG_WORD: Final = re.compile(r"(\S{18})(?=\S{6})")


@cache
def environment() -> Environment:
    """Make the templates ready, once."""
    made = Environment(
        loader=PackageLoader("entwined.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "readable": readable,
        "figure": figure,
        "number": number,
        "plural": plural,
        "drawn": drawn,
        "breakable": breakable,
        "formula": formula,
    }
    script, _, _ = PackageLoader("entwined.report").get_source(made, SEARCH)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made.globals |= {
        "version": __version__,
        "search": Markup(script),  # noqa: S704  (a file of ours, no value in it)
        "search_policy": f"'sha256-{digest}'",
    }
    return made


def rendered(template: str, **content: Any) -> str:
    """Fill a template."""
    return environment().get_template(template).render(**content)


def breakable(text: str) -> Markup:
    """Let a browser break words that are too long for a column of a table.

    >>> breakable("<b>" + 30 * "a")
    Markup('&lt;b&gt;aaaaaaaaaaaaaaa<wbr>aaaaaaaaaaaaaaa')
    """
    return Markup("<wbr>").join(part for part in LONG_WORD.split(text) if part)


def formula(text: str) -> Markup:
    """Set the indices of a theorem's words low.

    >>> formula("ε_j < Σ_{k∈S_c} F_{k→i} of most_rows")
    Markup('ε<sub>j</sub> &lt; Σ<sub>k∈S<sub>c</sub></sub> F<sub>k→i</sub> of most_rows')
    """
    braces = BRACED.sub(r"<sub>\1</sub>", str(escape(text)))
    return Markup(INDEX.sub(r"<sub>\1</sub>", braces))  # noqa: S704  (escaped in the line above)


def drawn(drawing: Drawing) -> Markup:
    """Put a chart into the page as it is: its texts are escaped."""
    return Markup(drawing.svg)  # noqa: S704  (made by our own charts, which escape their texts; tested with hostile names)
