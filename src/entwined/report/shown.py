"""Who draws values: text for a terminal, HTML and charts for a notebook, frames for other programs."""

from entwined.report import glances_of_bounds, glances_of_data, glances_of_releases
from entwined.report.glance import to_arrow, to_frame, to_html, to_picture, to_text
from entwined.report.glances_of_releases import to_cells

__all__ = [
    "glances_of_bounds",
    "glances_of_data",
    "glances_of_releases",
    "to_arrow",
    "to_cells",
    "to_frame",
    "to_html",
    "to_picture",
    "to_text",
]
