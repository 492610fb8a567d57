"""The command line: parse, call, report. Heavy imports wait until a command runs.

app ─> one file a command (`keeping` is a part of budget, `learn_with_budget` of learn) ─> arguments, show
"""

from entwined.cli.app import main

__all__ = ["main"]
