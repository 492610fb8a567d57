"""Step 10: from noise to numbers. Everything here is post-processing of what was drawn."""
