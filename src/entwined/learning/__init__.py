"""Dependence learned from a public table, or with a budget."""
