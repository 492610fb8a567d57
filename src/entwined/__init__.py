"""Release statistics from entwined data."""
