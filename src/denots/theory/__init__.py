"""What can be proved of a model with negative feedback, and what the theorems of the paper say once they are corrected."""
