"""Speed and utility, measured with one command: `make bench` (or `python -m bench NAME` for one part)."""
