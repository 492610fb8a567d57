"""Step 9: what people see."""
