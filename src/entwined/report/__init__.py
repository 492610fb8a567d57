"""What people see of a plan and of a release: words, tables and pages."""

from entwined.report.charts import no_charts, require_charts
from entwined.report.folder import require_free, write_release
from entwined.report.notebook import to_html
from entwined.report.plan_page import plan_page
from entwined.report.release_page import report_page

__all__ = [
    "no_charts",
    "plan_page",
    "report_page",
    "require_charts",
    "require_free",
    "to_html",
    "write_release",
]
