"""Step 5: what an answer can leak."""
