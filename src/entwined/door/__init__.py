"""Step 9: the one way out."""
