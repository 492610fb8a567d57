"""The released numbers for R: a script beside values.csv that reads it with the right types, in base R alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from entwined.report.findings import Finding
from entwined.report.long_table import LongTable

TYPES: Final = {
    "string": "character",
    "float64": "numeric",
    "int64": "integer",
    "bool": "logical",
    "timestamp": "character",
}
SAID: Final = {
    "value": "unbiased estimate; counts may be negative",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
    "adjusted": "whole numbers that are not negative and add up; biased where many counts are near zero",
    "adjusted_low": "lower end of the 95 % interval beside adjusted",
    "adjusted_high": "upper end of the 95 % interval beside adjusted",
    "warning": "which declaration the numbers contradict",
    "caveat": "for which counts the adjusted number has a larger error than the draw",
    "population_low": "lower end of the interval for the population, by noise and sampling",
    "population_high": "upper end of the interval for the population, by noise and sampling",
    "share": "share of the rows that share_of names",
    "quality": "class of its relative standard error: publish, with care, not, unknown",
    "relative_error": "relative standard error at the end of its interval nearest to zero",
    "ranks_within": "rank within so many rows of the one asked for",
}
SCRIPT: Final = """\
# Released numbers, a line a number. Run it in the folder of values.csv: source("values.R")
values <- read.csv("values.csv", fileEncoding = "UTF-8", na.strings = "", colClasses = c({types}))
for (name in grep("^answer_label", names(values), value = TRUE))  # answers stay in their order
  values[[name]] <- factor(values[[name]], levels = unique(values[[name]]))
for (name in grep("_time$", names(values), value = TRUE))
  values[[name]] <- as.POSIXct(values[[name]], format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC")
{labels}
"""


def write_r_script(findings: Sequence[Finding], path: Path) -> None:
    """Write a script that knows the type of every column: codes stay texts, answers keep their order."""
    kinds = LongTable(findings).kinds
    types = ", ".join(f'{name} = "{TYPES[kind]}"' for name, kind in kinds.items())
    labels = [f'attr(values${name}, "label") <- "{said}"' for name, said in SAID.items() if name in kinds]
    path.write_text(SCRIPT.format(types=types, labels="\n".join(labels)), encoding="utf-8", newline="\n")
