"""Papers' figures are drawn by Altair, which is an extra."""

import importlib.util

from entwined.errors import BadInput


def require_charts() -> None:
    """Refuse, before hours of work, what could not be drawn."""
    lacking = [name for name in ("altair", "vl_convert") if importlib.util.find_spec(name) is None]
    if lacking:
        raise BadInput(
            f"The figures need charts, and {' and '.join(lacking)} cannot be found. "
            "Install what is lacking with: pip install 'entwined[papers]'."
        )
