"""What people see, after the last step: text, tables, and pages that need no network.

    release ─> findings: each answer with its name and cells ─┬─> shown: what is seen of any value, by its `glance`
                                                              ├─> long_table: a line a number ─> values: CSV, Parquet
                                                              │                              └─> formats: Excel, R
    certificate ─> claims: what it promises, in words ────────┴─> release_page ─> folder: all of it, or nothing
    plan ─> plan_page        attack ─> attack_page        plan of a stream ─> stream_page

`model_drawing` and `relations_drawing` put what hangs together on a `wheel`; `synthetic_folder` writes made-up tables.
`page` fills templates; `scales`, `charts` and `drawings` draw; many statistics are sorted into `sections` and shown as
`multiples`, in a plan as a `plan_sheet`; `fits` reads what is of use, `ways` compares ways to protect, `stronger` shows
the sensitivity curve, `cells` and `words` write numbers and texts.
"""

from entwined.report.attack_page import attack_page
from entwined.report.folder import require_free, write_computed, write_release
from entwined.report.formats import wanted_formats
from entwined.report.plan_page import plan_page
from entwined.report.release_page import report_page
from entwined.report.stream_page import stream_page

__all__ = [
    "attack_page",
    "plan_page",
    "report_page",
    "require_free",
    "stream_page",
    "wanted_formats",
    "write_computed",
    "write_release",
]
