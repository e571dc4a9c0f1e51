"""From states to a fitted model."""
