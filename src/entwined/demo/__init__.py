"""A real survey to play with: the American National Election Study of 1996, as statsmodels brings it."""

from entwined.demo.survey import write_demo

__all__ = ["write_demo"]
