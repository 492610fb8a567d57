"""The command line: parse, call, report. Heavy imports wait until a command runs."""

from entwined.cli.app import main

__all__ = ["main"]
